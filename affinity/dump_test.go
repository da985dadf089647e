package affinity

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/berth-go/berth"
)

// Dump writes what a graph was told: namespaces, nodes, pods and nominations, but nothing of what it keeps for speed.
func (g *Graph) Dump() string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(g.namespaces)) {
		fmt.Fprintln(&b, "namespace", name, g.namespaces[name])
	}
	for n := range g.x.Live().All() {
		s := g.nodes[n]
		fmt.Fprint(&b, "node ", g.x.Name(n), " ", s.alloc, s.used, s.scored, s.podsAllowed, s.podCount, s.unschedulable, g.taintSets[s.taints].taints)
		for _, d := range g.x.Labels(n) {
			fmt.Fprintf(&b, " %s=%s", g.x.KeyName(d.Key), g.x.ValueName(d))
		}
		if s.extra != nil {
			// Neither the order of these nor a resource of which nothing is left says anything.
			scalars := slices.DeleteFunc(slices.Clone(s.extra.scalars), func(sc scalar) bool { return sc.alloc == 0 && sc.used == 0 })
			slices.SortFunc(scalars, func(a, b scalar) int { return cmp.Compare(a.id, b.id) })
			ports := slices.Clone(s.extra.ports)
			slices.SortFunc(ports, func(a, b portUse) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
			fmt.Fprint(&b, " ", scalars, ports, s.extra.images, s.extra.gpu)
			for _, o := range s.extra.nominated {
				fmt.Fprint(&b, " promised to ", o.key)
			}
		}
		fmt.Fprintln(&b)
		var keys []berth.PodKey
		for _, id := range s.pods {
			keys = append(keys, g.keyOf(id))
		}
		slices.SortFunc(keys, func(a, b berth.PodKey) int { return strings.Compare(a.String(), b.String()) })
		for _, key := range keys {
			id, _ := g.lookup(key)
			p := &g.pods[id]
			fmt.Fprintf(&b, "  pod %v %q devices %b\n", key, g.classes[p.class].key, g.gpuHeld[id])
		}
	}
	return b.String()
}
