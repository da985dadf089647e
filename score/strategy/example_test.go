package strategy_test

import (
	"fmt"
	"time"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/affinity"
	"github.com/berth-go/berth/numa"
	"github.com/berth-go/berth/score"
	"github.com/berth-go/berth/score/strategy"
)

// cluster is a graph of nodes with 8 cores; each is a name and labels in pairs.
func cluster(nodes ...[]string) *affinity.Graph {
	g, err := affinity.New(affinity.Config{})
	if err != nil {
		panic(err)
	}
	for _, n := range nodes {
		spec := berth.Node{Name: n[0], Labels: map[string]string{}, Allocatable: berth.Resources{MilliCPU: 8000, Memory: 32 << 30, Pods: 110}}
		for i := 1; i < len(n); i += 2 {
			spec.Labels[n[i]] = n[i+1]
		}
		if err := g.AddNode(&spec); err != nil {
			panic(err)
		}
	}
	return g
}

// decide prints where a pod goes under one strategy alone.
func decide(g *affinity.Graph, s score.Scorer, p *berth.Pod) {
	pipeline, err := score.New(g, score.Only(s))
	if err != nil {
		fmt.Println(err)
		return
	}
	d, err := pipeline.Decide(p)
	fmt.Println(d.Node, d.Score, err)
}

// Two nodes are as busy now; by their days so far, one is about to become busier.
func ExampleForecast() {
	model, err := strategy.NewHoltWinters(strategy.HoltWintersConfig{
		Interval: 6 * time.Hour, Season: 4, Horizon: 12 * time.Hour, Alpha: 0.4, Beta: 0.1, Gamma: 0.3,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	midnight := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	days := map[string][]float64{"office": {1000, 2000, 6000, 2000}, "batch": {6000, 2000, 1000, 2000}}
	for quarter := range 10 { // two days and a half: it is noon
		for _, node := range []string{"office", "batch"} {
			at := midnight.Add(time.Duration(quarter) * 6 * time.Hour)
			if err := model.Observe(node, at, days[node][quarter%4]); err != nil {
				fmt.Println(err)
			}
		}
	}
	s, err := strategy.NewForecast(strategy.ForecastConfig{Model: model})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, node := range []string{"office", "batch"} {
		peak, _ := model.Peak(node)
		fmt.Printf("%s: %.0f\n", node, peak)
	}
	decide(cluster([]string{"office"}, []string{"batch"}), s, &berth.Pod{
		Namespace: "d", Name: "p", Requests: berth.Resources{MilliCPU: 1000},
	})
	// Output:
	// office: 6000
	// batch: 2000
	// batch 63 <nil>
}

func ExampleBandwidth() {
	s, err := strategy.NewBandwidth(strategy.BandwidthConfig{
		Use: func(p *berth.Pod) float64 { return 5 * float64(p.Requests.MilliCPU) }, // 5 GB/s for each core
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(s.Set("ddr4", strategy.NodeBandwidth{Capacity: 100_000, Used: 30_000}))
	fmt.Println(s.Set("ddr5", strategy.NodeBandwidth{Capacity: 300_000, Used: 120_000}))
	decide(cluster([]string{"ddr4"}, []string{"ddr5"}), s, &berth.Pod{
		Namespace: "d", Name: "p", Requests: berth.Resources{MilliCPU: 4000},
	})
	// Output:
	// <nil>
	// <nil>
	// ddr5 53 <nil>
}

// Two machines have two GPUs each, linked well on one.
func ExampleNUMA() {
	s, err := strategy.NewNUMA(strategy.NUMAConfig{Devices: []string{"example.com/gpu"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	g, err := affinity.New(affinity.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for name, far := range map[string]int{"far": 1, "near": 0} {
		machine := &numa.Machine{Nodes: []numa.Node{{ID: 0}, {ID: 1}}}
		for i, at := range []int{0, far} {
			machine.CPUs = append(machine.CPUs, numa.CPU{ID: i, Core: i, Package: i, Node: i})
			machine.Devices = append(machine.Devices, numa.Device{
				Name: fmt.Sprint("gpu", i), Resource: "example.com/gpu", Kind: numa.DeviceGPU, Nodes: numa.MaskOf(at),
			})
		}
		layout, err := numa.Compile(machine)
		if err != nil {
			fmt.Println(err)
			return
		}
		state, err := numa.NewState(layout, numa.Config{Policy: numa.PolicyBestEffort})
		if err != nil {
			fmt.Println(err)
			return
		}
		offer := berth.Resources{MilliCPU: 2000, Pods: 9, Scalar: map[string]int64{"example.com/gpu": 2}}
		if err := g.AddNode(&berth.Node{Name: name, Allocatable: offer}); err != nil || s.Set(name, state) != nil {
			fmt.Println(err)
		}
	}
	decide(g, s, &berth.Pod{Namespace: "d", Name: "p", Requests: berth.Resources{Scalar: map[string]int64{"example.com/gpu": 2}}})
	// Output: near 100 <nil>
}

// What a reclaim costs decides between a spot node and one that stays.
func ExampleSpot() {
	s, err := strategy.NewSpot(strategy.SpotConfig{
		Offers: []strategy.Offer{
			{Labels: map[string]string{"capacity": "spot"}, Price: strategy.Price{Hourly: 0.30, Reclaims: 0.05}},
			{Price: strategy.Price{Hourly: 1.00}},
		},
		Lost:  func(p *berth.Pod) float64 { return map[string]float64{"hours": 20, "seconds": 0.01}[p.Labels["loses"]] },
		Whole: true,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	g := cluster([]string{"stays"}, []string{"cheap", "capacity", "spot"})
	for _, loses := range []string{"seconds", "hours"} {
		decide(g, s, &berth.Pod{Namespace: "d", Name: "p", Labels: map[string]string{"loses": loses}})
	}
	// Output:
	// cheap 70 <nil>
	// stays 24 <nil>
}

func ExampleInterference() {
	group := func(name string) strategy.PodGroup {
		return strategy.PodGroup{Name: name, Labels: map[string]string{"kind": name}}
	}
	s, err := strategy.NewInterference(strategy.InterferenceConfig{
		Groups: []strategy.PodGroup{group("latency"), group("stream")},
		Slowdown: [][]float64{
			{0.05, 0.40}, // what latency-bound pods suffer from each other, and from streaming ones
			{0.02, 0.15},
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	g := cluster([]string{"one"}, []string{"two"})
	pod := func(name, kind string) *berth.Pod {
		return &berth.Pod{Namespace: "d", Name: name, Labels: map[string]string{"kind": kind}}
	}
	fmt.Println(g.Bind(pod("a", "stream"), "one"), g.Bind(pod("b", "latency"), "two"), g.Bind(pod("c", "latency"), "two"))
	decide(g, s, pod("p", "latency"))
	decide(g, s, pod("p", "stream"))
	// Output:
	// <nil> <nil> <nil>
	// two 83 <nil>
	// one 77 <nil>
}

func ExamplePeers() {
	app := func(name string) strategy.PodSelection {
		return strategy.PodSelection{Labels: map[string]string{"app": name}}
	}
	s, err := strategy.NewPeers(strategy.PeersConfig{
		Levels: []string{"zone", "rack"},
		Flows: []strategy.Flow{
			{From: app("web"), To: app("cache"), Rate: 800}, // Mbit/s
			{From: app("web"), To: app("log"), Rate: 100},
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	g := cluster([]string{"a1", "zone", "a", "rack", "1"}, []string{"a2", "zone", "a", "rack", "2"}, []string{"b1", "zone", "b", "rack", "1"})
	pod := func(name, app string) *berth.Pod {
		return &berth.Pod{Namespace: "d", Name: name, Labels: map[string]string{"app": app}}
	}
	fmt.Println(g.Bind(pod("cache", "cache"), "a2"), g.Bind(pod("log", "log"), "b1"))
	decide(g, s, pod("web", "web"))
	// Output:
	// <nil> <nil>
	// a2 89 <nil>
}

// The runtime is required here, by the filter; the security domain is preferred.
func ExampleIsolation() {
	runtime, err := strategy.NewIsolation(strategy.IsolationConfig{
		Name: "runtime", PodLabel: "runtime",
		Classes: []strategy.IsolationClass{{Value: "wasm", NodeLabels: map[string]string{"shim/wasm": "true"}}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	domain, err := strategy.NewIsolation(strategy.IsolationConfig{
		Name: "domain", PodLabel: "domain",
		Classes: []strategy.IsolationClass{{Value: "payments", Nodes: []string{"n2", "n3"}}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	cfg := score.Only(domain)
	cfg.Filters = []score.Filter{runtime}
	pipeline, err := score.New(cluster([]string{"n1", "shim/wasm", "true"}, []string{"n2", "shim/wasm", "true"}, []string{"n3"}), cfg)
	if err != nil {
		fmt.Println(err)
		return
	}
	d, err := pipeline.Decide(&berth.Pod{Namespace: "d", Name: "p", Labels: map[string]string{"runtime": "wasm", "domain": "payments"}})
	fmt.Println(d.Node, d.Feasible, err)
	_, err = pipeline.Decide(&berth.Pod{Namespace: "d", Name: "q", Labels: map[string]string{"runtime": "kvm"}})
	fmt.Println(err)
	// Output:
	// n2 2 <nil>
	// score: pod d/q: 0/3 nodes are available: 3 runtime
}
