package affinity

import (
	"fmt"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/topology"
)

// Blocker is one thing that keeps a pod off a node. A Verdict names the first rule that refuses; the Blockers of a node
// are all that refuse it, down to the taint, the term and the placed pods. Which fields are set depends on the rule.
type Blocker struct {
	Rule Rule
	// Side is whose pod affinity refuses, for InterPodAffinity.
	Side Side
	// Index is which of the pod's required terms, hard spread constraints or required node selector terms refuses, from
	// 0. It is -1 for the pod's nodeSelector and where the pod has no such list.
	Index int

	// Taint is the taint that is not tolerated.
	Taint berth.Taint
	// Unmet is what NodeAffinity asks for in vain: a requirement of the nodeSelector, or of the term that the node comes
	// closest to. Its key is empty if there is no term that any node could match. ByField: it is one of the term's
	// MatchFields.
	Unmet   berth.Requirement
	ByField bool
	// Port is the port that is taken.
	Port berth.HostPort
	// Shortfall is the resource that is missing; what nominated pods will take counts as used.
	Shortfall Shortfall
	// GPU is what is wrong with the node's GPUs.
	GPU GPUShortfall

	// Key is the topology key of PodTopologySpread and InterPodAffinity, Value the node's value for it; Missing is true
	// if the node does not carry the key. For NodeName, Value is the name that the pod asks for.
	Key, Value string
	Missing    bool
	// Count + Self - Min > MaxSkew is why PodTopologySpread refuses.
	Count, Self, Min, MaxSkew int32
	// Below are the domains that would have to have more matching pods for PodTopologySpread to pass, ascending by
	// value. It is empty if more pods would not help, as there are fewer domains than minDomains.
	Below []Below
	// Term is the pod's own term, or for ExistingAntiAffinity that of a pod in the way; Constraint is the pod's own
	// constraint. What they point to is the graph's and must not be changed.
	Term       *berth.PodAffinityTerm
	Constraint *berth.TopologySpreadConstraint

	// PodCount is the number of pods in the way (see Pods); a pod whose anti-affinity says the same twice counts twice.
	PodCount int

	pods func() []BlockingPod
}

// Pods returns the pods in the way, by node, namespace and name: those that hold the port, that the pod's anti-affinity
// excludes, whose anti-affinity excludes the pod, or that the constraint counts in the node's domain. They are at most
// MaxBlockingPods. They are looked for when they are asked for: the graph must be as it was when the blocker was found.
// O(pods of the classes concerned) or O(pods of the domain), whichever is less.
func (b *Blocker) Pods() []BlockingPod {
	if b.pods == nil {
		return nil
	}
	return b.pods()
}

// BlockingPod is a pod that stands in the way of another.
type BlockingPod struct {
	Pod  berth.PodKey
	Node string
	// Nominated pods are not placed but have been promised room on the node.
	Nominated bool
}

// Below is a domain with fewer matching pods than a spread constraint needs it to have, Lacks of them.
type Below struct {
	Value string
	Count int32
	Lacks int32
	// Node is a node of the domain where pods count.
	Node string
}

// GPUShortfall says what GPUs a node has for a request, nominated pods regarded.
type GPUShortfall struct {
	Model string
	// WrongModel: the request excludes the model of the node.
	WrongModel bool
	// Devices is the number of GPUs of the node, Room how many of them have enough free.
	Devices, Room int
}

// Blockers returns all that keeps a pod off a node, by rule; nothing if the node is feasible. It changes nothing. The
// error is a *berth.Fault or ErrUnknownNode. O(rules), and O(domains) for a spread constraint that refuses.
func (p *Profile) Blockers(pod *berth.Pod, node string) ([]Blocker, error) {
	cl, err := p.g.validClass(pod)
	if err != nil {
		return nil, err
	}
	n, ok := p.g.x.Lookup(node)
	if !ok {
		return nil, fmt.Errorf("%w: %q", ErrUnknownNode, node)
	}
	c := collector{p: p, r: p.planOf(cl).r, pod: pod, n: n}
	return c.collect(), nil
}

// collector collects the blockers of one node.
type collector struct {
	p   *Profile
	r   *rules
	pod *berth.Pod
	n   topology.NodeID
	// gone are pods that are supposed not to be there.
	gone map[podID]bool
	// lent are the nominated pods that are taken into account just now.
	lent  []nominated
	found []Blocker
}

// collect looks at the node twice if pods of at least the same priority are nominated to it, with them and without, as
// Verdict does.
func (c *collector) collect() []Blocker {
	c.nodeAlone()
	guests := c.guests()
	if len(guests) == 0 {
		c.load()
		c.spread()
		c.interPod()
		return c.found
	}
	skip := c.r.skipsInterPod()
	back := c.lend(guests)
	c.load() // nominated pods only take room
	c.spread()
	if !skip {
		c.interPod()
	}
	back()
	c.spread()
	c.interPod()
	c.sort()
	return c.found
}

// guests are the pods that are nominated to the node and hold their room against the pod.
func (c *collector) guests() []nominated {
	e := c.p.g.nodes[c.n].extra
	if e == nil {
		return nil
	}
	var guests []nominated
	for _, o := range e.nominated {
		if o.class.spec.Priority >= c.r.class.spec.Priority && o.key != c.pod.Key() {
			guests = append(guests, o)
		}
	}
	return guests
}

// lend places the nominated pods on the node until back is called (see Profile.withGuests).
func (c *collector) lend(guests []nominated) (back func()) {
	g := c.p.g
	log := g.pause()
	held := make([]uint64, len(guests))
	for i, o := range guests {
		c.p.shift(c.r, o.class, c.n, +1)
		held[i] = g.lend(o.class, c.n)
	}
	c.lent = guests
	return func() {
		for i, o := range guests {
			c.p.shift(c.r, o.class, c.n, -1)
			if held[i] != 0 {
				g.nodes[c.n].extra.gpu.Hold(held[i], -o.class.spec.GPU.Milli)
			}
		}
		c.lent = nil
		g.resume(log)
	}
}

// add enters a blocker. One and the same that was found with nominated pods and is found again without stays as it was,
// unless it weighs more now.
func (c *collector) add(b Blocker) {
	for i := range c.found {
		o := &c.found[i]
		if b.Rule < PodTopologySpread || o.Rule != b.Rule || o.Side != b.Side || o.Index != b.Index || o.Key != b.Key {
			continue
		}
		if b.Rule == PodTopologySpread && b.Count-b.Min > o.Count-o.Min {
			*o = b
		}
		return
	}
	c.found = append(c.found, b)
}
