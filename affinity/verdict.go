package affinity

import (
	"fmt"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/topology"
)

// Reason tells more of a refusal than its rule: what a Verdict rests on. Which fields are set depends on the rule.
type Reason struct {
	// Shortfalls are the missing resources of NodeResourcesFit.
	Shortfalls []Shortfall
	// Key is the topology key of PodTopologySpread and InterPodAffinity, Value the node's value for it; Missing is true if
	// the node does not carry the key.
	Key, Value string
	Missing    bool
	// Count + Self - Min > MaxSkew is why PodTopologySpread refuses.
	Count, Self, Min, MaxSkew int32
	// Blocking is which side's pod affinity refuses.
	Blocking Side
}

// Side tells whose rule refuses in InterPodAffinity.
type Side uint8

// The sides.
const (
	NoSide Side = iota
	// OwnAffinity: no pod that the pod's required affinity asks for.
	OwnAffinity
	// OwnAntiAffinity: a pod that the pod's required anti-affinity excludes.
	OwnAntiAffinity
	// ExistingAntiAffinity: a placed pod whose required anti-affinity excludes the pod.
	ExistingAntiAffinity
)

// Verdict returns the verdict for one node, and the reason in rec if it is not nil. The same path gives both; without
// rec it allocates nothing. The error is a *berth.Fault or ErrUnknownNode. O(rules), once the class is known.
func (p *Profile) Verdict(pod *berth.Pod, node string, rec *Reason) (Verdict, error) {
	cl, err := p.g.validClass(pod)
	if err != nil {
		return Verdict{}, err
	}
	n, ok := p.g.x.Lookup(node)
	if !ok {
		return Verdict{}, fmt.Errorf("%w: %q", ErrUnknownNode, node)
	}
	return p.verdictFor(p.planOf(cl).r, pod, n, rec), nil
}

// Verdicts calls yield with the verdict for each node, in the order of NodeID. O(nodes * rules).
func (p *Profile) Verdicts(pod *berth.Pod, yield func(topology.NodeID, Verdict)) error {
	cl, err := p.g.validClass(pod)
	if err != nil {
		return err
	}
	r := p.planOf(cl).r
	for n := range p.g.x.Live().All() {
		yield(n, p.verdictFor(r, pod, n, nil))
	}
	return nil
}

func (p *Profile) verdictFor(r *rules, pod *berth.Pod, n topology.NodeID, rec *Reason) Verdict {
	s := &p.g.nodes[n]
	nobody := r.match != nil && r.match.pinned && len(r.match.names) == 0
	if pod.NodeName != "" && pod.NodeName != p.g.x.Name(n) && !nobody {
		return Verdict{Rule: NodeName}
	}
	if s.extra != nil && len(s.extra.nominated) > 0 {
		if v := p.withNominated(r, n, pod.Key(), rec); v.Rule != Feasible {
			return v
		}
	}
	return p.verdict(r, n, rec)
}

// withNominated returns the verdict for node n as if the pods that are nominated to it with at least the priority of the class
// ran there, but for the pod of the given key (pkg/scheduler/framework/runtime, RunFilterPluginsWithNominatedPods).
func (p *Profile) withNominated(r *rules, n topology.NodeID, key berth.PodKey, rec *Reason) Verdict {
	// A pod without terms of its own skips the rule for good if no placed pod's anti-affinity concerns it, nominated
	// pods or not (plugins/interpodaffinity/filtering.go, PreFilter).
	return p.withGuests(r, n, key, r.skipsInterPod(), rec)
}

func (p *Profile) withGuests(r *rules, n topology.NodeID, key berth.PodKey, skip bool, rec *Reason) Verdict {
	g := p.g
	guests := g.nodes[n].extra.nominated
	counts := func(o *nominated) bool { return o.class.spec.Priority >= r.class.spec.Priority && o.key != key }
	any := false
	for i := range guests {
		any = any || counts(&guests[i])
	}
	if !any {
		return Verdict{}
	}
	log := g.pause()
	held := make([]uint64, len(guests))
	for i := range guests {
		if o := &guests[i]; counts(o) {
			p.shift(r, o.class, n, +1)
			held[i] = g.lend(o.class, n)
		}
	}
	v := p.nodeOnly(r, n, rec)
	if v.Rule == Feasible {
		v = p.spreadVerdict(r, n, rec)
	}
	if v.Rule == Feasible && !skip {
		v = p.interPodVerdict(r, n, rec)
	}
	for i := range guests {
		if o := &guests[i]; counts(o) {
			p.shift(r, o.class, n, -1)
			if held[i] != 0 {
				g.nodes[n].extra.gpu.Hold(held[i], -o.class.spec.GPU.Milli)
			}
		}
	}
	g.resume(log)
	return v
}

// shift adds d pods of class c to node n while the rules r are tried on it; the caller takes them away again.
//
// kube-scheduler's what-ifs count for topology spread what its decisions do not: pods under the selector {}, and
// terminating ones (plugins/podtopologyspread/filtering.go, updateWithPod). They are kept apart in spreadRule.shift.
func (p *Profile) shift(r *rules, c *class, n topology.NodeID, d int32) {
	p.g.occupy(c, n, int64(d))
	if c.spec.Namespace != r.class.spec.Namespace {
		return
	}
	for i := range r.spread {
		s := &r.spread[i]
		if s.counter == nil || !s.selector.empty() && !c.spec.Terminating {
			continue
		}
		if e := s.counter.eligible; (e == nil || e.set.Has(n)) && s.selector.matches(c.spec.Labels) {
			s.shift += d
		}
	}
}

// lend takes the GPUs that a pod of the class would get on node n, and returns which, none if they don't fit.
func (g *Graph) lend(c *class, n topology.NodeID) uint64 {
	if c.spec.GPU.Count == 0 || g.nodes[n].extra == nil {
		return 0
	}
	gpu := &g.nodes[n].extra.gpu
	mask, err := gpu.Assign(&c.spec.GPU)
	if err != nil {
		return 0
	}
	gpu.Hold(mask, c.spec.GPU.Milli)
	return mask
}

// pause stops the dirty log during a what-if that will be undone; resume goes on with it.
func (g *Graph) pause() dirtyLog {
	l := g.log
	g.log = dirtyLog{paused: true}
	return l
}

func (g *Graph) resume(l dirtyLog) { g.log = l }

// skipsInterPod reports whether kube-scheduler leaves out InterPodAffinity for the class.
func (r *rules) skipsInterPod() bool {
	if len(r.affinity) > 0 || len(r.anti) > 0 {
		return false
	}
	for _, l := range r.class.matchers {
		for _, o := range l.matcher.owners {
			if o.antiPods > 0 {
				return false
			}
		}
	}
	return true
}

// verdict is the verdict for node n as the counts are.
func (p *Profile) verdict(r *rules, n topology.NodeID, rec *Reason) Verdict {
	if v := p.nodeOnly(r, n, rec); v.Rule != Feasible {
		return v
	}
	if v := p.spreadVerdict(r, n, rec); v.Rule != Feasible {
		return v
	}
	return p.interPodVerdict(r, n, rec)
}

func (p *Profile) nodeOnly(r *rules, n topology.NodeID, rec *Reason) Verdict {
	rule, resolvable := p.nodeVerdict(&r.static, n, rec)
	return Verdict{rule, resolvable}
}

// nodeVerdict applies the rules that look at node n alone.
func (p *Profile) nodeVerdict(r *static, n topology.NodeID, rec *Reason) (rule Rule, resolvable bool) {
	g := p.g
	s := &g.nodes[n]
	if r.match != nil && r.match.pinned && r.match.excludes(g.x.Name(n)) {
		return NodeAffinity, false
	}
	if s.unschedulable && !r.tolerator.unschedulable {
		return NodeUnschedulable, false
	}
	if r.tolerator.of(g, s.taints).refused {
		return TaintToleration, false
	}
	if r.match != nil && !r.match.set.Has(n) {
		return NodeAffinity, false
	}
	return p.loadVerdict(r, n, rec)
}

func (p *Profile) spreadVerdict(r *rules, n topology.NodeID, rec *Reason) Verdict {
	for i := range r.spread {
		s := &r.spread[i]
		v := p.g.x.Value(n, s.key)
		if v == topology.NoValue {
			p.note(rec, n, s.key)
			return Verdict{Rule: PodTopologySpread}
		}
		if s.counter == nil {
			continue
		}
		count := s.counter.counts.at(v)
		least := s.counter.stats.smallestShifted(s.minDomains, count, s.shift)
		count += s.shift
		if count+s.self-least > s.maxSkew {
			p.note(rec, n, s.key)
			if rec != nil {
				rec.Count, rec.Self, rec.Min, rec.MaxSkew = count, s.self, least, s.maxSkew
			}
			return Verdict{PodTopologySpread, true}
		}
	}
	return Verdict{}
}

// note records the domain of node n for a key.
func (p *Profile) note(rec *Reason, n topology.NodeID, k topology.KeyID) {
	if rec == nil {
		return
	}
	rec.Key = p.g.x.KeyName(k)
	v := p.g.x.Value(n, k)
	rec.Missing = v == topology.NoValue
	if !rec.Missing {
		rec.Value = p.g.x.ValueName(topology.Domain{Key: k, Value: v})
	}
}

func (p *Profile) interPodVerdict(r *rules, n topology.NodeID, rec *Reason) Verdict {
	refuse := func(side Side, k topology.KeyID) Verdict {
		p.note(rec, n, k)
		if rec != nil {
			rec.Blocking = side
		}
		return Verdict{InterPodAffinity, side != OwnAffinity}
	}
	x := &p.g.x
	lacks := -1
	for i, ctr := range r.affinity {
		v := x.Value(n, ctr.key)
		if v == topology.NoValue {
			return refuse(OwnAffinity, ctr.key)
		}
		if ctr.counts.at(v) <= 0 && lacks < 0 {
			lacks = i
		}
	}
	if lacks >= 0 && !r.mayBeFirst() {
		return refuse(OwnAffinity, r.affinity[lacks].key)
	}
	for _, ctr := range r.anti {
		if v := x.Value(n, ctr.key); v != topology.NoValue && ctr.counts.at(v) > 0 {
			return refuse(OwnAntiAffinity, ctr.key)
		}
	}
	for _, l := range r.class.matchers {
		for _, o := range l.matcher.owners {
			if v := x.Value(n, o.key); v != topology.NoValue && o.anti.at(v) > 0 {
				return refuse(ExistingAntiAffinity, o.key)
			}
		}
	}
	return Verdict{}
}
