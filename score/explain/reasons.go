package explain

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/affinity"
	"github.com/berth-go/berth/topology"
)

// The reasons of kube-scheduler v1.37, each from the plugin of the rule (pkg/scheduler/framework/plugins).
const (
	reasonUnschedulable = "node(s) were unschedulable"
	reasonNodeName      = "node(s) didn't match the requested node name"
	reasonTaint         = "node(s) had untolerated taint(s)"
	reasonNodeAffinity  = "node(s) didn't match Pod's node affinity/selector"
	reasonPorts         = "node(s) didn't have free ports for the requested pod ports"
	reasonPods          = "Too many pods"
	reasonSpread        = "node(s) didn't match pod topology spread constraints"
	reasonSpreadLabel   = reasonSpread + " (missing required label)"
	reasonAffinity      = "node(s) didn't match pod affinity rules"
	reasonAntiAffinity  = "node(s) didn't match pod anti-affinity rules"
	reasonExisting      = "node(s) didn't satisfy existing pods anti-affinity rules"
	reasonConflict      = "pod affinity terms conflict"
	// reasonGPU is ours: the rule has no counterpart.
	reasonGPU = "Insufficient GPUs"
)

// reasonsFor returns why node n is refused, in the words of kube-scheduler.
func (ev *evaluation) reasonsFor(n topology.NodeID) ([]string, error) {
	if f := ev.filterOf(n); f != "" {
		return []string{fmt.Sprintf("node(s) were refused by plugin %s", f)}, nil
	}
	var why affinity.Reason
	v, err := ev.profile.Verdict(ev.pod, ev.name(n), &why)
	if err != nil {
		return nil, err
	}
	switch v.Rule {
	case affinity.NodeUnschedulable:
		return []string{reasonUnschedulable}, nil
	case affinity.NodeName:
		return []string{reasonOfNames(ev.pod, reasonNodeName)}, nil
	case affinity.TaintToleration:
		return []string{reasonTaint}, nil
	case affinity.NodeAffinity:
		if names, pinned := pinnedNames(ev.pod); pinned && !slices.Contains(names, ev.name(n)) {
			return []string{reasonOfNames(ev.pod, reasonNodeAffinity)}, nil
		}
		return []string{reasonNodeAffinity}, nil
	case affinity.NodePorts:
		return []string{reasonPorts}, nil
	case affinity.NodeResourcesFit:
		var reasons []string
		for _, f := range why.Shortfalls {
			if f.Resource == berth.ResourcePods {
				reasons = append(reasons, reasonPods)
			} else {
				reasons = append(reasons, "Insufficient "+f.Resource)
			}
		}
		return reasons, nil
	case affinity.GPU:
		return []string{reasonGPU}, nil
	case affinity.PodTopologySpread:
		if why.Missing {
			return []string{reasonSpreadLabel}, nil
		}
		return []string{reasonSpread}, nil
	case affinity.InterPodAffinity:
		switch why.Blocking {
		case affinity.OwnAffinity:
			return []string{reasonAffinity}, nil
		case affinity.OwnAntiAffinity:
			return []string{reasonAntiAffinity}, nil
		}
		return []string{reasonExisting}, nil
	}
	return nil, nil
}

// reasonOfNames is the reason for a node that the pod leaves out by name. kube-scheduler does not look at such nodes, and
// gives the plugins that name nodes as the reason (pkg/scheduler/schedule_one.go, findNodesThatFitPod); if these leave no
// name at all it says so once for all nodes (framework/runtime, RunPreFilterPlugins).
func reasonOfNames(pod *berth.Pod, otherwise string) string {
	names, pinned := pinnedNames(pod)
	switch {
	case pinned && len(names) == 0:
		return reasonConflict
	case pinned && pod.NodeName != "":
		if !slices.Contains(names, pod.NodeName) {
			return "node(s) didn't satisfy plugin(s) [NodeAffinity NodeName] simultaneously"
		}
		return "node(s) didn't satisfy plugin(s) [NodeAffinity NodeName]"
	case pinned:
		return "node(s) didn't satisfy plugin(s) [NodeAffinity]"
	case pod.NodeName != "":
		return "node(s) didn't satisfy plugin(s) [NodeName]"
	}
	return otherwise
}

// pinnedNames returns the names of nodes that the pod's required node affinity allows, if each of its terms names some
// (plugins/nodeaffinity/node_affinity.go, PreFilter).
func pinnedNames(pod *berth.Pod) (names []string, pinned bool) {
	required := requiredNodes(pod)
	if required == nil {
		return nil, false
	}
	terms := required.NodeSelectorTerms
	for i := range terms {
		var of []string
		named := false
		for _, r := range terms[i].MatchFields {
			if r.Key != berth.FieldName || r.Operator != berth.In {
				continue
			}
			if !named {
				of, named = slices.Clone(r.Values), true
			}
			of = slices.DeleteFunc(of, func(name string) bool { return !slices.Contains(r.Values, name) })
		}
		if !named {
			return nil, false
		}
		names = append(names, of...)
	}
	return names, len(terms) > 0
}

// reasons counts the nodes by reason.
func (ev *evaluation) reasons() ([]Reason, error) {
	var out []Reason
	at := make(map[string]int)
	for n := range ev.graph.Topology().Live().All() {
		if !ev.refuses(n) {
			continue
		}
		reasons, err := ev.reasonsFor(n)
		if err != nil {
			return nil, err
		}
		for _, r := range reasons {
			i, ok := at[r]
			if !ok {
				i, at[r] = len(out), len(out)
				out = append(out, Reason{Reason: r})
			}
			out[i].Nodes++
		}
	}
	slices.SortFunc(out, func(a, b Reason) int { return cmp.Compare(a.String(), b.String()) })
	return out, nil
}

// String is "3 Insufficient cpu".
func (r Reason) String() string { return fmt.Sprintf("%d %s", r.Nodes, r.Reason) }

// Line says in one line how many nodes are available and why not the others, as kube-scheduler does in its events
// (pkg/scheduler/framework/types.go, FitError): "0/5 nodes are available: 2 node(s) had untolerated taint(s), 3
// Insufficient cpu." It counts the feasible nodes too, where kube-scheduler has nothing to say.
func (e *Explanation) Line() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d/%d nodes are available", e.Feasible, e.Evaluated)
	for i, r := range e.Reasons {
		b.WriteString([]string{": ", ", "}[min(i, 1)])
		// What is said of the pod once for all nodes has no number.
		if r.Reason == reasonConflict || strings.HasSuffix(r.Reason, " simultaneously") {
			b.WriteString(r.Reason)
		} else {
			b.WriteString(r.String())
		}
	}
	b.WriteByte('.')
	return b.String()
}
