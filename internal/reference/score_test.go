package reference_test

import (
	"fmt"
	"testing"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/internal/reference"
)

const mib = int64(1) << 20

// hosts are nodes n1, n2, ... with their hostnames, and that many pods of app web on each.
func hosts(counts ...int) *reference.Cluster {
	c := &reference.Cluster{}
	for i, count := range counts {
		name := fmt.Sprint("n", i+1)
		c.Nodes = append(c.Nodes, node(name, host+"="+name))
		for k := range count {
			c.Pods = append(c.Pods, pod(fmt.Sprint(name, "-", k), name, 0, "app=web"))
		}
	}
	return c
}

// TestSoftSpreadScores gives fewer matching pods more: ln(domains+2) a pod, plus maxSkew-1, turned round
// (plugins/podtopologyspread/scoring.go).
func TestSoftSpreadScores(t *testing.T) {
	soft := func(key string, skew int32) func(*berth.Pod) {
		return spread(berth.TopologySpreadConstraint{TopologyKey: key, MaxSkew: skew, WhenUnsatisfiable: berth.ScheduleAnyway, LabelSelector: selector("app=web")})
	}
	web := pod("p", "", 0, "app=web")
	defaults := with(web, func(p *berth.Pod) { p.DefaultSpreadSelector = selector("app=web") })
	lame := hosts(1, 1, 0)
	delete(lame.Nodes[2].Labels, host)
	for _, c := range []struct {
		name    string
		cluster *reference.Cluster
		pod     berth.Pod
		want    string
	}{
		{"counts 4 3 2 1, maxSkew 3", hosts(4, 3, 2, 1), with(web, soft(host, 3)), "44 66 77 100"},
		{"counts 4 2 1, maxSkew 1", hosts(4, 2, 1), with(web, soft(host, 1)), "33 83 100"},
		{"no pods yet", hosts(0, 0), with(web, soft(host, 1)), "100 100"},
		{"a node without the key gets 0", lame, with(web, soft(host, 1)), "100 100 0"},
		{"a pod without constraints is not scored", hosts(2, 1), web, "0 0"},
		{"hard constraints do not score", hosts(1, 1), with(web, spread(berth.TopologySpreadConstraint{TopologyKey: host, LabelSelector: selector("app=web")})), "0 0"},
		{"the defaults are soft; what a node lacks is not counted there", hosts(2, 0), defaults, "40 100"},
		{"an own constraint switches them off", hosts(2, 0), with(defaults, soft("none", 1)), "0 0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := scores(t, c.cluster, c.pod, reference.PodTopologySpread); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

// TestNodeAffinityScores are the sums of weights, the largest scaled to 100 and cut.
func TestNodeAffinityScores(t *testing.T) {
	cluster := &reference.Cluster{Nodes: []berth.Node{node("n1", "a=1"), node("n2", "a=1", "b=1"), node("n3", "c=1")}}
	prefers := func(weights map[string]int32) berth.Pod {
		return with(pod("p", "", 0), func(p *berth.Pod) {
			p.Affinity = &berth.Affinity{NodeAffinity: &berth.NodeAffinity{}}
			for _, key := range []string{"a", "b", "c"} {
				p.Affinity.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution = append(p.Affinity.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution,
					berth.PreferredSchedulingTerm{Weight: weights[key], Preference: berth.NodeSelectorTerm{MatchExpressions: []berth.Requirement{{Key: key, Operator: berth.Exists}}}})
			}
		})
	}
	for _, c := range []struct {
		name    string
		weights map[string]int32
		want    string
	}{
		{"sums 2 11 4", map[string]int32{"a": 2, "b": 9, "c": 4}, "18 100 36"},
		{"a term of weight 0 is dropped", map[string]int32{"b": 3}, "0 100 0"},
		{"no sum at all", nil, "0 0 0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := scores(t, cluster, prefers(c.weights), reference.NodeAffinity); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
	bad := prefers(nil)
	bad.Affinity.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution[0] = berth.PreferredSchedulingTerm{
		Weight: 1, Preference: berth.NodeSelectorTerm{MatchExpressions: []berth.Requirement{{Key: "a", Operator: berth.Gt, Values: []string{"1.5"}}}},
	}
	if _, err := cluster.Score(&bad, []int{0}); err == nil {
		t.Error("a preferred term that does not parse is no error")
	}
}

// TestTaintScores count the PreferNoSchedule taints that are not tolerated.
func TestTaintScores(t *testing.T) {
	cluster := &reference.Cluster{Nodes: []berth.Node{node("n1"), node("n2"), node("n3")}}
	for i := range cluster.Nodes {
		for k := range i {
			cluster.Nodes[i].Taints = append(cluster.Nodes[i].Taints, berth.Taint{Key: fmt.Sprint("k", k), Effect: berth.PreferNoSchedule})
		}
	}
	if got, want := scores(t, cluster, pod("p", "", 0), reference.TaintToleration), "100 50 0"; got != want {
		t.Errorf("0, 1 and 2 taints: got %s, want %s", got, want)
	}
	all := with(pod("p", "", 0), func(p *berth.Pod) { p.Tolerations = []berth.Toleration{{Operator: berth.TolerationExists}} })
	if got, want := scores(t, cluster, all, reference.TaintToleration), "100 100 100"; got != want {
		t.Errorf("all tolerated: got %s, want %s", got, want)
	}
}

// TestInterPodAffinityScores are sums of weights, the least scaled to 0 and the most to 100.
func TestInterPodAffinityScores(t *testing.T) {
	preferred := func(weight int32, labels ...string) []berth.WeightedPodAffinityTerm {
		return []berth.WeightedPodAffinityTerm{{Weight: weight, PodAffinityTerm: term(host, labels...)}}
	}
	likes := func(p *berth.Pod) {
		p.Affinity = &berth.Affinity{PodAffinity: &berth.PodAffinity{PreferredDuringSchedulingIgnoredDuringExecution: preferred(10, "app=web")}}
	}
	dislikes := func(p *berth.Pod) {
		p.Affinity = &berth.Affinity{PodAntiAffinity: &berth.PodAntiAffinity{PreferredDuringSchedulingIgnoredDuringExecution: preferred(10, "app=web")}}
	}
	wanted := hosts(0, 0)
	wanted.Pods = append(wanted.Pods, with(pod("fan", "n2", 0, "app=web"), near(term(host, "app=new"))))
	none := int32(0)
	indifferent := *wanted
	indifferent.Config.HardPodAffinityWeight = &none
	for _, c := range []struct {
		name    string
		cluster *reference.Cluster
		pod     berth.Pod
		want    string
	}{
		{"counts 0 1 3", hosts(0, 1, 3), with(pod("p", "", 0), likes), "0 33 100"},
		{"to be apart turns it round", hosts(0, 1, 3), with(pod("p", "", 0), dislikes), "100 66 0"},
		{"all equal is 0", hosts(2, 2), with(pod("p", "", 0), likes), "0 0"},
		{"what placed pods require draws", wanted, pod("p", "", 0, "app=new"), "0 100"},
		{"unless its weight is 0", &indifferent, pod("p", "", 0, "app=new"), "0 0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := scores(t, c.cluster, c.pod, reference.InterPodAffinity); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

// TestResourceScores state the formulas of plugins/noderesources on an empty node of 4 cores and 8 GiB and one with
// a pod of 2 cores and 2 GiB.
func TestResourceScores(t *testing.T) {
	asks := func(milli, memory int64) berth.Pod {
		return with(pod("p", "", milli), func(p *berth.Pod) { p.Requests.Memory = memory })
	}
	old := asks(2000, 2*gib)
	old.Name, old.NodeName = "old", "n2"
	cluster := reference.Cluster{Nodes: []berth.Node{node("n1"), node("n2")}, Pods: []berth.Pod{old}}
	shape := []reference.ShapePoint{{Utilization: 0, Score: 0}, {Utilization: 100, Score: 10}}
	for _, c := range []struct {
		name   string
		config reference.Config
		pod    berth.Pod
		plugin string
		want   string
	}{
		{"least allocated: (75+75)/2, (25+50)/2", reference.Config{}, asks(1000, 2*gib), reference.NodeResourcesFit, "75 37"},
		{"a container without requests counts as 100m and 200 MiB", reference.Config{}, asks(0, 0), reference.NodeResourcesFit, "97 59"},
		{"most allocated", reference.Config{FitStrategy: reference.MostAllocated}, asks(1000, 2*gib), reference.NodeResourcesFit, "25 62"},
		{"a ratio that rises is most allocated", reference.Config{FitStrategy: reference.RequestedToCapacityRatio, FitShape: shape}, asks(1000, 2*gib), reference.NodeResourcesFit, "25 63"},
		{"balanced: no change is 75; a more even node gets more", reference.Config{}, asks(1000, 4*gib), reference.NodeResourcesBalancedAllocation, "68 81"},
		{"what changes nothing is 75", reference.Config{}, asks(1000, 2*gib), reference.NodeResourcesBalancedAllocation, "75 75"},
		{"a pod that requests nothing is not scored", reference.Config{}, asks(0, 0), reference.NodeResourcesBalancedAllocation, "0 0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			cluster.Config = c.config
			if got := scores(t, &cluster, c.pod, c.plugin); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

// TestImageScores: an image counts for the part of the nodes that have it, between 23 MiB and 1000 MiB an image of the pod
// (plugins/imagelocality).
func TestImageScores(t *testing.T) {
	cluster := &reference.Cluster{Nodes: []berth.Node{node("n1"), node("n2")}}
	cluster.Nodes[0].Images = []berth.ContainerImage{{Names: []string{"large:v1"}, SizeBytes: 1000 * mib}, {Names: []string{"small:v1"}, SizeBytes: 40 * mib}}
	for _, c := range []struct {
		name   string
		images []string
		want   string
	}{
		{"(500-23)/(1000-23)", []string{"large:v1"}, "48 0"},
		{"half of 40 MiB is below the least", []string{"small:v1"}, "0 0"},
		{"two images: (520-23)/(2000-23)", []string{"large:v1", "small:v1"}, "25 0"},
		{"none", nil, "0 0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := scores(t, cluster, with(pod("p", "", 0), func(p *berth.Pod) { p.Images = c.images }), reference.ImageLocality); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

// TestTotalIsTheWeightedSum with kube-scheduler's weights, and the best are all that have the highest.
func TestTotalIsTheWeightedSum(t *testing.T) {
	cluster := hosts(0, 0, 2)
	p := pod("p", "", 100)
	s, err := cluster.Score(&p, cluster.Feasible(&p))
	if err != nil {
		t.Fatal(err)
	}
	weights := map[string]int64{
		reference.TaintToleration: 3, reference.NodeAffinity: 2, reference.PodTopologySpread: 2, reference.InterPodAffinity: 2,
		reference.NodeResourcesFit: 1, reference.NodeResourcesBalancedAllocation: 1, reference.ImageLocality: 1,
	}
	for i := range cluster.Nodes {
		var sum int64
		for plugin, weight := range weights {
			sum += weight * s.ByPlugin[plugin][i]
		}
		if s.Total[i] != sum {
			t.Errorf("node %d: total %d, want %d", i, s.Total[i], sum)
		}
	}
	if got := fmt.Sprint(s.Best); got != "[0 1]" {
		t.Errorf("best %s, want the two empty nodes", got)
	}
}
