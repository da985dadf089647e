package explain

import (
	"cmp"
	"slices"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/affinity"
	"github.com/berth-go/berth/topology"
)

// Refusal is why a node does not take the pod.
type Refusal struct {
	Node string `json:"node"`
	// Rule is the first rule that refuses, or the filter or signal of the pipeline's own (Own).
	Rule string `json:"rule"`
	Own  bool   `json:"own,omitempty"`
	// Resolvable refusals might be undone by removing pods.
	Resolvable bool `json:"resolvable,omitempty"`
	// Reasons are those of Rule in the words of kube-scheduler.
	Reasons []string `json:"reasons"`
	// Obstacles are all that stands in the way, that of Rule and that of rules which would refuse after it. There are none
	// for a plugin.
	Obstacles []Obstacle `json:"obstacles,omitempty"`
	// Suggestion is what would make the node feasible for the built-in rules; nil if nothing was found, for a plugin, and
	// with Options.NoSuggestions.
	Suggestion *Suggestion `json:"suggestion,omitempty"`
}

// Obstacle is one thing that stands in the way: one taint, one missing resource, one port, one term. Which fields are set
// depends on the rule.
type Obstacle struct {
	Rule string `json:"rule"`
	// Side is "affinity" for the pod's required affinity, "antiAffinity" for its anti-affinity, "existingAntiAffinity" for that of
	// placed pods.
	Side string `json:"side,omitempty"`
	// Taint is not tolerated.
	Taint *berth.Taint `json:"taint,omitempty"`
	// Unmet is what the node's labels, or its name (ByField), do not meet; without a key no node could meet it.
	Unmet   *berth.Requirement `json:"unmet,omitempty"`
	ByField bool               `json:"byField,omitempty"`
	// Port is taken.
	Port *berth.HostPort `json:"port,omitempty"`
	// Shortfall is the resource that is missing.
	Shortfall *Shortfall `json:"shortfall,omitempty"`
	// GPU is what is wrong with the node's GPUs.
	GPU *GPU `json:"gpu,omitempty"`
	// Key is the topology key, Value the node's value for it, unless the key is Missing. For NodeName, Value is the name
	// that the pod asks for.
	Key     string `json:"key,omitempty"`
	Value   string `json:"value,omitempty"`
	Missing bool   `json:"missing,omitempty"`
	// Selects is what the term or constraint selects, as kubectl writes selectors.
	Selects string `json:"selects,omitempty"`
	// Skew is what a spread constraint counts.
	Skew *Skew `json:"skew,omitempty"`
	// Pods are pods in the way, at most Options.Pods of the PodCount that there are. Where there are very many they are any
	// of them (see affinity.Blocker).
	Pods     []Pod `json:"pods,omitempty"`
	PodCount int   `json:"podCount,omitempty"`
}

// Pod is a pod in the way.
type Pod struct {
	berth.PodKey
	Node string `json:"node"`
	// Nominated pods are not placed but have been promised room on the node.
	Nominated bool `json:"nominated,omitempty"`
}

// Shortfall is a resource that a node has too little of: Missing = Requested - (Allocatable - Used). CPU is in thousandths
// of a core, memory and storage in bytes.
type Shortfall struct {
	Resource    string `json:"resource"`
	Requested   int64  `json:"requested"`
	Used        int64  `json:"used"`
	Allocatable int64  `json:"allocatable"`
	Missing     int64  `json:"missing"`
}

// GPU says what shareable GPUs a node has for a request of Count of Milli each.
type GPU struct {
	Count int   `json:"count"`
	Milli int64 `json:"milli"`
	// Devices is the number of GPUs of the node, Room how many of them have enough free.
	Devices int    `json:"devices"`
	Room    int    `json:"room"`
	Model   string `json:"model,omitempty"`
	// WrongModel: the pod does not accept the model.
	WrongModel bool `json:"wrongModel,omitempty"`
}

// Skew is why a spread constraint refuses: Count + Self - Min > MaxSkew.
type Skew struct {
	// Count is the number of matching pods in the node's domain, Self 1 if the pod matches too, Min the smallest count of
	// a domain.
	Count   int32 `json:"count"`
	Self    int32 `json:"self"`
	Min     int32 `json:"min"`
	MaxSkew int32 `json:"maxSkew"`
	// Below are the domains that would have to have more, each Lacks of them.
	Below []Below `json:"below,omitempty"`
}

// Below is a domain that lacks matching pods.
type Below struct {
	Value string `json:"value"`
	Count int32  `json:"count"`
	Lacks int32  `json:"lacks"`
}

// refusals looks more closely at refused nodes.
func (ev *evaluation) refusals(opts Options) ([]Refusal, error) {
	most := limit(opts.Refusals, ev.graph.Topology().Len())
	var out []Refusal
	for n := range ev.graph.Topology().Live().All() {
		if len(out) == most {
			break
		}
		if !ev.refuses(n) {
			continue
		}
		r, err := ev.refusal(n, opts)
		if err != nil {
			return nil, err
		}
		out = append(out, *r)
	}
	return out, nil
}

// refuses reports whether a rule or a filter refuses node n.
func (ev *evaluation) refuses(n topology.NodeID) bool {
	return ev.verdicts[n].Rule != affinity.Feasible || ev.filterOf(n) != ""
}

// filterOf returns the name of the filter, or signal, that refuses node n.
func (ev *evaluation) filterOf(n topology.NodeID) string {
	for i := range ev.Inspection.Refused {
		if r := &ev.Inspection.Refused[i]; r.Nodes.Has(n) {
			return r.Name
		}
	}
	return ""
}

func (ev *evaluation) refusal(n topology.NodeID, opts Options) (*Refusal, error) {
	r := &Refusal{Node: ev.name(n)}
	reasons, err := ev.reasonsFor(n)
	if err != nil {
		return nil, err
	}
	r.Reasons = reasons
	v := ev.verdicts[n]
	if v.Rule == affinity.Feasible {
		r.Rule, r.Own = ev.filterOf(n), true
		return r, nil
	}
	r.Rule, r.Resolvable = v.Rule.String(), v.Resolvable
	blockers, err := ev.profile.Blockers(ev.pod, r.Node)
	if err != nil {
		return nil, err
	}
	for i := range blockers {
		r.Obstacles = append(r.Obstacles, ev.obstacle(&blockers[i], limit(opts.Pods, 5)))
	}
	// Where the pod names nodes, they are looked at before any other rule: the first to refuse comes first.
	slices.SortStableFunc(r.Obstacles, func(a, b Obstacle) int {
		return cmp.Compare(order(a.Rule == r.Rule), order(b.Rule == r.Rule))
	})
	if !opts.NoSuggestions {
		r.Suggestion = suggest(ev.profile, ev.pod, r.Node, blockers)
	}
	return r, nil
}

func order(first bool) int {
	if first {
		return 0
	}
	return 1
}

func sideOf(s affinity.Side) string {
	switch s {
	case affinity.OwnAffinity:
		return "affinity"
	case affinity.OwnAntiAffinity:
		return "antiAffinity"
	case affinity.ExistingAntiAffinity:
		return "existingAntiAffinity"
	}
	return ""
}

func (ev *evaluation) obstacle(b *affinity.Blocker, pods int) Obstacle {
	o := Obstacle{Rule: b.Rule.String(), Side: sideOf(b.Side), Key: b.Key, Value: b.Value, Missing: b.Missing, PodCount: b.PodCount}
	switch b.Rule {
	case affinity.TaintToleration:
		o.Taint = &b.Taint
	case affinity.NodeAffinity:
		o.Unmet, o.ByField = &b.Unmet, b.ByField
	case affinity.NodePorts:
		o.Port = &b.Port
	case affinity.NodeResourcesFit:
		f := b.Shortfall
		o.Shortfall = &Shortfall{f.Resource, f.Requested, f.Used, f.Allocatable, f.Requested - f.Allocatable + f.Used}
	case affinity.GPU:
		o.GPU = &GPU{ev.pod.GPU.Count, ev.pod.GPU.Milli, b.GPU.Devices, b.GPU.Room, b.GPU.Model, b.GPU.WrongModel}
	case affinity.PodTopologySpread:
		o.Selects = selectorText(b.Constraint.LabelSelector)
		if !b.Missing {
			o.Skew = &Skew{Count: b.Count, Self: b.Self, Min: b.Min, MaxSkew: b.MaxSkew}
			for _, d := range b.Below {
				o.Skew.Below = append(o.Skew.Below, Below{d.Value, d.Count, d.Lacks})
			}
		}
	case affinity.InterPodAffinity:
		if b.Term != nil {
			o.Selects = selectorText(b.Term.LabelSelector)
		}
	}
	if pods > 0 {
		named := b.Pods()
		for _, p := range named[:min(pods, len(named))] {
			o.Pods = append(o.Pods, Pod{p.Pod, p.Node, p.Nominated})
		}
	}
	return o
}
