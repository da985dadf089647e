package affinity

import (
	"cmp"
	"slices"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/topology"
)

// MaxBlockingPods is how many pods a Blocker names at most.
const MaxBlockingPods = 100

// users counts the pods of a node that hold a port which conflicts with port.
func (s *nodeState) users(port berth.HostPort) int {
	n := 0
	for _, u := range s.extra.ports {
		if one := (nodeState{extra: &nodeExtra{ports: []portUse{u}}}); !one.portsFree([]berth.HostPort{port}) {
			n += int(u.count)
		}
	}
	return n
}

// holders returns the pods of the node that hold a port which conflicts with port.
func (c *collector) holders(port berth.HostPort) func() []BlockingPod {
	g, lent := c.p.g, c.lent
	holds := func(cl *class) bool {
		s := nodeState{extra: &nodeExtra{}}
		for _, p := range cl.need.ports {
			s.extra.ports = append(s.extra.ports, portUse{p, 1})
		}
		return s.users(port) > 0
	}
	return func() []BlockingPod {
		pods := c.some(nil, g.nodes[c.n].pods, func(id podID) bool { return holds(g.classes[g.pods[id].class]) })
		return c.named(pods, lent, holds)
	}
}

// counted returns the pods that a spread constraint counts in domain v.
func (c *collector) counted(s *spreadRule, v topology.ValueID) func() []BlockingPod {
	lent := c.lent
	return func() []BlockingPod {
		return c.inDomain(s.counter.m.classes, s.counter.key, v, s.counter.eligible, lent, func(cl *class) bool {
			// As in Profile.shift: what counts of a nominated pod is more than what counts of a placed one.
			return cl.spec.Namespace == c.r.class.spec.Namespace && s.selector.matches(cl.spec.Labels)
		})
	}
}

// matching returns the pods in domain v that a term of the pod selects.
func (c *collector) matching(ctr *counter, v topology.ValueID) func() []BlockingPod {
	lent := c.lent
	return func() []BlockingPod {
		return c.inDomain(ctr.m.classes, ctr.key, v, nil, lent, func(cl *class) bool {
			return slices.ContainsFunc(cl.matchers, func(l matcherLink) bool { return l.matcher == ctr.m })
		})
	}
}

// owning returns the pods in domain v whose anti-affinity is o.
func (c *collector) owning(o *owners, v topology.ValueID) func() []BlockingPod {
	lent := c.lent
	owns := func(cl *class) bool { return cl.antiTerm(o) != nil }
	return func() []BlockingPod {
		var links []classLink
		for _, cl := range c.p.g.classes {
			if cl != nil && len(cl.pods) > 0 && owns(cl) {
				links = append(links, classLink{class: cl})
			}
		}
		return c.inDomain(links, o.key, v, nil, lent, owns)
	}
}

// term returns the anti-affinity of a class whose anti-affinity is o. O(classes).
func (o *owners) term(g *Graph) *berth.PodAffinityTerm {
	for _, cl := range g.classes {
		if cl != nil {
			if t := cl.antiTerm(o); t != nil {
				return t
			}
		}
	}
	return nil
}

// antiTerm returns the required anti-affinity term of the class that o counts, nil if it has none.
func (c *class) antiTerm(o *owners) *berth.PodAffinityTerm {
	nth := 0
	for i := range c.owned {
		if c.owned[i].kind != antiTerm {
			continue
		}
		if c.owned[i].owners == o {
			return &c.spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution[nth]
		}
		nth++
	}
	return nil
}

// inDomain returns the pods of the classes, those that a nominated pod is one of if blocks says so, on eligible nodes of
// domain v. O(pods of the classes) or O(pods of the domain), whichever is less, but no more once there are enough.
func (c *collector) inDomain(classes []classLink, key topology.KeyID, v topology.ValueID, e *eligibility, lent []nominated, blocks func(*class) bool) []BlockingPod {
	g := c.p.g
	there := func(id podID) bool {
		n := g.pods[id].node
		return g.x.Value(n, key) == v && (e == nil || e.set.Has(n))
	}
	total := 0
	for _, l := range classes {
		total += len(l.class.pods)
	}
	d := topology.Domain{Key: key, Value: v}
	const perNode = 16 // about how many pods a node has
	var pods []podID
	if total < perNode*g.x.Size(d) {
		for _, l := range classes {
			pods = c.some(pods, l.class.pods, there)
		}
	} else {
		of := make(map[classID]bool, len(classes))
		for _, l := range classes {
			of[l.class.id] = true
		}
		for n := range g.x.Nodes(d) {
			pods = c.some(pods, g.nodes[n].pods, func(id podID) bool { return of[g.pods[id].class] && there(id) })
			if len(pods) >= MaxBlockingPods {
				break
			}
		}
	}
	return c.named(pods, lent, blocks)
}

// some adds pods of from that are in, until there are enough.
func (c *collector) some(pods, from []podID, in func(podID) bool) []podID {
	for _, id := range from {
		if len(pods) >= MaxBlockingPods {
			break
		}
		if !c.gone[id] && in(id) {
			pods = append(pods, id)
		}
	}
	return pods
}

// named returns the pods, and the nominated pods taken into account that are in the way too, sorted and not too many.
func (c *collector) named(placed []podID, lent []nominated, blocks func(*class) bool) []BlockingPod {
	g := c.p.g
	var pods []BlockingPod
	for _, o := range lent {
		if blocks(o.class) {
			pods = append(pods, BlockingPod{Pod: o.key, Node: g.x.Name(c.n), Nominated: true})
		}
	}
	for _, id := range placed {
		pods = append(pods, BlockingPod{Pod: g.keyOf(id), Node: g.x.Name(g.pods[id].node)})
	}
	slices.SortFunc(pods, func(a, b BlockingPod) int {
		return cmp.Or(cmp.Compare(a.Node, b.Node), cmp.Compare(a.Pod.Namespace, b.Pod.Namespace), cmp.Compare(a.Pod.Name, b.Pod.Name))
	})
	return pods[:min(len(pods), MaxBlockingPods)]
}
