package explain

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/affinity"
	"github.com/berth-go/berth/topology"
)

const (
	// MaxChanges is the largest number of changes of a suggestion. Where it would take more there is none.
	MaxChanges = 50
	// MaxPairs is the number of changes to choose from up to which all pairs of them are tried.
	MaxPairs = 40
)

// maxSingles is the number of changes to choose from up to which each alone is tried.
const maxSingles = 500

// search looks for the smallest suggestion for a pod and a node.
type search struct {
	profile *affinity.Profile
	graph   *affinity.Graph
	asked   *berth.Pod // as it is
	pod     *berth.Pod // with the changes to it
	node    string
	id      topology.NodeID
	what    *affinity.WhatIf
	// changes are what has been settled: ofPod to the pod first; the first fixed of them are in every suggestion.
	changes []Change
	ofPod   int
	fixed   int
	settled int // where the what-if stood with these
	added   int // number of pods added, for their names
	// doubtful: labels were chosen among others, or nominated pods turned away which might not matter once others are gone;
	// greedily: changes were added one by one.
	doubtful, greedily bool
	// dropNodes and dropPods give up the pod's node affinity and pod affinity.
	dropNodes, dropPods bool
	// contradictory: no label meets what the pod's node selector and affinity ask for together.
	contradictory bool
}

// suggest returns the smallest suggestion that it finds, nil if it finds none. blockers are what blocks as things are.
func suggest(profile *affinity.Profile, pod *berth.Pod, node string, blockers []affinity.Blocker) *Suggestion {
	id, ok := profile.Graph().Topology().Lookup(node)
	if !ok || slices.ContainsFunc(blockers, func(b affinity.Blocker) bool { return least(&b) > MaxChanges }) {
		return nil
	}
	dropNodes, dropPods := false, false
	for range 4 {
		s := &search{profile: profile, graph: profile.Graph(), asked: pod, node: node, id: id, dropNodes: dropNodes, dropPods: dropPods}
		if found := s.run(blockers); found != nil {
			s.keepWishes(found)
			return found
		}
		switch {
		case s.dropNodes && !dropNodes: // labels did not do
			dropNodes = true
		case s.dropPods && !dropPods:
			dropPods = true
		default:
			return nil
		}
	}
	return nil
}

// run makes one attempt. Where it fails, dropNodes or dropPods may say what to give up in the next.
func (s *search) run(blockers []affinity.Blocker) *Suggestion {
	podChanges, nodeChanges := s.alone(blockers)
	s.changes, s.ofPod = podChanges, len(podChanges)
	s.pod = changePod(s.asked, podChanges)
	var err error
	if s.what, err = s.profile.WhatIf(s.pod); err != nil {
		return nil // too many tolerations
	}
	defer s.what.End()
	for _, c := range nodeChanges {
		if !s.settle(c) {
			s.dropNodes = true
			return nil
		}
	}
	for _, b := range s.blockers() {
		if b.Rule == affinity.NodeAffinity {
			s.dropNodes = true
			return nil
		}
		s.doubtful = s.doubtful || b.Missing
	}
	if !s.clear() {
		return nil
	}
	s.fixed, s.settled = len(s.changes), s.what.Save()
	if s.feasible() {
		return s.suggestion(s.fixed)
	}
	candidates, complete := s.candidates()
	if few, ok := s.few(candidates); ok {
		s.changes = append(s.changes, few...)
		return s.suggestion(s.fixed + len(few))
	}
	bound := s.fixed + 1
	switch {
	case complete && len(candidates) <= MaxPairs:
		bound = s.fixed + 3
	case complete:
		bound = s.fixed + 2
	}
	if s.greedily = true; !s.greedy() {
		return nil
	}
	return s.suggestion(bound)
}

// keepWishes takes back what was given up of the pod's wishes without need, as other changes happen to meet them.
func (s *search) keepWishes(found *Suggestion) {
	for i := len(found.Changes) - 1; i >= 0; i-- {
		switch found.Changes[i].Kind {
		case DropNodeSelector, DropNodeAffinity, DropPodAffinity:
			rest := slices.Delete(slices.Clone(found.Changes), i, i+1)
			if len(rest) > 0 && s.suffices(rest) {
				found.Changes, found.Smallest = rest, len(rest) == 1
			}
		}
	}
}

// suffices reports whether the node is feasible with the changes, tried afresh.
func (s *search) suffices(changes []Change) bool {
	t := &search{profile: s.profile, graph: s.graph, node: s.node, id: s.id, pod: changePod(s.asked, changes)}
	var err error
	if t.what, err = t.profile.WhatIf(t.pod); err != nil {
		return false
	}
	defer t.what.End()
	return t.helps(slices.DeleteFunc(slices.Clone(changes), Change.ofPod)...)
}

// suggestion returns what was found; bound is the number of changes below which there is nothing.
func (s *search) suggestion(bound int) *Suggestion {
	if s.doubtful || s.greedily {
		s.prune()
	}
	smallest := len(s.changes) == 1 || len(s.changes) <= bound && !s.doubtful
	return &Suggestion{Changes: s.changes, Smallest: smallest}
}

// settle makes a change and keeps it.
func (s *search) settle(c Change) bool {
	if err := s.apply(&c); err != nil {
		return false
	}
	s.changes = append(s.changes, c)
	return true
}

var errChange = errors.New("explain: the change is none of the cluster")

// apply supposes a change to the cluster.
func (s *search) apply(c *Change) error {
	switch c.Kind {
	case RemovePod:
		return s.what.Release(*c.Pod)
	case EndNomination:
		return s.what.Denominate(*c.Pod)
	case AddPod:
		s.added++
		p := &berth.Pod{Namespace: c.Namespace, Name: fmt.Sprintf("%s.added-%d", s.pod.Name, s.added), Labels: c.Labels}
		return s.what.Bind(p, c.Node)
	case Uncordon, SetLabel, RemoveLabel, AddResource, AddGPUs:
		spec := s.graph.Node(s.id)
		changeNode(&spec, c)
		return s.what.UpdateNode(&spec)
	}
	return errChange
}

func (s *search) feasible() bool {
	v, err := s.what.Verdict(s.node, nil)
	return err == nil && v.Rule == affinity.Feasible
}

func (s *search) blockers() []affinity.Blocker {
	bs, _ := s.what.Blockers(s.node) // the node is known
	return bs
}

// helps reports whether the node is feasible with the changes, which are undone again.
func (s *search) helps(changes ...Change) bool {
	point := s.what.Save()
	defer s.what.Restore(point)
	for i := range changes {
		if s.apply(&changes[i]) != nil {
			return false
		}
	}
	return s.feasible()
}

// clear removes pods that have to go whatever else is done, until there are none left. It reports false if one can't.
func (s *search) clear() bool {
	for {
		bs := s.blockers()
		if s.tooMuch(bs) {
			return false
		}
		var pods []affinity.BlockingPod
		for i := range bs {
			if b := &bs[i]; b.Rule == affinity.NodePorts || b.Side == affinity.OwnAntiAffinity || b.Side == affinity.ExistingAntiAffinity {
				named := b.Pods()
				if len(named) == 0 { // they are pods that were added for company
					s.dropPods = true
					return false
				}
				pods = append(pods, named...)
			}
		}
		if len(pods) == 0 {
			return true
		}
		for _, p := range pods {
			if s.gone(p.Pod) {
				continue // it is in the way twice
			}
			if len(s.changes) == MaxChanges || !s.settle(removal(p)) {
				return false
			}
			s.doubtful = s.doubtful || p.Nominated
		}
	}
}

func removal(p affinity.BlockingPod) Change {
	kind := RemovePod
	if p.Nominated {
		kind = EndNomination
	}
	return Change{Kind: kind, Node: p.Node, Pod: &p.Pod}
}

// few finds one or two changes that suffice: those that remove fewer pods first.
func (s *search) few(candidates []Change) ([]Change, bool) {
	for i := range candidates[:min(len(candidates), maxSingles)] {
		if s.helps(candidates[i]) {
			return candidates[i : i+1], true
		}
	}
	if len(candidates) > MaxPairs {
		return nil, false
	}
	for removals := range 3 {
		for i := range candidates {
			for j := range i {
				if removes(&candidates[i])+removes(&candidates[j]) == removals && s.helps(candidates[j], candidates[i]) {
					return []Change{candidates[j], candidates[i]}, true
				}
			}
		}
	}
	return nil, false
}

func removes(c *Change) int {
	if c.Kind == RemovePod || c.Kind == EndNomination {
		return 1
	}
	return 0
}

// greedy adds one change after the other that takes away the first thing in the way.
func (s *search) greedy() bool {
	for len(s.changes) < MaxChanges {
		if !s.clear() {
			return false
		}
		if s.feasible() {
			return true
		}
		bs := s.blockers()
		if len(bs) == 0 || !s.step(&bs[0], weight(bs)) {
			return false
		}
	}
	return s.feasible()
}

// tooMuch reports whether it would take more than MaxChanges.
func (s *search) tooMuch(bs []affinity.Blocker) bool {
	for i := range bs {
		if len(s.changes)+least(&bs[i]) > MaxChanges {
			return true
		}
	}
	return false
}

// step makes the change for one blocker that leaves the least in the way. What is left must be less than before, or, where
// pods are removed one by one until there is room, not more; but a label that is missing must be set whatever comes of it.
func (s *search) step(b *affinity.Blocker, before int) bool {
	options := s.remedies(b)
	best, least := -1, before
	if b.Missing {
		least = math.MaxInt
	}
	for i := range options {
		point := s.what.Save()
		if s.apply(&options[i]) == nil {
			if w := weight(s.blockers()); w < least || w == least && best < 0 && options[i].Kind == RemovePod {
				best, least = i, w
			}
		}
		s.what.Restore(point)
	}
	if best < 0 {
		s.dropPods = s.dropPods || b.Side == affinity.OwnAffinity
		s.dropNodes = s.dropNodes || b.Rule == affinity.NodeAffinity // a label was asked for that it does not allow
		return false
	}
	return s.settle(options[best])
}

// least is how many changes a blocker takes at least.
func least(b *affinity.Blocker) int {
	switch {
	case b.Missing:
	case b.Rule == affinity.PodTopologySpread:
		return int(b.Count + b.Self - b.Min - b.MaxSkew) // a pod more or less changes the skew by one
	case b.Rule == affinity.NodePorts, b.Side == affinity.OwnAntiAffinity, b.Side == affinity.ExistingAntiAffinity:
		return max(1, b.PodCount)
	}
	return 1
}

// weight is about how much blockers have left to go, so that it shows whether a change is one for the better.
func weight(bs []affinity.Blocker) int {
	sum := 0
	for i := range bs {
		switch b := &bs[i]; {
		case b.Rule == affinity.GPU:
			sum += 1 + max(0, b.GPU.Devices-b.GPU.Room)
		case b.Missing:
			sum += 2 // the label, and perhaps what it leads to
		default:
			sum += least(b)
		}
	}
	return sum
}

// prune leaves out what is not needed after all: of what was added greedily, and of all changes to the cluster where
// one may do for what another one was meant for.
func (s *search) prune() {
	first, point := s.fixed, s.settled
	if s.doubtful {
		first, point = s.ofPod, 0
	}
	for i := len(s.changes) - 1; i >= first; i-- {
		s.what.Restore(point)
		rest := slices.Delete(slices.Clone(s.changes), i, i+1)
		if s.helps(rest[first:]...) {
			s.changes = rest
		}
	}
}
