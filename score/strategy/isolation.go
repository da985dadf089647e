package strategy

import (
	"slices"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/score"
	"github.com/berth-go/berth/topology"
)

// IsolationClass is a runtime or a security domain that pods ask for: "wasm", "confidential", "tenant-7".
type IsolationClass struct {
	// Value is the value of the pods' label that asks for the class. It must not be empty.
	Value string
	// NodeLabels are carried, all of them, by nodes of the class, and Nodes names further ones. At least one of the two must
	// not be empty.
	NodeLabels map[string]string
	Nodes      []string
	// Preferred: a pod of the class may run elsewhere; the filter lets it pass.
	Preferred bool
	// Exclusive keeps all other pods off the nodes of the class: those that are not of a class that has the node too.
	Exclusive bool
}

// IsolationConfig configures an Isolation.
type IsolationConfig struct {
	// Name of the plugin, so that a pipeline can have several. "" means "Isolation".
	Name string
	// PodLabel is the key of the label by which pods ask for a class. It must not be empty. A pod without the label asks for
	// none.
	PodLabel string
	// Classes, 1 to 1000.
	Classes []IsolationClass
}

// Isolation keeps pods to the nodes that have the runtime or belong to the security domain that the pods ask for. Make one
// with NewIsolation. It is a score.Filter and a score.Scorer, to be used as either or both: as a filter classes are required,
// unless they are Preferred, as a scorer all are preferred.
//
// A node suits a pod if it is of the pod's class and, if the pod asks for none, or is elsewhere than its preferred class, of no
// exclusive one. The score is 100 for a node of the pod's class, or any suitable one if the pod asks for none, else 0. A pod
// that asks for a class that is not configured suits no node: to run it just anywhere would undo what the label is for.
//
// It is what a RuntimeClass's scheduling.nodeSelector does (kubernetes, plugin/pkg/admission/runtimeclass), without an
// admission step, and with the exclusion that takes a taint and tolerations there.
type Isolation struct {
	name    string
	label   string
	classes []isolationClass
}

type isolationClass struct {
	value                string
	labels               labels // nil if there are none
	nodes                []string
	preferred, exclusive bool
}

// NewIsolation returns an Isolation. The error wraps score.ErrConfig.
func NewIsolation(cfg IsolationConfig) (*Isolation, error) {
	const maxClasses = 1000
	s := &Isolation{name: cfg.Name, label: cfg.PodLabel}
	if s.name == "" {
		s.name = "Isolation"
	}
	switch {
	case cfg.PodLabel == "":
		return nil, misconfigured("%s: PodLabel is empty", s.name)
	case len(cfg.Classes) < 1 || len(cfg.Classes) > maxClasses:
		return nil, misconfigured("%s: there are %d Classes, want 1..%d", s.name, len(cfg.Classes), maxClasses)
	}
	for i, c := range cfg.Classes {
		switch {
		case c.Value == "" || slices.ContainsFunc(cfg.Classes[:i], func(o IsolationClass) bool { return o.Value == c.Value }):
			return nil, misconfigured("%s: Classes[%d].Value = %q is empty or taken", s.name, i, c.Value)
		case len(c.NodeLabels) == 0 && len(c.Nodes) == 0:
			return nil, misconfigured("%s: Classes[%d] %q has neither NodeLabels nor Nodes", s.name, i, c.Value)
		}
		s.classes = append(s.classes, isolationClass{c.Value, labelsOf(c.NodeLabels), slices.Clone(c.Nodes), c.Preferred, c.Exclusive})
	}
	return s, nil
}

// Name returns the configured name.
func (s *Isolation) Name() string { return s.name }

// Local promises that a score depends on pod class and node alone.
func (*Isolation) Local() {}

// Concurrent promises that Score may be called by several goroutines at a time.
func (*Isolation) Concurrent() {}

// Filter takes out the nodes that do not suit the pod. O(classes * (capacity/64 * labels + Nodes)).
func (s *Isolation) Filter(in *score.Input, feasible *topology.NodeSet) error {
	own, asks := s.class(in.Pod)
	if asks && own == nil {
		feasible.Clear()
		return nil
	}
	var of, rest topology.NodeSet
	if own != nil {
		own.union(&of, in.Graph.Topology())
		if !own.preferred {
			feasible.Intersect(&of)
			return nil
		}
	}
	s.exclusive(&rest, in.Graph.Topology())
	rest.Subtract(&of)
	feasible.Subtract(&rest)
	return nil
}

// Score takes O(classes * (capacity/64 * labels + Nodes) + nodes).
func (s *Isolation) Score(in *score.Input, nodes []topology.NodeID, column []int64) error {
	own, asks := s.class(in.Pod)
	var set topology.NodeSet
	if own != nil {
		own.union(&set, in.Graph.Topology())
	} else {
		s.exclusive(&set, in.Graph.Topology())
	}
	for _, n := range nodes {
		column[n] = 0
		if own != nil && set.Has(n) || !asks && !set.Has(n) {
			column[n] = 100
		}
	}
	return nil
}

// class returns the class that a pod asks for, nil if it is not configured, and whether it asks.
func (s *Isolation) class(p *berth.Pod) (class *isolationClass, asks bool) {
	value, asks := p.Labels[s.label]
	if !asks {
		return nil, false
	}
	if i := slices.IndexFunc(s.classes, func(c isolationClass) bool { return c.value == value }); i >= 0 {
		return &s.classes[i], true
	}
	return nil, true
}

// exclusive adds the nodes of exclusive classes.
func (s *Isolation) exclusive(set *topology.NodeSet, x *topology.Index) {
	for i := range s.classes {
		if s.classes[i].exclusive {
			s.classes[i].union(set, x)
		}
	}
}

// union adds the nodes of the class.
func (c *isolationClass) union(set *topology.NodeSet, x *topology.Index) {
	for _, name := range c.nodes {
		if n, ok := x.Lookup(name); ok {
			set.Add(n)
		}
	}
	domains, ok := c.labels.domains(x)
	if !ok || len(domains) == 0 {
		return
	}
	var all, one topology.NodeSet
	x.Union(&all, domains[0])
	for _, d := range domains[1:] {
		one.Clear()
		x.Union(&one, d)
		all.Intersect(&one)
	}
	set.Union(&all)
}
