package benchmarks_test

import (
	"bytes"
	"compress/flate"
	"encoding/json"
	"fmt"
	"go/format"
	"math/big"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/affinity"
	"github.com/berth-go/berth/score"
)

// BenchmarkCold is a decision on a prepared pod and its binding when nothing that they need is in the caches of the CPU, as in a
// scheduler that does other work between two pods, beside the same with hot caches: 5,000 nodes, 5,000 pods, the shapes of
// kubernetes/conformance/peerbench without Kubernetes. Between preparing and deciding the caches are emptied; that is not timed.
//
//	go test -run xxx -bench Cold -benchtime 200x ./benchmarks
func BenchmarkCold(b *testing.B) {
	e := newEvictor()
	for _, s := range coldShapes() {
		b.Run("shape="+s.name, func(b *testing.B) {
			c := newColdCluster(b, s)
			var coldDecide, coldBind, cold, hotDecide, hotBind latencies
			for b.Loop() {
				decide, bind := c.place(b, e.evict)
				coldDecide, coldBind, cold = append(coldDecide, decide), append(coldBind, bind), append(cold, decide+bind)
			}
			for range 200 {
				decide, bind := c.place(b, nothing)
				hotDecide, hotBind = append(hotDecide, decide), append(hotBind, bind)
			}
			for _, l := range []struct {
				name string
				latencies
			}{{"cold", cold}, {"cold-decide", coldDecide}, {"cold-bind", coldBind}, {"hot-decide", hotDecide}, {"hot-bind", hotBind}} {
				slices.Sort(l.latencies)
				b.ReportMetric(float64(l.at(0.5)), l.name+"-p50-ns")
			}
			runtime.KeepAlive(c)
		})
	}
}

// coldCluster is a cluster of a shape.
type coldCluster struct {
	shape coldShape
	g     *affinity.Graph
	p     *score.Pipeline
	turn  int // number of the next pod, which says its kind
}

func newColdCluster(tb testing.TB, s coldShape) *coldCluster {
	const nodes, pods, warmup = 5000, 5000, 20
	g, err := affinity.New(affinity.Config{})
	if err != nil {
		tb.Fatal(err)
	}
	for i := range nodes {
		if err := g.AddNode(coldNode(i)); err != nil {
			tb.Fatal(err)
		}
	}
	p, err := score.New(g, score.KubeDefault())
	if err != nil {
		tb.Fatal(err)
	}
	for i := range pods {
		pod, node := s.existing(i, nodes)
		if err := g.Bind(pod, node); err != nil {
			tb.Fatal(err)
		}
	}
	c := &coldCluster{shape: s, g: g, p: p}
	for range warmup * len(s.kinds) {
		c.place(tb, nothing)
	}
	return c
}

func nothing() {}

// place prepares the next pod, waits, decides on it and binds it.
func (c *coldCluster) place(tb testing.TB, wait func()) (decide, bind time.Duration) {
	w, err := c.g.Prepare(c.shape.next(&c.turn))
	if err != nil {
		tb.Fatal(err)
	}
	wait()
	start := time.Now()
	d, err := c.p.DecidePrepared(w)
	decide = time.Since(start)
	if err != nil {
		tb.Fatal(err)
	}
	start = time.Now()
	err = c.g.BindPrepared(w, d.Node)
	bind = time.Since(start)
	if err != nil {
		tb.Fatal(err)
	}
	return decide, bind
}

// coldShape is a workload: the kinds of pods that come in turn.
type coldShape struct {
	name  string
	kinds []coldKind
}

// coldKind is a kind of pod.
type coldKind struct {
	color string
	rules func(*berth.Pod)
	// elsewhere kinds do not occur among the pods that are placed at the start.
	elsewhere bool
	// exclusive ones are alone on a node: a fifth of the placed pods is of the kind.
	exclusive bool
	// zones are those that placed pods of the kind may be in; 0 means all.
	zones int
}

func coldShapes() []coldShape {
	all := []coldShape{
		{"basic", []coldKind{{rules: func(*berth.Pod) {}}}},
		{"anti-affinity", []coldKind{{color: "green", exclusive: true, rules: func(p *berth.Pod) {
			p.Affinity = &berth.Affinity{PodAntiAffinity: &berth.PodAntiAffinity{
				RequiredDuringSchedulingIgnoredDuringExecution: []berth.PodAffinityTerm{coldTerm("green", berth.LabelHostname)},
			}}
		}}}},
		{"affinity", []coldKind{{color: "blue", zones: 1, rules: func(p *berth.Pod) {
			p.Affinity = &berth.Affinity{PodAffinity: &berth.PodAffinity{
				RequiredDuringSchedulingIgnoredDuringExecution: []berth.PodAffinityTerm{coldTerm("blue", berth.LabelZone)},
			}}
		}}}},
		{"preferred-affinity", []coldKind{{color: "red", rules: func(p *berth.Pod) {
			p.Affinity = &berth.Affinity{PodAffinity: &berth.PodAffinity{
				PreferredDuringSchedulingIgnoredDuringExecution: []berth.WeightedPodAffinityTerm{{Weight: 1, PodAffinityTerm: coldTerm("red", berth.LabelHostname)}},
			}}
		}}}},
		{"preferred-anti-affinity", []coldKind{{color: "yellow", rules: func(p *berth.Pod) {
			p.Affinity = &berth.Affinity{PodAntiAffinity: &berth.PodAntiAffinity{
				PreferredDuringSchedulingIgnoredDuringExecution: []berth.WeightedPodAffinityTerm{{Weight: 1, PodAffinityTerm: coldTerm("yellow", berth.LabelHostname)}},
			}}
		}}}},
		{"hard-spread", []coldKind{{color: "purple", elsewhere: true, rules: coldSpread("purple", berth.DoNotSchedule)}}},
		{"soft-spread", []coldKind{{color: "orange", elsewhere: true, rules: coldSpread("orange", berth.ScheduleAnyway)}}},
		{"node-affinity", []coldKind{{color: "grey", zones: 2, rules: func(p *berth.Pod) {
			p.Affinity = &berth.Affinity{NodeAffinity: &berth.NodeAffinity{
				RequiredDuringSchedulingIgnoredDuringExecution: &berth.NodeSelector{NodeSelectorTerms: []berth.NodeSelectorTerm{{
					MatchExpressions: []berth.Requirement{{Key: berth.LabelZone, Operator: berth.In, Values: []string{zones[0], zones[1]}}},
				}}},
			}}
		}}}},
	}
	mixed := coldShape{name: "mixed"}
	for _, s := range all {
		mixed.kinds = append(mixed.kinds, s.kinds...)
	}
	return append(all, mixed)
}

func coldTerm(color, key string) berth.PodAffinityTerm {
	return berth.PodAffinityTerm{
		LabelSelector: &berth.LabelSelector{MatchLabels: map[string]string{"color": color}},
		Namespaces:    []string{"sched-0", "sched-1"},
		TopologyKey:   key,
	}
}

func coldSpread(color string, action berth.UnsatisfiableConstraintAction) func(*berth.Pod) {
	return func(p *berth.Pod) {
		p.TopologySpreadConstraints = []berth.TopologySpreadConstraint{{
			MaxSkew: 5, TopologyKey: berth.LabelZone, WhenUnsatisfiable: action,
			LabelSelector: &berth.LabelSelector{MatchLabels: map[string]string{"color": color}},
		}}
	}
}

func coldName(i int) string { return fmt.Sprint("node-", i) }

func coldNode(i int) *berth.Node {
	name := coldName(i)
	return &berth.Node{
		Name:        name,
		Labels:      map[string]string{berth.LabelHostname: name, berth.LabelZone: zones[i%3]},
		Allocatable: berth.Resources{MilliCPU: 4000, Memory: 32 << 30, Pods: 110},
	}
}

// next returns the pod whose turn it is.
func (s *coldShape) next(turn *int) *berth.Pod {
	*turn++
	return s.kinds[(*turn-1)%len(s.kinds)].pod("sched-1", *turn-1)
}

func (k *coldKind) pod(namespace string, i int) *berth.Pod {
	p := &berth.Pod{
		Namespace: namespace, Name: fmt.Sprint("pod-", i),
		Requests: berth.Resources{MilliCPU: 100, Memory: 500 << 20},
		Images:   []string{"registry.k8s.io/pause:3.10.2"},
	}
	p.UID = namespace + "/" + p.Name
	if k.color != "" {
		p.Labels = map[string]string{"color": k.color}
	}
	k.rules(p)
	return p
}

// existing returns placed pod number i and its node.
func (s *coldShape) existing(i, nodes int) (*berth.Pod, string) {
	k, turn, on := &s.kinds[i%len(s.kinds)], i/len(s.kinds), i%nodes
	if k.exclusive {
		on = turn / 5
	}
	if k.elsewhere || k.exclusive && turn%5 != 0 {
		k, on = &coldKind{rules: func(*berth.Pod) {}}, i%nodes
	}
	for k.zones > 0 && on%3 >= k.zones {
		on = (on + 1) % nodes
	}
	return k.pod("sched-0", i), coldName(on)
}

// evictor empties the caches: it walks a buffer of several times their size, which leaves no data and, as the second level
// holds instructions too, no code, and runs code that has nothing to do with decisions, so that branch predictors and what
// is read along are of other things.
type evictor struct {
	buffer []uint64
	source []byte
	sum    uint64
}

func newEvictor() *evictor {
	const size = 128 << 20 // the last level has 32 MiB on the machine of docs/perf
	e := &evictor{buffer: make([]uint64, size/8), source: []byte("package p\n" + strings.Repeat("func f(x int) int { return x*x+1 }\n", 50))}
	for i := range e.buffer {
		e.buffer[i] = uint64(i)
	}
	return e
}

func (e *evictor) evict() {
	var out bytes.Buffer
	w, _ := flate.NewWriter(&out, flate.BestSpeed)
	_, _ = w.Write(e.source)
	_ = w.Close()
	text, _ := format.Source(e.source)
	list, _ := json.Marshal(strings.Fields(string(text)))
	e.sum += uint64(len(regexp.MustCompile(`[a-z]+\s*\(`).FindAllIndex(list, -1)))
	e.sum += new(big.Int).Exp(big.NewInt(3), big.NewInt(500), nil).Uint64()
	for i := 0; i < len(e.buffer); i += 8 { // a line
		e.sum += e.buffer[i]
	}
	e.buffer[0] = e.sum
}
