package affinity_test

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/affinity"
	"github.com/berth-go/berth/internal/gen"
	"github.com/berth-go/berth/internal/invariants"
)

// steps multiplies the length of the random tests: -berth.steps=100 compares about 100,000 decisions.
var steps = flag.Int("berth.steps", 1, "how many times longer the random tests run")

const (
	// stepsRuns is the number of clusters that TestStepsEqualReference changes, stepsEach how many changes each goes through.
	stepsRuns, stepsEach = 30, 100
	// regulars is the number of pods that are decided on again and again.
	regulars = 4
)

// TestStepsEqualReference changes random clusters step by step, asks for decisions in between, and holds the answers
// against the reference, against a graph built from nothing, and the graph against a recount.
func TestStepsEqualReference(t *testing.T) {
	for seed := range uint64(stepsRuns * *steps) {
		n := stepsEach
		if seed%10 == 9 {
			n /= 5 // of a cluster ten times as large
		}
		if err := newStepper(seed).run(n); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
}

// stepper makes random changes to a twin.
type stepper struct {
	*twin
	rng      *rand.Rand
	gen      *gen.Generator
	cfg      affinity.Config
	follow   [2]int
	regulars []berth.Pod
	waiting  []*affinity.Prepared // for a decision, some since many steps
	placed   int
	err      error // of setting up
}

func newStepper(seed uint64) *stepper {
	rng := rand.New(rand.NewPCG(seed, 23))
	opts := presets()[seed%uint64(len(presets()))]
	opts.Nodes, opts.Pods = 1+rng.IntN(20), rng.IntN(40)
	if seed%10 == 9 { // enough hosts that they are followed one by one, and counted in maps
		opts.Nodes, opts.Pods = 200, 150
	}
	s := &stepper{rng: rng, gen: gen.New(rng, opts)}
	s.cfg = []affinity.Config{{Seed: 1}, tight, {Seed: 1, MaxIdleClasses: 1, MaxColumnBytes: 1, MaxPlans: 2}, {Order: func(string) uint32 { return 7 }}}[rng.IntN(4)]
	// Few domains are followed as zones are, or none, and counts as exceptions, or in columns of one's own.
	s.follow = [][2]int{{64, 32}, {0, 0}, {0, 1 << 20}, {2, 4}, {1 << 20, 0}}[rng.IntN(5)]
	s.twin, s.err = newTwin(s.gen.Cluster(), s.cfg, configs()...)
	if s.err != nil {
		return s
	}
	s.graph.SetFollow(s.follow[0], s.follow[1])
	for range regulars {
		s.regulars = append(s.regulars, s.pod())
	}
	return s
}

func (s *stepper) pod() berth.Pod {
	p := s.gen.Pod()
	return *berth.Fold(&p)
}

func (s *stepper) run(n int) error {
	if s.err != nil {
		return s.err
	}
	for i := range n {
		what, err := s.make(s.rng.IntN(256))
		if err == nil && (invariants.Enabled || i%20 == 0) {
			err = s.graph.CheckInvariants(s.profiles...)
		}
		if err != nil {
			return fmt.Errorf("step %d, %s: %w", i, what, err)
		}
	}
	if err := s.compareRebuilt(); err != nil {
		return err
	}
	return s.drain()
}

// make makes the change of the given number, modulo the number of changes, or a decision. What it changes is random.
func (s *stepper) make(number int) (what string, err error) {
	changes := []struct {
		name string
		do   func() error
	}{
		{"add node", s.addNode},
		{"remove node", s.removeNode},
		{"replace node", s.replaceNode},
		{"rename nodes", s.renameNodes},
		{"change", s.change},
		{"change", s.change},
		{"change", s.change},
		{"release", s.release},
		{"nominate", s.nominate},
		{"denominate", s.denominate},
		{"toggle namespace", s.toggleNamespace},
		{"decide", s.decide},
		{"decide", s.decide},
		{"decide", s.decide},
		{"preempt", s.preempt},
		{"storm", s.storm},
		{"rebuild", s.compareRebuilt},
	}
	change := changes[number%len(changes)]
	return change.name, change.do()
}

func (s *stepper) addNode() error {
	n := s.gen.Node()
	if err := s.graph.AddNode(&n); err != nil {
		return err
	}
	s.Nodes = append(slices.Clip(s.Nodes), n)
	return nil
}

func (s *stepper) removeNode() error {
	if len(s.Nodes) == 0 {
		return nil
	}
	return s.removeNodeAt(s.rng.IntN(len(s.Nodes)))
}

func (s *stepper) removeNodeAt(i int) error {
	name := s.Nodes[i].Name
	for _, p := range s.Pods {
		if p.NodeName == name {
			if err := s.graph.RemoveNode(name); !errors.Is(err, affinity.ErrNodeInUse) {
				return fmt.Errorf("removed in spite of its pods: %w", err)
			}
			if err := s.graph.Release(p.Key()); err != nil {
				return err
			}
		}
	}
	s.Pods = slices.DeleteFunc(s.Pods, func(p berth.Pod) bool {
		return p.NodeName == name || p.NodeName == "" && p.NominatedNodeName == name
	})
	s.Nodes = slices.Delete(s.Nodes, i, i+1)
	return s.graph.RemoveNode(name)
}

// replaceNode gives a node everything of another: labels, taints, capacity, images, GPUs.
func (s *stepper) replaceNode() error {
	if len(s.Nodes) == 0 {
		return nil
	}
	n := s.gen.Node()
	i := s.rng.IntN(len(s.Nodes))
	n.Name = s.Nodes[i].Name
	switch err := s.graph.UpdateNode(&n); {
	case errors.Is(err, affinity.ErrDevices):
		return nil
	case err != nil:
		return err
	}
	s.Nodes[i] = n
	return nil
}

// renameNodes takes out nodes and puts in like ones under new names, which get the same ids.
func (s *stepper) renameNodes() error {
	for range min(3, len(s.Nodes)) {
		n := s.Nodes[0]
		if err := s.removeNodeAt(0); err != nil {
			return err
		}
		n.Name = s.gen.Node().Name
		if err := s.graph.AddNode(&n); err != nil {
			return err
		}
		s.Nodes = append(s.Nodes, n)
	}
	return nil
}

// change makes one of the generator's changes.
func (s *stepper) change() error {
	c := &gen.Cluster{Nodes: s.Nodes, Pods: s.Pods, Namespaces: s.Namespaces}
	change, ok := s.gen.Change(c)
	if !ok {
		return nil
	}
	switch i := change.Index; change.Kind {
	case gen.RelabelPod, gen.Terminate:
		p := s.Pods[i]
		switch _, placed := s.graph.NodeOf(p.Key()); {
		case placed:
			return s.graph.UpdatePod(&p)
		case p.NodeName == "" && p.NominatedNodeName != "": // the last to be promised room
			s.Pods = append(slices.Delete(s.Pods, i, i+1), p)
			if _, ok := s.graph.Topology().Lookup(p.NominatedNodeName); ok {
				return s.graph.Nominate(&p, p.NominatedNodeName)
			}
		}
		return nil
	case gen.RelabelNamespace:
		return s.graph.SetNamespace(&s.Namespaces[i])
	default:
		return s.graph.UpdateNode(&s.Nodes[i])
	}
}

func (s *stepper) release() error {
	if len(s.Pods) == 0 {
		return nil
	}
	i := s.rng.IntN(len(s.Pods))
	p := s.Pods[i]
	s.Pods = slices.Delete(s.Pods, i, i+1)
	if _, placed := s.graph.NodeOf(p.Key()); placed {
		return s.graph.Release(p.Key())
	}
	s.graph.Denominate(p.Key())
	return nil
}

// storm releases and binds some pods so often that whoever follows the log of changes is left behind.
func (s *stepper) storm() error {
	var few []*berth.Pod
	for i := range s.Pods {
		if p := &s.Pods[i]; len(few) < 4 && p.NodeName != "" {
			if _, placed := s.graph.NodeOf(p.Key()); placed {
				few = append(few, p)
			}
		}
	}
	for range 300 {
		for _, p := range few {
			if err := s.graph.Release(p.Key()); err != nil {
				return err
			}
			if err := s.graph.Bind(p, p.NodeName); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *stepper) nominate() error {
	if len(s.Nodes) == 0 {
		return nil
	}
	p := s.regular()
	p.NodeName, p.NominatedNodeName = "", s.Nodes[s.rng.IntN(len(s.Nodes))].Name
	return s.add(p)
}

func (s *stepper) denominate() error {
	for i, p := range s.Pods {
		if p.NodeName == "" && p.NominatedNodeName != "" {
			s.Pods = slices.Delete(s.Pods, i, i+1)
			s.graph.Denominate(p.Key())
			return nil
		}
	}
	return nil
}

func (s *stepper) toggleNamespace() error {
	if n := len(s.Namespaces); n > 0 && s.rng.IntN(2) == 0 {
		s.graph.RemoveNamespace(s.Namespaces[n-1].Name)
		s.Namespaces = slices.Clip(s.Namespaces[:n-1])
		return nil
	}
	ns := berth.Namespace{Name: s.pod().Namespace, Labels: map[string]string{"team": "x"}}
	i := slices.IndexFunc(s.Namespaces, func(o berth.Namespace) bool { return o.Name == ns.Name })
	if i < 0 {
		s.Namespaces = append(s.Namespaces, ns)
	} else {
		s.Namespaces[i] = ns
	}
	return s.graph.SetNamespace(&ns)
}

// regular returns one of the regulars under a new name, or now and then another pod, which takes its place.
func (s *stepper) regular() berth.Pod {
	i := s.rng.IntN(len(s.regulars))
	if s.rng.IntN(15) == 0 {
		s.regulars[i] = s.pod()
	}
	p := s.regulars[i]
	s.placed++
	p.Name = fmt.Sprintf("%s-%d", p.Name, s.placed)
	return p
}

// decide prepares a pod, and compares a decision on one of those that were prepared before, which it mostly binds.
func (s *stepper) decide() error {
	next := s.regular()
	w, err := s.graph.Prepare(&next)
	if err != nil {
		return err
	}
	s.waiting = append(s.waiting, w)
	if len(s.waiting) < 4 {
		return nil
	}
	i := s.rng.IntN(len(s.waiting))
	w = s.waiting[i]
	s.waiting = slices.Delete(s.waiting, i, i+1)
	s.use(s.rng.IntN(len(s.configs)))
	choice, err := s.check(w.Pod())
	if err != nil {
		return err
	}
	if again, ok, err := s.profile.BestPrepared(w); err != nil || again != choice || ok != (choice.Feasible > 0) {
		return fmt.Errorf("prepared: %+v %v %w, else %+v", again, ok, err, choice)
	}
	if choice.Feasible == 0 || s.rng.IntN(4) == 0 {
		return nil
	}
	p := *w.Pod()
	p.NodeName = s.graph.Topology().Name(choice.Node)
	switch err := s.graph.BindPrepared(w, p.NodeName); {
	case errors.Is(err, affinity.ErrDevices):
		return nil
	case err != nil:
		return err
	}
	p.GPU.Devices = s.graph.Devices(p.Key())
	s.Pods = append(s.Pods, p)
	return nil
}

// preempt compares a preemption; the recount after it shows whether the what-if was undone.
func (s *stepper) preempt() error {
	p := s.regular()
	s.use(s.rng.IntN(len(s.configs)))
	_, err := s.checkPreempt(&p)
	return err
}

// compareRebuilt compares decisions with those on a graph that was built from nothing, to the node chosen.
func (s *stepper) compareRebuilt() error {
	fresh, err := newTwin(&gen.Cluster{Nodes: s.Nodes, Namespaces: s.Namespaces}, s.cfg, s.configs...)
	if err != nil {
		return err
	}
	for _, p := range s.Pods {
		if err := fresh.add(p); err != nil {
			return err
		}
	}
	for i := range s.regulars {
		for k := range s.profiles {
			got, ok, err := s.profiles[k].Best(&s.regulars[i])
			want, wanted, errWanted := fresh.profiles[k].Best(&s.regulars[i])
			if err != nil || errWanted != nil {
				return errors.Join(err, errWanted)
			}
			if ok != wanted {
				return fmt.Errorf("regular %d: feasible %v, rebuilt %v", i, ok, wanted)
			}
			if !ok {
				continue
			}
			a, b := s.graph.Topology().Name(got.Node), fresh.graph.Topology().Name(want.Node)
			got.Node, want.Node = 0, 0
			if a != b || got != want {
				return fmt.Errorf("regular %d, profile %d: %s %+v, rebuilt %s %+v", i, k, a, got, b, want)
			}
		}
	}
	return nil
}

// drain takes everything out again; nothing may be left over.
func (s *stepper) drain() error {
	for i := len(s.Nodes); i > 0; i-- {
		if err := s.removeNode(); err != nil {
			return err
		}
	}
	if s.graph.Pods() != 0 || s.graph.Topology().Len() != 0 {
		return fmt.Errorf("%d pods and %d nodes are left", s.graph.Pods(), s.graph.Topology().Len())
	}
	if err := s.graph.CheckInvariants(s.profiles...); err != nil {
		return err
	}
	return s.graph.CheckNothingKept()
}
