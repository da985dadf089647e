package affinity

// Rule names the filter rule that refuses a node. Rules are tried in this order; the first that refuses is the verdict.
type Rule uint8

// The rules, in the order of kube-scheduler's default filter plugins (pkg/scheduler/apis/config/v1/default_plugins.go).
// GPU, which has no counterpart there, follows resource fit.
const (
	// Feasible is the verdict that no rule refuses.
	Feasible Rule = iota
	NodeUnschedulable
	NodeName
	TaintToleration
	NodeAffinity
	NodePorts
	NodeResourcesFit
	GPU
	PodTopologySpread
	InterPodAffinity
	// Rules is the number of rules, Feasible included.
	Rules
)

var ruleNames = [Rules]string{"", "NodeUnschedulable", "NodeName", "TaintToleration", "NodeAffinity", "NodePorts",
	"NodeResourcesFit", "GPU", "PodTopologySpread", "InterPodAffinity"}

// String returns the name of the rule, for kube-scheduler's rules that of its plugin; "" for Feasible.
func (r Rule) String() string {
	if r < Rules {
		return ruleNames[r]
	}
	return "Rule(?)"
}

// Verdict is the answer for one node: the first rule that refuses it, and whether evicting pods could change that.
type Verdict struct {
	Rule Rule
	// Resolvable is true if removing pods from the node might make it feasible (kube-scheduler's Unschedulable as
	// opposed to UnschedulableAndUnresolvable). It is false for Feasible.
	Resolvable bool
}

// Scorer is one of the built-in scores.
type Scorer uint8

// The built-in scores of kube-scheduler's default profile.
const (
	ScoreTaintToleration Scorer = iota
	ScoreNodeAffinity
	ScorePodTopologySpread
	ScoreInterPodAffinity
	ScoreNodeResourcesFit
	ScoreNodeResourcesBalancedAllocation
	ScoreImageLocality
	// Scorers is the number of scores.
	Scorers
)

var scorerNames = [Scorers]string{"TaintToleration", "NodeAffinity", "PodTopologySpread", "InterPodAffinity",
	"NodeResourcesFit", "NodeResourcesBalancedAllocation", "ImageLocality"}

// String returns the name of kube-scheduler's plugin.
func (s Scorer) String() string {
	if s < Scorers {
		return scorerNames[s]
	}
	return "Scorer(?)"
}
