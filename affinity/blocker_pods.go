package affinity

import (
	"cmp"
	"slices"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/topology"
)

// holders returns the pods of the node that hold a port which conflicts with port.
func (c *collector) holders(port berth.HostPort) []BlockingPod {
	g := c.p.g
	holds := func(cl *class) bool {
		s := nodeState{extra: &nodeExtra{}}
		for _, p := range cl.need.ports {
			s.extra.ports = append(s.extra.ports, portUse{p, 1})
		}
		return !s.portsFree([]berth.HostPort{port})
	}
	var pods []BlockingPod
	for _, id := range g.nodes[c.n].pods {
		if !c.gone[id] && holds(g.classes[g.pods[id].class]) {
			pods = append(pods, BlockingPod{Pod: g.keyOf(id), Node: g.x.Name(c.n)})
		}
	}
	return c.sorted(pods, holds)
}

// counted returns the pods that a spread constraint counts in domain v.
func (c *collector) counted(s *spreadRule, v topology.ValueID) []BlockingPod {
	pods := c.placed(s.counter.m.classes, s.counter.key, v, s.counter.eligible)
	return c.sorted(pods, func(cl *class) bool {
		// As in Profile.shift: what counts of a nominated pod is more than what counts of a placed one.
		return cl.spec.Namespace == c.r.class.spec.Namespace && s.selector.matches(cl.spec.Labels)
	})
}

// matching returns the pods in domain v that a term of the pod selects.
func (c *collector) matching(ctr *counter, v topology.ValueID) []BlockingPod {
	pods := c.placed(ctr.m.classes, ctr.key, v, ctr.eligible)
	return c.sorted(pods, func(cl *class) bool {
		return slices.ContainsFunc(cl.matchers, func(l matcherLink) bool { return l.matcher == ctr.m })
	})
}

// owning returns the pods in domain v whose anti-affinity is o, and the term of the first.
func (c *collector) owning(o *owners, v topology.ValueID) ([]BlockingPod, *berth.PodAffinityTerm) {
	var term *berth.PodAffinityTerm
	owns := func(cl *class) bool {
		nth := 0
		for i := range cl.owned {
			if cl.owned[i].kind != antiTerm {
				continue
			}
			if cl.owned[i].owners == o {
				if term == nil {
					term = &cl.spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution[nth]
				}
				return true
			}
			nth++
		}
		return false
	}
	var links []classLink
	for _, cl := range c.p.g.classes {
		if cl != nil && len(cl.pods) > 0 && owns(cl) {
			links = append(links, classLink{class: cl})
		}
	}
	return c.sorted(c.placed(links, o.key, v, nil), owns), term
}

// placed returns the pods of classes on eligible nodes of domain v. O(pods of the classes).
func (c *collector) placed(classes []classLink, key topology.KeyID, v topology.ValueID, e *eligibility) []BlockingPod {
	g := c.p.g
	var pods []BlockingPod
	for _, l := range classes {
		for _, id := range l.class.pods {
			n := g.pods[id].node
			if !c.gone[id] && g.x.Value(n, key) == v && (e == nil || e.set.Has(n)) {
				pods = append(pods, BlockingPod{Pod: g.keyOf(id), Node: g.x.Name(n)})
			}
		}
	}
	return pods
}

// sorted adds those of the nominated pods that are taken into account and are in the way too, and sorts.
func (c *collector) sorted(pods []BlockingPod, blocks func(*class) bool) []BlockingPod {
	for _, o := range c.lent {
		if blocks(o.class) {
			pods = append(pods, BlockingPod{Pod: o.key, Node: c.p.g.x.Name(c.n), Nominated: true})
		}
	}
	slices.SortFunc(pods, func(a, b BlockingPod) int {
		return cmp.Or(cmp.Compare(a.Node, b.Node), cmp.Compare(a.Pod.Namespace, b.Pod.Namespace), cmp.Compare(a.Pod.Name, b.Pod.Name))
	})
	return pods
}
