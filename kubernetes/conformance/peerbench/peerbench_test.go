package peerbench

import (
	"fmt"
	"testing"

	v1 "k8s.io/api/core/v1"

	"github.com/berth-go/berth/kubernetes/conformance"
	"github.com/berth-go/berth/kubernetes/conformance/fast"
	"github.com/berth-go/berth/kubernetes/conformance/kube"
)

func entries() []Entry {
	return []Entry{
		{"berth", func() (Peer, func(), error) {
			s, err := fast.New(&conformance.Cluster{})
			return s, func() {}, err
		}},
		{"kube", func() (Peer, func(), error) {
			s, err := kube.New(&conformance.Cluster{})
			return s, s.Close, err
		}},
	}
}

func TestEveryShapeRunsAndAgrees(t *testing.T) {
	for _, s := range Shapes() {
		t.Run(s.Name, func(t *testing.T) {
			out, err := Run(&s, Config{Nodes: 30, Pods: 60, Warmup: 1, Decisions: 10}, entries())
			if err != nil {
				t.Fatal(err)
			}
			if out.Agreed != 10 || out.Decisions != 10 {
				t.Errorf("%d of %d decisions agreed", out.Agreed, out.Decisions)
			}
			for _, r := range out.Results {
				if r.P50 <= 0 || r.P99 < r.P50 {
					t.Errorf("%s: p50 %v, p99 %v", r.Name, r.P50, r.P99)
				}
			}
		})
	}
}

// TestPlacedPodsObeyTheirRules checks what the rules of the shapes ask of placed pods: the clusters are ones that a scheduler
// could have made.
func TestPlacedPodsObeyTheirRules(t *testing.T) {
	const nodes, pods = 30, 90
	for _, s := range Shapes() {
		green, zones, names := map[string]int{}, map[string]map[string]bool{}, map[string]bool{}
		for i := range pods {
			p := s.placed(i, nodes)
			if names[p.Name] {
				t.Fatalf("%s: two pods %s", s.Name, p.Name)
			}
			names[p.Name] = true
			color := p.Labels["color"]
			if color == "green" {
				green[p.Spec.NodeName]++
			}
			if zones[color] == nil {
				zones[color] = map[string]bool{}
			}
			zones[color][zoneOf(t, p)] = true
		}
		for node, n := range green {
			if n > 1 {
				t.Errorf("%s: %d pods with anti-affinity on %s", s.Name, n, node)
			}
		}
		if len(zones["blue"]) > 1 {
			t.Errorf("%s: pods with affinity in %v", s.Name, zones["blue"])
		}
		if zones["grey"][zone(2)] {
			t.Errorf("%s: pods with node affinity in %v", s.Name, zones["grey"])
		}
	}
}

func zoneOf(t *testing.T, p *v1.Pod) string {
	t.Helper()
	var i int
	if _, err := fmt.Sscanf(p.Spec.NodeName, "node-%d", &i); err != nil {
		t.Fatal(err)
	}
	return zone(i % Zones)
}
