package explain

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/affinity"
	"github.com/berth-go/berth/topology"
)

// alone returns the changes for what does not depend on other pods: to the pod, and to the node.
func (s *search) alone(blockers []affinity.Blocker) (pod, node []Change) {
	add := func(to *[]Change, c Change) {
		if !slices.ContainsFunc(*to, func(o Change) bool { return same(&o, &c) }) {
			*to = append(*to, c)
		}
	}
	// A node controller taints the nodes that are cordoned: who tolerates that taint tolerates the cordon.
	cordon := berth.Taint{Key: berth.TaintNodeUnschedulable, Effect: berth.NoSchedule}
	tolerated := slices.ContainsFunc(blockers, func(b affinity.Blocker) bool { return b.Taint == cordon })
	var selection []affinity.Blocker
	for _, b := range blockers {
		switch {
		case b.Rule == affinity.NodeUnschedulable && !tolerated:
			add(&node, Change{Kind: Uncordon, Node: s.node})
		case b.Rule == affinity.NodeName:
			add(&pod, Change{Kind: DropNodeName})
		case b.Rule == affinity.TaintToleration:
			add(&pod, Change{Kind: Tolerate, Taint: &b.Taint})
		case b.Rule == affinity.NodeAffinity:
			selection = append(selection, b)
		case b.Rule == affinity.GPU && b.GPU.WrongModel && b.GPU.Devices > 0:
			add(&pod, Change{Kind: AcceptGPUModel, Model: b.GPU.Model})
		}
	}
	if s.dropPods && len(requiredPods(s.asked)) > 0 {
		pod = append(pod, Change{Kind: DropPodAffinity})
	}
	if len(selection) > 0 {
		p, n := s.selection(selection)
		pod, node = append(pod, p...), append(node, n...)
	} else if s.dropNodes && requiredNodes(s.asked) != nil {
		pod = append(pod, Change{Kind: DropNodeAffinity}) // it forbids the label that another rule asks for
	}
	return pod, node
}

func same(a, b *Change) bool {
	return a.Kind == b.Kind && a.Key == b.Key && (a.Taint == nil || b.Taint == nil || *a.Taint == *b.Taint)
}

// requiredNodes is the required node affinity of a pod, nil if it has none.
func requiredNodes(pod *berth.Pod) *berth.NodeSelector {
	if pod.Affinity == nil || pod.Affinity.NodeAffinity == nil {
		return nil
	}
	return pod.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution
}

// requiredPods is the required pod affinity of a pod.
func requiredPods(pod *berth.Pod) []berth.PodAffinityTerm {
	if pod.Affinity == nil || pod.Affinity.PodAffinity == nil {
		return nil
	}
	return pod.Affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution
}

// selection returns the labels that make the pod's node selector and affinity select the node, or gives them up where
// labels can't.
func (s *search) selection(unmet []affinity.Blocker) (pod, node []Change) {
	s.doubtful = true
	drop := false
	for _, b := range unmet {
		drop = drop || b.Index >= 0 && (s.dropNodes || s.contradictory || b.ByField || b.Unmet.Key == "" || !s.relabelable(b.Unmet.Key))
	}
	term, keys := -1, make(map[string]bool)
	for _, b := range unmet {
		switch {
		case b.Index >= 0 && !drop:
			keys[b.Unmet.Key], term = true, b.Index
		case b.Index >= 0:
		case s.dropNodes || !s.relabelable(b.Unmet.Key):
			pod = append(pod, Change{Kind: DropNodeSelector, Key: b.Unmet.Key})
		default:
			keys[b.Unmet.Key] = true
		}
	}
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		value, present, ok := assign(s.requirements(key, term))
		switch {
		case !ok: // the term contradicts itself, or the nodeSelector
			s.contradictory = true
			return s.selection(unmet)
		case present:
			node = append(node, Change{Kind: SetLabel, Node: s.node, Key: key, Value: value})
		case s.labelled(key):
			node = append(node, Change{Kind: RemoveLabel, Node: s.node, Key: key})
		}
	}
	if drop {
		pod = append(pod, Change{Kind: DropNodeAffinity})
	}
	return pod, node
}

// requirements are those of the nodeSelector and of a required term on one label.
func (s *search) requirements(key string, term int) []berth.Requirement {
	var rs []berth.Requirement
	if v, ok := s.asked.NodeSelector[key]; ok {
		rs = append(rs, berth.Requirement{Key: key, Operator: berth.In, Values: []string{v}})
	}
	if term < 0 {
		return rs
	}
	for _, r := range requiredNodes(s.asked).NodeSelectorTerms[term].MatchExpressions {
		if r.Key == key {
			rs = append(rs, r)
		}
	}
	return rs
}

// relabelable: a label that says where a node is can be added, but not changed.
func (s *search) relabelable(key string) bool {
	where := key == berth.LabelHostname || key == berth.LabelZone || key == berth.LabelRegion
	return !where || !s.labelled(key)
}

func (s *search) labelled(key string) bool {
	x := s.graph.Topology()
	return slices.ContainsFunc(x.Labels(s.id), func(d topology.Domain) bool { return x.KeyName(d.Key) == key })
}

// candidates returns the changes any of which might help, those that remove no pod first, then pods of low priority first.
// It reports false if there are more.
func (s *search) candidates() (changes []Change, complete bool) {
	complete = true
	var removals []Change
	room := false
	for _, b := range s.blockers() {
		room = room || b.Rule == affinity.NodeResourcesFit || b.Rule == affinity.GPU
		changes = append(changes, s.additions(&b)...)
		if b.Rule == affinity.PodTopologySpread {
			complete = complete && b.PodCount < affinity.MaxBlockingPods
			for _, p := range b.Pods() {
				removals = append(removals, removal(p))
			}
		}
	}
	if room {
		removals = append(removals, s.occupants()...)
	}
	s.sortRemovals(removals)
	removals = slices.CompactFunc(removals, func(a, b Change) bool { return *a.Pod == *b.Pod })
	changes = append(changes, removals...)
	return changes, complete && len(changes) <= maxSingles
}

// occupants returns the removals of the pods that take room on the node.
func (s *search) occupants() []Change {
	var cs []Change
	for key := range s.graph.PodsOn(s.id) {
		if !s.gone(key) {
			cs = append(cs, Change{Kind: RemovePod, Node: s.node, Pod: &key})
		}
	}
	for key, p := range s.graph.NominatedTo(s.id) {
		if p.Priority >= s.pod.Priority && key != s.pod.Key() && !s.gone(key) {
			cs = append(cs, Change{Kind: EndNomination, Node: s.node, Pod: &key})
		}
	}
	return cs
}

// gone reports whether the removal of the pod is settled.
func (s *search) gone(key berth.PodKey) bool {
	return slices.ContainsFunc(s.changes, func(c Change) bool { return c.Pod != nil && *c.Pod == key })
}

func (s *search) sortRemovals(cs []Change) {
	priorities := make(map[berth.PodKey]int32, len(cs))
	for i := range cs {
		priorities[*cs[i].Pod] = math.MaxInt32 // a nomination, which holds its room by its priority
		if p, ok := s.graph.Pod(*cs[i].Pod); ok {
			priorities[*cs[i].Pod] = p.Priority
		}
	}
	slices.SortFunc(cs, func(a, b Change) int {
		return cmp.Or(cmp.Compare(priorities[*a.Pod], priorities[*b.Pod]), cmp.Compare(a.Pod.Namespace, b.Pod.Namespace), cmp.Compare(a.Pod.Name, b.Pod.Name))
	})
}

// remedies returns the changes for one blocker to choose from.
func (s *search) remedies(b *affinity.Blocker) []Change {
	cs := s.additions(b)
	var removals []Change
	switch {
	case b.Rule == affinity.PodTopologySpread:
		for _, p := range b.Pods() {
			removals = append(removals, removal(p))
		}
	case len(cs) == 0 && (b.Rule == affinity.NodeResourcesFit || b.Rule == affinity.GPU):
		removals = s.occupants()
	}
	s.sortRemovals(removals)
	return append(cs, removals[:min(1, len(removals))]...)
}

// additions returns the changes for one blocker that remove no pod.
func (s *search) additions(b *affinity.Blocker) []Change {
	switch {
	case b.Missing:
		return s.newLabels(b.Key)
	case b.Rule == affinity.NodeResourcesFit:
		f := &b.Shortfall
		if f.Requested+f.Used > berth.MaxAmount {
			return nil
		}
		return []Change{{Kind: AddResource, Node: s.node, Resource: f.Resource, Amount: f.Requested + f.Used - f.Allocatable}}
	case b.Rule == affinity.GPU:
		return s.moreGPUs(&b.GPU)
	case b.Rule == affinity.PodTopologySpread:
		return s.oneMoreBelow(b)
	case b.Side == affinity.OwnAffinity:
		return s.company(b)
	}
	return nil
}

// moreGPUs returns as many more GPUs as are missing, and as many as are missing if nominated pods take of them what they
// could not get so far.
func (s *search) moreGPUs(gpu *affinity.GPUShortfall) []Change {
	const most = 64
	missing := s.pod.GPU.Count - gpu.Room
	for _, p := range s.graph.NominatedTo(s.id) {
		missing += p.GPU.Count
	}
	var cs []Change
	for n := s.pod.GPU.Count - gpu.Room; n <= missing && gpu.Devices+n <= most; n++ {
		c := Change{Kind: AddGPUs, Node: s.node, Amount: int64(n)}
		if gpu.Devices == 0 && len(s.pod.GPU.Models) > 0 {
			c.Model = s.pod.GPU.Models[0]
		}
		cs = append(cs, c)
	}
	return cs
}

// newLabels returns the values that the node could be given for a topology key that it lacks: those that others have, and
// one of its own.
func (s *search) newLabels(key string) []Change {
	const most = 16
	x := s.graph.Topology()
	k := x.Key(key)
	var values []string
	for v := range topology.ValueID(x.ValueCap(k)) {
		if d := (topology.Domain{Key: k, Value: v}); x.Size(d) > 0 {
			values = append(values, x.ValueName(d))
		}
	}
	slices.Sort(values)
	values = values[:min(len(values), most)]
	if own := s.node; key == berth.LabelHostname {
		values = append([]string{own}, values...)
	} else {
		values = append(values, own)
	}
	var cs []Change
	for _, v := range values {
		cs = append(cs, Change{Kind: SetLabel, Node: s.node, Key: key, Value: v})
	}
	return cs
}

// oneMoreBelow returns one more matching pod in each of the domains that have too few.
func (s *search) oneMoreBelow(b *affinity.Blocker) []Change {
	labels := s.pod.Labels
	if b.Self == 0 {
		solved, ok := solve([]*berth.LabelSelector{b.Constraint.LabelSelector})
		if !ok {
			return nil
		}
		labels = solved
	}
	var cs []Change
	for _, d := range b.Below {
		if d.Node != "" {
			cs = append(cs, Change{Kind: AddPod, Node: d.Node, Key: b.Key, Value: d.Value, Namespace: s.pod.Namespace, Labels: labels})
		}
	}
	return cs
}

// company returns a pod that all required affinity terms select, in the domain that lacks one: on another node if there
// is one, or on the node itself, where it is in the domains of all terms.
func (s *search) company(b *affinity.Blocker) []Change {
	terms := requiredPods(s.pod)
	var selectors []*berth.LabelSelector
	for i := range terms {
		selectors = append(selectors, terms[i].LabelSelector)
	}
	labels, ok := solve(selectors)
	if !ok {
		return nil
	}
	c := Change{Kind: AddPod, Key: b.Key, Value: b.Value, Labels: labels}
	var cs []Change
	for _, namespace := range s.namespaces(terms) {
		c.Namespace = namespace
		if c.Node = s.neighbour(b.Key); c.Node != "" {
			cs = append(cs, c)
		}
		c.Node = s.node
		cs = append(cs, c)
	}
	return cs
}

// namespaces are those in which a pod that the terms select might be.
func (s *search) namespaces(terms []berth.PodAffinityTerm) []string {
	names := []string{s.pod.Namespace}
	bySelector := false
	for i := range terms {
		names = append(names, terms[i].Namespaces...)
		bySelector = bySelector || terms[i].NamespaceSelector != nil
	}
	if bySelector {
		names = slices.AppendSeq(names, s.graph.Namespaces())
	}
	var unique []string
	for _, n := range names {
		if !slices.Contains(unique, n) {
			unique = append(unique, n)
		}
	}
	const most = 16
	return unique[:min(len(unique), most)]
}

// neighbour returns another node of the domain, "" if there is none.
func (s *search) neighbour(key string) string {
	x := s.graph.Topology()
	k := x.Key(key)
	for n := range x.Nodes(topology.Domain{Key: k, Value: x.Value(s.id, k)}) {
		if n != s.id {
			return x.Name(n)
		}
	}
	return ""
}
