package affinity

import (
	"cmp"
	"math"
	"slices"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/topology"
)

// Candidate is a node that a pod could run on if some pods of lower priority were evicted from it.
type Candidate struct {
	Node string
	// Victims are the pods to evict, the most important first: by priority, then by earlier start.
	Victims []berth.PodKey
	// Violations is the number of victims whose eviction violates a disruption budget.
	Violations int
}

// Preemption is the outcome of Preempt.
type Preemption struct {
	// Candidates are all nodes where evictions would help, in the order of NodeID.
	Candidates []Candidate
	// Chosen is the index of the best candidate, -1 if there is none.
	Chosen int
}

// Preempt finds where a pod that is feasible nowhere could run if pods of lower priority were evicted, and which evictions
// that takes; it changes nothing. On each node that a resolvable rule refuses all pods of lower priority are taken away;
// if the pod then fits, as many as possible are put back, those first whose eviction would violate a budget. The best
// candidate has the fewest violations, then the lowest highest priority, the smallest sum of priorities (each plus 2^31),
// the fewest victims, the latest start of its most important victim; then the graph's order decides.
//
// A pod that must not preempt, or for which a node is being emptied already, gets no candidate. The error is a *berth.Fault.
// Source: plugins/defaultpreemption/default_preemption.go and framework/preemption/preemption.go; all nodes are tried, none are
// sampled. O(nodes * rules + pods of the refused nodes * rules).
func (p *Profile) Preempt(pod *berth.Pod, budgets []berth.PodDisruptionBudget) (Preemption, error) {
	out := Preemption{Chosen: -1}
	for i := range budgets {
		if err := berth.ValidateBudget(&budgets[i]).Err(); err != nil {
			return out, err
		}
	}
	cl, err := p.g.validClass(pod)
	if err != nil {
		return out, err
	}
	r := p.planOf(cl).r
	if !p.mayPreempt(r, pod) {
		return out, nil
	}
	d := dryRun{p: p, r: r, pod: pod, budgets: compileBudgets(budgets), skip: r.skipsInterPod()}
	log := p.g.pause()
	defer p.g.resume(log)
	var best *rating
	for n := range p.g.x.Live().All() {
		if !p.verdictFor(r, pod, n, nil).Resolvable {
			continue
		}
		c, ok := d.try(n)
		if !ok {
			continue
		}
		rate := d.rate(n, c.Violations)
		if best == nil || rate.better(best) || !best.better(&rate) && p.g.before(n, best.node) {
			best, out.Chosen = &rate, len(out.Candidates)
		}
		out.Candidates = append(out.Candidates, c)
	}
	return out, nil
}

// mayPreempt reports whether the pod may preempt (default_preemption.go, PodEligibleToPreemptOthers).
func (p *Profile) mayPreempt(r *rules, pod *berth.Pod) bool {
	if pod.PreemptNever {
		return false
	}
	n, ok := p.g.x.Lookup(pod.NominatedNodeName)
	if !ok {
		return true
	}
	if v := p.verdictFor(r, pod, n, nil); v.Rule != Feasible && !v.Resolvable {
		return true
	}
	return !slices.ContainsFunc(p.g.nodes[n].pods, func(id podID) bool {
		spec := &p.g.classes[p.g.pods[id].class].spec
		return spec.Priority < pod.Priority && spec.Terminating && spec.Preempted
	})
}

// dryRun tries evictions for one pod.
type dryRun struct {
	p       *Profile
	r       *rules
	pod     *berth.Pod
	budgets []budget
	// skip: InterPodAffinity does not look at nominated pods (see withNominated).
	skip bool
	// victims of the node tried last, most important first.
	victims []podID
}

// try takes all pods of lower priority off node n, puts back what it can, and leaves the graph as it was.
func (d *dryRun) try(n topology.NodeID) (Candidate, bool) {
	g := d.p.g
	var potential []podID
	for _, id := range g.nodes[n].pods {
		if g.classes[g.pods[id].class].spec.Priority < d.pod.Priority {
			potential = append(potential, id)
		}
	}
	if len(potential) == 0 {
		return Candidate{}, false
	}
	for _, id := range potential {
		d.shift(id, n, -1)
	}
	d.victims = d.victims[:0]
	if !d.fits(n) {
		for _, id := range potential {
			d.shift(id, n, +1)
		}
		return Candidate{}, false
	}
	slices.SortStableFunc(potential, d.compare)
	violating, others := d.splitByBudgets(potential)
	violations := d.reprieve(n, violating)
	d.reprieve(n, others)
	slices.SortStableFunc(d.victims, d.compare)
	for _, id := range d.victims {
		d.shift(id, n, +1)
	}
	if len(d.victims) == 0 {
		return Candidate{}, false
	}
	c := Candidate{Node: g.x.Name(n), Violations: violations}
	for _, id := range d.victims {
		c.Victims = append(c.Victims, g.keyOf(id))
	}
	return c, true
}

// reprieve puts pods back as long as the preemptor fits beside them, and returns how many must go.
func (d *dryRun) reprieve(n topology.NodeID, pods []podID) (gone int) {
	for _, id := range pods {
		d.shift(id, n, +1)
		if !d.fits(n) {
			d.shift(id, n, -1)
			d.victims = append(d.victims, id)
			gone++
		}
	}
	return gone
}

// shift puts a pod back on node n or takes it off, with its GPUs.
func (d *dryRun) shift(id podID, n topology.NodeID, by int32) {
	g := d.p.g
	c := g.classes[g.pods[id].class]
	d.p.shift(d.r, c, n, by)
	if held := g.gpuHeld[id]; held != 0 {
		g.nodes[n].extra.gpu.Hold(held, int64(by)*c.spec.GPU.Milli)
	}
}

func (d *dryRun) fits(n topology.NodeID) bool {
	if e := d.p.g.nodes[n].extra; e != nil && len(e.nominated) > 0 {
		if d.p.withGuests(d.r, n, d.pod.Key(), d.skip, nil).Rule != Feasible {
			return false
		}
	}
	return d.p.verdict(d.r, n, nil).Rule == Feasible
}

// compare orders pods by importance, the most important first (framework/preemption/util.go, MoreImportantVictim).
func (d *dryRun) compare(a, b podID) int {
	g := d.p.g
	return cmp.Or(cmp.Compare(d.priority(b), d.priority(a)), cmp.Compare(g.started(a), g.started(b)))
}

func (d *dryRun) priority(id podID) int32 { return d.p.g.classes[d.p.g.pods[id].class].spec.Priority }

// started is the start of a pod; one that has not started counts as started last.
func (g *Graph) started(id podID) int64 {
	if s := g.pods[id].start; s != noStart {
		return s
	}
	return math.MaxInt64
}

// budget is a compiled disruption budget.
type budget struct {
	spec     *berth.PodDisruptionBudget
	selector selector
}

func compileBudgets(specs []berth.PodDisruptionBudget) []budget {
	var bs []budget
	for i := range specs {
		if b := (budget{&specs[i], compileSelector(specs[i].Selector)}); !b.selector.empty() {
			bs = append(bs, b)
		}
	}
	return bs
}

// splitByBudgets tells apart the pods whose eviction, in this order, violates a budget
// (framework/preemption/util.go, FilterVictimsWithPDBViolation).
func (d *dryRun) splitByBudgets(pods []podID) (violating, others []podID) {
	allowed := make([]int32, len(d.budgets))
	for i := range d.budgets {
		allowed[i] = d.budgets[i].spec.DisruptionsAllowed
	}
	for _, id := range pods {
		if d.violates(id, allowed) {
			violating = append(violating, id)
		} else {
			others = append(others, id)
		}
	}
	return violating, others
}

func (d *dryRun) violates(id podID, allowed []int32) bool {
	g := d.p.g
	spec := &g.classes[g.pods[id].class].spec
	if len(spec.Labels) == 0 {
		return false
	}
	for i := range d.budgets {
		b := &d.budgets[i]
		if b.spec.Namespace != spec.Namespace || !b.selector.matches(spec.Labels) || slices.Contains(b.spec.DisruptedPods, g.pods[id].name) {
			continue
		}
		if allowed[i]--; allowed[i] < 0 {
			return true
		}
	}
	return false
}

// rating is what candidates are compared by (framework/preemption/preemption.go, pickOneNodeForPreemption).
type rating struct {
	node       topology.NodeID
	violations int
	highest    int32
	sum        int64
	pods       int
	start      int64
}

// rate rates the candidate that was tried last.
func (d *dryRun) rate(n topology.NodeID, violations int) rating {
	r := rating{node: n, violations: violations, highest: d.priority(d.victims[0]), pods: len(d.victims), start: math.MaxInt64}
	for _, id := range d.victims {
		r.sum += int64(d.priority(id)) + math.MaxInt32 + 1
		if d.priority(id) == r.highest {
			r.start = min(r.start, d.p.g.started(id))
		}
	}
	return r
}

func (a *rating) better(b *rating) bool {
	return cmp.Or(
		cmp.Compare(a.violations, b.violations),
		cmp.Compare(a.highest, b.highest),
		cmp.Compare(a.sum, b.sum),
		cmp.Compare(a.pods, b.pods),
		cmp.Compare(b.start, a.start),
	) < 0
}
