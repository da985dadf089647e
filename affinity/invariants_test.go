package affinity

import (
	"fmt"
	"maps"
	"slices"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/internal/ledger"
	"github.com/berth-go/berth/topology"
)

// walker holds a graph against a recount from its pods and nodes alone, and collects what differs.
type walker struct {
	g        *Graph
	profiles []*Profile
	faults   []error
}

// CheckInvariants recounts everything that a graph keeps up to date: usage, links, counters, sets, columns, references. The
// profiles must be all of the graph's. O(nodes * specs + pods * matchers).
func (g *Graph) CheckInvariants(profiles ...*Profile) error {
	w := &walker{g: g, profiles: profiles}
	w.pods()
	w.nodes()
	w.taints()
	w.images()
	w.nominations()
	w.classes()
	w.matchers()
	w.owners()
	w.counters()
	w.sets()
	w.plans()
	w.columns()
	if g.log.paused {
		w.fault("the log of changes is paused")
	}
	if len(w.faults) > 0 {
		return fmt.Errorf("%d faults, the first: %w", len(w.faults), w.faults[0])
	}
	return nil
}

func (w *walker) fault(format string, args ...any) {
	w.faults = append(w.faults, fmt.Errorf(format, args...))
}

// references compares a number of references, of which there is at least one as long as something is kept.
func (w *walker) references(to string, got, want int) {
	w.equal("references to "+to, got, want)
	if got <= 0 {
		w.fault("a %s is kept without a reference", to)
	}
}

func (w *walker) equal(what string, got, want any) {
	if got != want {
		w.fault("%s is %v, want %v", what, got, want)
	}
}

// live iterates over the classes.
func (w *walker) live(f func(*class)) {
	for _, c := range w.g.classes {
		if c != nil {
			f(c)
		}
	}
}

func (w *walker) pods() {
	g := w.g
	free := make(map[podID]bool)
	for _, id := range g.freePods {
		free[id] = true
	}
	w.equal("number of pods", g.podByKey.Len(), len(g.pods)-len(free))
	for i := range g.pods {
		id, p := podID(i), &g.pods[i]
		if free[id] {
			continue
		}
		if got, ok := g.lookup(g.keyOf(id)); !ok || got != id {
			w.fault("pod %v is found as %d %v, not %d", g.keyOf(id), got, ok, id)
		}
		if s := &g.nodes[p.node]; int(p.onNode) >= len(s.pods) || s.pods[p.onNode] != id {
			w.fault("pod %v is not at %d on its node", g.keyOf(id), p.onNode)
		}
		if c := g.classes[p.class]; c == nil || int(p.inClass) >= len(c.pods) || c.pods[p.inClass] != id {
			w.fault("pod %v is not at %d in its class", g.keyOf(id), p.inClass)
		}
	}
	onNodes, inClasses := 0, 0
	for n := range g.x.Live().All() {
		onNodes += len(g.nodes[n].pods)
	}
	w.live(func(c *class) { inClasses += len(c.pods) })
	w.equal("pods on nodes", onNodes, g.podByKey.Len())
	w.equal("pods in classes", inClasses, g.podByKey.Len())
}

// nodes recounts what the pods of each node use.
func (w *walker) nodes() {
	g := w.g
	for n := range g.x.Live().All() {
		s, name := &g.nodes[n], g.x.Name(n)
		want := nodeState{}
		for _, id := range s.pods {
			need := &g.classes[g.pods[id].class].need
			want.podCount++
			want.used.cpu += need.request.cpu
			want.used.memory += need.request.memory
			want.used.ephemeral += need.request.ephemeral
			want.scored.MilliCPU += need.scored.MilliCPU
			want.scored.Memory += need.scored.Memory
			for _, r := range need.scalars {
				want.addScalar(r.id).used += r.amount
			}
			for _, port := range need.ports {
				want.usePort(port, 1)
			}
		}
		w.equal("pods of "+name, s.podCount, want.podCount)
		w.equal("use of "+name, s.used, want.used)
		w.equal("scored use of "+name, s.scored, want.scored)
		for id := range int32(len(g.resourceNames)) {
			var got, wanted int64
			if sc := s.scalar(id); sc != nil {
				got = sc.used
			}
			if sc := want.scalar(id); sc != nil {
				wanted = sc.used
			}
			w.equal("use of "+g.resourceNames[id]+" on "+name, got, wanted)
		}
		w.ports(s, &want, name)
		w.gpus(n)
	}
}

func (w *walker) ports(got, want *nodeState, name string) {
	of := func(s *nodeState) map[berth.HostPort]int32 {
		m := make(map[berth.HostPort]int32)
		if s.extra != nil {
			for _, u := range s.extra.ports {
				m[u.port] += u.count
			}
		}
		return m
	}
	if !maps.Equal(of(got), of(want)) {
		w.fault("ports of %s are %v, want %v", name, of(got), of(want))
	}
}

func (w *walker) gpus(n topology.NodeID) {
	g := w.g
	s := &g.nodes[n]
	var have ledger.GPUs
	if s.extra != nil {
		have = s.extra.gpu
	}
	want := ledger.GPUs{Free: slices.Repeat([]int64{berth.GPUMilli}, len(have.Free))}
	for _, id := range s.pods {
		gpu := &g.classes[g.pods[id].class].spec.GPU
		held := 0
		for mask := g.gpuHeld[id]; mask != 0; mask &= mask - 1 {
			held++
		}
		w.equal("devices of "+g.keyOf(id).String(), held, gpu.Count)
		want.Hold(g.gpuHeld[id], gpu.Milli)
	}
	if !slices.Equal(have.Free, want.Free) {
		w.fault("free GPUs of %s are %v, want %v", g.x.Name(n), have.Free, want.Free)
	}
}

func (w *walker) taints() {
	g := w.g
	refs := make(map[int32]int)
	for n := range g.x.Live().All() {
		refs[g.nodes[n].taints]++
	}
	for id := range g.taintSets {
		w.equal(fmt.Sprint("references to taint set ", id), g.taintSets[id].refs, refs[int32(id)])
	}
	w.equal("taint sets by key", len(g.taintByKey), len(refs))
	for _, t := range g.tolerators {
		for id := range t.answers {
			a := t.answers[id]
			if !a.known {
				continue
			}
			fresh := tolerator{tolerations: t.tolerations}
			if want := fresh.of(g, int32(id)); a != want {
				w.fault("tolerance of taint set %d is %+v, want %+v", id, a, want)
			}
		}
	}
}

func (w *walker) images() {
	g := w.g
	nodes, users := make([]int32, len(g.images)), make([]int32, len(g.images))
	use := func(ids []int32) {
		for _, id := range ids {
			users[id]++
		}
	}
	for _, c := range g.classes {
		if c != nil {
			use(c.need.images)
		}
	}
	for _, p := range w.profiles {
		for pl := range p.allPlans() {
			use(pl.r.need.images)
		}
	}
	for c := g.columnsLRU.next; c != &g.columnsLRU; c = c.next {
		use(c.need.images)
	}
	for n := range g.x.Live().All() {
		if e := g.nodes[n].extra; e != nil {
			for _, im := range e.images {
				nodes[im.id]++
				users[im.id]++
			}
		}
	}
	for id, im := range g.images {
		w.equal("nodes with image "+im.name, im.nodes, nodes[id])
		w.equal("users of image "+im.name, im.users, users[id])
		if at, ok := g.imageByName[im.name]; im.users > 0 && (!ok || at != int32(id)) {
			w.fault("image %s is not found", im.name)
		}
	}
	w.equal("names of images", len(g.imageByName), len(g.images)-len(g.freeImages))
}

func (w *walker) nominations() {
	g := w.g
	promised := 0
	for n := range g.x.Live().All() {
		if e := g.nodes[n].extra; e != nil {
			promised += len(e.nominated)
			for _, o := range e.nominated {
				w.equal("node of the nomination of "+o.key.String(), g.nominations[o.key], n)
			}
		}
	}
	w.equal("nominations", len(g.nominations), promised)
}

// classes checks the indices of classes, who uses them, and the list of the idle.
func (w *walker) classes() {
	g := w.g
	users := make(map[*class]int)
	for _, p := range w.profiles {
		for pl := range p.allPlans() {
			users[pl.r.class]++
		}
	}
	for n := range g.x.Live().All() {
		if e := g.nodes[n].extra; e != nil {
			for _, o := range e.nominated {
				users[o.class]++
			}
		}
	}
	labels, idle := 0, 0
	w.live(func(c *class) {
		w.equal("class by its key", g.classByKey.get([]byte(c.key)), c)
		g.enc.class(&c.spec)
		w.equal("key of class", string(g.enc.buf), c.key)
		w.equal(fmt.Sprint("users of class ", c.id), c.users, users[c])
		w.equal(fmt.Sprint("idleness of class ", c.id), c.idle, c.users == 0 && len(c.pods) == 0)
		if c.idle {
			idle++
		}
		for k, v := range c.spec.Labels {
			labels++
			if !slices.Contains(g.classesByLabel[labelPair{k, v}], c) {
				w.fault("class %d is not found by label %s=%s", c.id, k, v)
			}
		}
	})
	w.equal("classes by key", g.classByKey.Len(), len(g.classes)-len(g.freeClasses))
	for _, cs := range g.classesByLabel {
		labels -= len(cs)
	}
	w.equal("classes missing by label", labels, 0)
	listed := 0
	for c := g.idle.idleNext; c != &g.idle; c = c.idleNext {
		listed++
	}
	w.equal("idle classes listed", listed, idle)
	w.equal("idle classes counted", g.idleLen, idle)
	if idle > g.cfg.MaxIdleClasses {
		w.fault("%d idle classes", idle)
	}
}

// matchers checks that links between classes and matchers are there where one matches the other, both ways.
func (w *walker) matchers() {
	g := w.g
	refs := make(map[*matcher]int)
	w.live(func(c *class) {
		for _, o := range c.owned {
			refs[o.owners.m]++
		}
		for j, l := range c.matchers {
			if l.at >= len(l.matcher.classes) || l.matcher.classes[l.at] != (classLink{c, j}) {
				w.fault("class %d's link %d has no counterpart", c.id, j)
			}
		}
	})
	indexed := len(g.matchersOfAll)
	for _, ms := range g.matchersByLabel {
		indexed += len(ms)
	}
	for key, m := range g.matchers {
		w.equal("key of matcher", m.key, key)
		w.references("matcher", m.refs, refs[m]+len(m.counters))
		links := 0
		w.live(func(c *class) {
			linked := slices.ContainsFunc(m.classes, func(l classLink) bool { return l.class == c })
			if m.matches(g, c) != linked {
				w.fault("class %d of %v is linked: %v, to a matcher of %+v", c.id, c.spec.Labels, linked, m.terms)
			}
			if linked {
				links++
			}
		})
		w.equal("links of matcher", len(m.classes), links)
		if p := m.pivot(); p == nil {
			indexed--
		} else {
			indexed -= len(p.values)
		}
	}
	w.equal("matchers indexed too often", indexed, 0)
}

// sameCounts compares counts with a recount.
func (w *walker) sameCounts(what string, got *counts, want map[topology.ValueID]int32) {
	used := 0
	for v, k := range want {
		if k != 0 {
			used++
		}
		if got.at(v) != k {
			w.fault("%s: %d is counted in domain %d, want %d", what, got.at(v), v, k)
		}
	}
	each := 0
	got.each(func(topology.ValueID) { each++ })
	w.equal(what+": domains counted", each, used)
	w.equal(what+": domains used", got.used, used)
}

// recount counts the pods of the classes that f gives a number other than 0 for, by domain.
func (w *walker) recount(domain func(topology.NodeID) topology.ValueID, f func(*class) int32) map[topology.ValueID]int32 {
	sum := make(map[topology.ValueID]int32)
	w.live(func(c *class) {
		d := f(c)
		if d == 0 {
			return
		}
		for _, id := range c.pods {
			if v := domain(w.g.pods[id].node); v != topology.NoValue {
				sum[v] += d
			}
		}
	})
	return sum
}

func (w *walker) owners() {
	g := w.g
	for _, m := range g.matchers {
		for _, o := range m.owners {
			refs := 0
			w.live(func(c *class) {
				for _, t := range c.owned {
					if t.owners == o {
						refs++
					}
				}
			})
			w.references("owners", o.refs, refs)
			domain := func(n topology.NodeID) topology.ValueID { return g.x.Value(n, o.key) }
			of := func(kind termKind) map[topology.ValueID]int32 {
				return w.recount(domain, func(c *class) (sum int32) {
					for _, t := range c.owned {
						if t.owners == o && t.kind == kind {
							sum += t.weight
						}
					}
					return sum
				})
			}
			anti := of(antiTerm)
			w.sameCounts("owners of anti-affinity", &o.anti, anti)
			w.sameCounts("owners of affinity", &o.hard, of(hardTerm))
			w.sameCounts("owners of wishes", &o.soft, of(softTerm))
			var sum int32
			for _, k := range anti {
				sum += k
			}
			w.equal("pods with anti-affinity", o.antiPods, int(sum))
		}
	}
}

func (w *walker) counters() {
	g := w.g
	refs := make(map[*counter]int)
	for _, p := range w.profiles {
		for pl := range p.allPlans() {
			for _, c := range pl.r.allCounters() {
				refs[c]++
			}
		}
	}
	withStats := 0
	for _, m := range g.matchers {
		for _, c := range m.counters {
			w.references("counter", c.refs, refs[c])
			want := w.recount(func(n topology.NodeID) topology.ValueID {
				if c.eligible != nil && !c.eligible.matches(g, n) {
					return topology.NoValue
				}
				return c.domain(g, n)
			}, func(cl *class) int32 {
				if m.matches(g, cl) {
					return 1
				}
				return 0
			})
			w.sameCounts("counter", &c.counts, want)
			total := 0
			for _, k := range want {
				total += int(k)
			}
			w.equal("total of counter", c.total, total)
			if c.stats != nil {
				withStats++
				w.stats(c)
			}
		}
	}
	for _, d := range g.domains {
		withStats -= len(d.counters)
	}
	w.equal("counters missing among domains", withStats, 0)
}

// allCounters are the counters that the rules hold a reference to.
func (r *rules) allCounters() []*counter {
	all := slices.Concat(r.affinity, r.anti)
	for _, t := range r.soft {
		all = append(all, t.counter)
	}
	for _, s := range r.spread {
		if s.counter != nil {
			all = append(all, s.counter)
		}
	}
	for _, s := range r.scored {
		if s.counter != nil {
			all = append(all, s.counter)
		}
	}
	return all
}

// stats recounts the domains of a counter and the histogram of its counts.
func (w *walker) stats(c *counter) {
	g, s := w.g, c.stats
	nodes := make(map[topology.ValueID]int32)
	for n := range g.x.Live().All() {
		if c.eligible == nil || c.eligible.matches(g, n) {
			if v := g.x.Value(n, c.key); v != topology.NoValue {
				nodes[v]++
			}
		}
	}
	w.equal("eligible domains", s.n, len(nodes))
	for v, k := range s.nodes {
		w.equal(fmt.Sprint("eligible nodes of domain ", v), k, nodes[topology.ValueID(v)])
	}
	hist := make([]int32, len(s.hist))
	least := int32(1 << 30)
	for v := range nodes {
		k := c.counts.at(v)
		if int(k) >= len(hist) {
			w.fault("histogram ends before count %d", k)
			return
		}
		hist[k]++
		least = min(least, k)
	}
	if !slices.Equal(hist, s.hist) {
		w.fault("histogram is %v, want %v", s.hist, hist)
	}
	if len(nodes) > 0 {
		w.equal("smallest count", s.min, least)
	}
}

// sets evaluates node selections and eligibility for each node, and counts who refers to them.
func (w *walker) sets() {
	g := w.g
	matchers, tolerators, eligible := make(map[*nodeMatcher]int), make(map[*tolerator]int), make(map[*eligibility]int)
	static := func(s *static) {
		matchers[s.match]++
		tolerators[s.tolerator]++
		for _, p := range s.preferred {
			matchers[p.m]++
		}
	}
	for _, p := range w.profiles {
		for pl := range p.allPlans() {
			static(&pl.r.static)
		}
	}
	for c := g.columnsLRU.next; c != &g.columnsLRU; c = c.next {
		static(&c.static)
	}
	for _, l := range g.eligibilities {
		matchers[l.match]++
		tolerators[l.tolerator]++
	}
	for _, m := range g.matchers {
		for _, c := range m.counters {
			eligible[c.eligible]++
		}
	}
	for _, m := range g.nodeMatchers {
		w.references("node matcher", m.refs, matchers[m])
		w.set("node matcher", &m.set, func(n topology.NodeID) bool { return m.matches(&g.x, n) })
	}
	for _, t := range g.tolerators {
		w.references("tolerator", t.refs, tolerators[t])
	}
	for _, l := range g.eligibilities {
		w.references("eligibility", l.refs, eligible[l])
		w.set("eligibility", &l.set, func(n topology.NodeID) bool { return l.matches(g, n) })
	}
}

func (w *walker) set(what string, got *topology.NodeSet, in func(topology.NodeID) bool) {
	var want topology.NodeSet
	for n := range w.g.x.Live().All() {
		want.Set(n, in(n))
	}
	if !got.Equal(&want) {
		w.fault("%s has nodes %v, want %v", what, got.AppendTo(nil), want.AppendTo(nil))
	}
}
