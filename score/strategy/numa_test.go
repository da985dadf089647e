package strategy_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/numa"
	"github.com/berth-go/berth/score"
	"github.com/berth-go/berth/score/strategy"
)

const gpu = "example.com/gpu"

// machineOf is a machine of NUMA nodes with so many CPUs, a core each, 100 bytes, and two GPUs each.
func machineOf(nodes, cpus int) *numa.Machine {
	m := &numa.Machine{}
	for n := range nodes {
		m.Nodes = append(m.Nodes, numa.Node{ID: n, Memory: []numa.Memory{{Bytes: 100}}})
		for c := range cpus {
			id := n*cpus + c
			m.CPUs = append(m.CPUs, numa.CPU{ID: id, Core: id, Package: n, Node: n})
		}
		for range 2 {
			m.Devices = append(m.Devices, numa.Device{
				Name: fmt.Sprint("gpu", len(m.Devices)), Resource: gpu, Kind: numa.DeviceGPU, Nodes: numa.MaskOf(n),
			})
		}
	}
	return m
}

func stateOf(m *numa.Machine, cfg numa.Config) *numa.State {
	return must(numa.NewState(must(numa.Compile(m)), cfg))
}

// taken returns a state in which a pod has CPUs.
func taken(s *numa.State, cpus int) *numa.State {
	p := must(s.Plan(&numa.Request{Name: "taken", Containers: []numa.Container{{Name: "c", CPUs: cpus}}}))
	must(0, s.Apply(p))
	return s
}

func TestNUMAPrefersMachinesThatHoldThePodTogether(t *testing.T) {
	g := graphOf(t, node("one"), node("two"), node("full"), node("unknown"))
	s := must(strategy.NewNUMA(strategy.NUMAConfig{Terms: []strategy.NUMATerm{{Score: numa.ScoreFewestNodes, Weight: 2}}}))
	require.NoError(t, s.Set("one", stateOf(machineOf(2, 4), numa.Config{Policy: numa.PolicyBestEffort})))
	require.NoError(t, s.Set("two", stateOf(machineOf(2, 4), numa.Config{Policy: numa.PolicyBestEffort, ReservedCPUs: numa.CPUs(0, 1, 4, 5)})))
	require.NoError(t, s.Set("full", taken(stateOf(machineOf(1, 4), numa.Config{Policy: numa.PolicyBestEffort}), 2)))
	p := pod("p", 4000)
	require.Equal(t, map[string]int64{"one": 100, "two": 50, "full": 0, "unknown": 0}, scores(t, s, g, p))
	require.Equal(t, []string{"one", "two", "unknown"}, left(t, s, g, p))
}

func TestNUMAPrefersWellLinkedGPUs(t *testing.T) {
	m := machineOf(1, 4)
	linked := machineOf(1, 4)
	linked.Devices = append(linked.Devices, numa.Device{Name: "gpu2", Resource: gpu, Kind: numa.DeviceGPU, Nodes: numa.MaskOf(0)})
	linked.Links = []numa.Link{{A: 0, B: 1, Kind: numa.LinkNV, Count: 2}, {A: 0, B: 2, Kind: numa.LinkPHB}, {A: 1, B: 2, Kind: numa.LinkPHB}}
	m.Devices, m.Links = linked.Devices, linked.Links
	g := graphOf(t, node("fast"), node("slow"))
	s := must(strategy.NewNUMA(strategy.NUMAConfig{GPUs: gpu, Terms: []strategy.NUMATerm{{Score: numa.ScoreLinks, Weight: 1}}}))
	slow := stateOf(m, numa.Config{})
	p := must(slow.Plan(&numa.Request{Name: "held", Containers: []numa.Container{{Name: "c", Devices: []numa.DeviceCount{{Resource: gpu, Count: 1}}}}}))
	require.NoError(t, slow.Apply(p))
	require.NoError(t, s.Set("fast", stateOf(linked, numa.Config{})))
	require.NoError(t, s.Set("slow", slow))
	two := pod("p", 0)
	two.GPU = berth.GPURequest{Count: 2, Milli: berth.GPUMilli}
	require.Equal(t, map[string]int64{"fast": 100, "slow": 15}, scores(t, s, g, two), "30 (PHB) of 200 (two NVLinks)")
}

// TestNUMAIsTheMeanOfItsTerms computes the score from numa's own functions, on all states of the suite.
func TestNUMAIsTheMeanOfItsTerms(t *testing.T) {
	terms := []strategy.NUMATerm{{Score: numa.ScoreFewestNodes, Weight: 1}, {Score: numa.ScoreFragmentation, Weight: 2.5}, {Score: numa.ScoreLeastAllocated, Weight: 0.5}}
	s := must(strategy.NewNUMA(strategy.NUMAConfig{Terms: terms}))
	w, err := suite().World()
	require.NoError(t, err)
	states := machines(s)
	for _, p := range w.Pods {
		got := scores(t, s, w.Graph, p)
		for name, state := range states {
			want := int64(0)
			if p.Requests.MilliCPU > 0 && p.Requests.MilliCPU%1000 == 0 {
				c := numa.Container{Name: "c", CPUs: int(p.Requests.MilliCPU / 1000)}
				if placement, err := state.Plan(&numa.Request{Name: "x", Containers: []numa.Container{c}}); err == nil {
					sum := 0.0
					for _, term := range terms {
						sum += term.Weight * term.Score(state, placement)
					}
					want = int64(math.Round(100 * sum / 4))
				}
			}
			require.Equal(t, want, got[name], "pod %s on %s", p.Name, name)
		}
	}
}

// machines gives every second node of the suite a machine.
func machines(s *strategy.NUMA) map[string]*numa.State {
	states := make(map[string]*numa.State)
	for i, name := range nodes {
		if i%2 == 0 {
			states[name] = taken(stateOf(machineOf(1+i%3, 4), numa.Config{Policy: numa.PolicyBestEffort}), 1+i%4)
			must(0, s.Set(name, states[name]))
		}
	}
	return states
}

func TestNUMAAsksAgainWhenAStateIsSet(t *testing.T) {
	g := graphOf(t, node("n"))
	plans := 0
	counted := strategy.NUMATerm{Weight: 1, Score: func(*numa.State, *numa.Placement) float64 { plans++; return 0.5 }}
	s := must(strategy.NewNUMA(strategy.NUMAConfig{Terms: []strategy.NUMATerm{counted}, MaxClasses: 2}))
	state := stateOf(machineOf(1, 4), numa.Config{})
	require.NoError(t, s.Set("n", state))
	ask := func(cpu int64) int64 { return scores(t, s, g, pod("p", cpu))["n"] }
	require.Equal(t, int64(50), ask(3000))
	require.Equal(t, int64(50), ask(3000))
	require.Equal(t, []string{"n"}, left(t, s, g, pod("another of the class", 3000)))
	require.Equal(t, 1, plans, "class and state are the same")
	ask(1000)
	ask(2000)
	ask(1000)
	require.Equal(t, 3, plans)
	ask(3000)
	require.Equal(t, 4, plans, "two classes are kept")
	ask(1000)
	require.Equal(t, 4, plans, "it was used after the other")

	taken(state, 2)
	require.NoError(t, s.Set("n", state))
	require.Equal(t, int64(0), ask(3000))
	require.Empty(t, left(t, s, g, pod("p", 3000)))
	require.Equal(t, int64(50), ask(2000))
	s.Forget("n")
	require.Equal(t, []string{"n"}, left(t, s, g, pod("p", 3000)))
	require.Equal(t, int64(0), ask(2000))
}

// TestNUMATellsANodeFromOneThatHadItsNumber: the second node gets the number of the first.
func TestNUMATellsANodeFromOneThatHadItsNumber(t *testing.T) {
	g := graphOf(t, node("first"))
	s := must(strategy.NewNUMA(strategy.NUMAConfig{Terms: []strategy.NUMATerm{{Score: numa.ScoreFewestNodes, Weight: 1}}}))
	require.NoError(t, s.Set("first", stateOf(machineOf(1, 4), numa.Config{})))
	require.NoError(t, s.Set("second", taken(stateOf(machineOf(1, 4), numa.Config{}), 3)))
	p := pod("p", 4000)
	require.Equal(t, map[string]int64{"first": 100}, scores(t, s, g, p))
	require.NoError(t, g.RemoveNode("first"))
	require.NoError(t, g.AddNode(node("second")))
	require.Equal(t, 1, g.Topology().Cap())
	require.Equal(t, map[string]int64{"second": 0}, scores(t, s, g, p))
}

func TestNUMAReservesInTheMachinesState(t *testing.T) {
	g := graphOf(t, node("n"))
	s := must(strategy.NewNUMA(strategy.NUMAConfig{}))
	state := stateOf(machineOf(1, 4), numa.Config{})
	require.NoError(t, s.Set("n", state))
	cfg := score.Only(s)
	cfg.Filters, cfg.Reservers = []score.Filter{s}, []score.Reserver{s}
	p := must(score.New(g, cfg))
	first, second := pod("first", 3000), pod("second", 2000)
	d, err := p.Place(first)
	require.NoError(t, err)
	require.Equal(t, 1, state.FreeCPUs().Len())
	_, err = p.Place(second)
	require.ErrorContains(t, err, "1 NUMA")
	_, err = p.Place(pod("like the first", 3000))
	require.ErrorContains(t, err, "1 NUMA")
	require.NoError(t, p.Unplace(first, d))
	require.Equal(t, 4, state.FreeCPUs().Len())
	_, err = p.Place(second)
	require.NoError(t, err)
	require.Equal(t, 2, state.FreeCPUs().Len())
}

func TestNUMARefusesBadInput(t *testing.T) {
	term := func(weight float64) []strategy.NUMATerm {
		return []strategy.NUMATerm{{Score: numa.ScoreLinks, Weight: 1}, {Score: numa.ScoreLinks, Weight: weight}}
	}
	request := func(*berth.Pod) *numa.Request { return nil }
	for want, cfg := range map[string]strategy.NUMAConfig{
		"Terms is empty":            {Terms: []strategy.NUMATerm{}},
		"Terms[0].Score is nil":     {Terms: []strategy.NUMATerm{{Weight: 1}}},
		"Terms[1].Weight is 0":      {Terms: term(0)},
		"Terms[1].Weight is NaN":    {Terms: term(math.NaN())},
		"Terms[1].Weight is +Inf":   {Terms: term(math.Inf(1))},
		`Devices[0] = ""`:           {Devices: []string{""}},
		`Devices[1] = "a"`:          {Devices: []string{"a", "a"}},
		`Devices[0] = "g"`:          {GPUs: "g", Devices: []string{"g"}},
		`GPUs = "g" and Devices = `: {GPUs: "g", Request: request},
		"MaxClasses is -1":          {MaxClasses: -1},
	} {
		_, err := strategy.NewNUMA(cfg)
		refused(t, err, score.ErrConfig, want)
	}

	g := graphOf(t, node("n"))
	s := must(strategy.NewNUMA(strategy.NUMAConfig{Request: func(p *berth.Pod) *numa.Request {
		return &numa.Request{Name: p.Name, Containers: []numa.Container{{CPUs: int(p.Requests.MilliCPU) - 2}}}
	}}))
	refused(t, s.Set("n", nil), strategy.ErrData, `"n" is nil`)
	require.NoError(t, s.Set("n", stateOf(machineOf(1, 4), numa.Config{})))
	_, err := try(t, s, g, pod("p", 0))
	require.NoError(t, err, "there is nothing in it to align")
	s = must(strategy.NewNUMA(strategy.NUMAConfig{Request: func(p *berth.Pod) *numa.Request {
		return &numa.Request{Name: p.Name, Containers: []numa.Container{{CPUs: 1, Devices: []numa.DeviceCount{{Resource: gpu, Count: -1}}}}}
	}}))
	require.NoError(t, s.Set("n", stateOf(machineOf(1, 4), numa.Config{})))
	_, err = try(t, s, g, pod("p", 0))
	refused(t, err, numa.ErrRequest, `node "n"`, "Devices")

	for _, v := range []float64{math.NaN(), -0.1, 1.1} {
		s := must(strategy.NewNUMA(strategy.NUMAConfig{Terms: []strategy.NUMATerm{{Weight: 1, Score: func(*numa.State, *numa.Placement) float64 { return v }}}}))
		require.NoError(t, s.Set("n", stateOf(machineOf(1, 4), numa.Config{})))
		_, err = try(t, s, g, pod("p", 1000))
		refused(t, err, strategy.ErrData, "Terms[0].Score", fmt.Sprint(v), `node "n"`)
	}
}

func TestNUMAAlignsWholeUnitsOnly(t *testing.T) {
	g := graphOf(t, node("n"))
	s := must(strategy.NewNUMA(strategy.NUMAConfig{GPUs: gpu, Devices: []string{"example.com/nic"}}))
	m := machineOf(1, 4)
	m.Devices = append(m.Devices, numa.Device{Name: "nic", Resource: "example.com/nic", Nodes: numa.MaskOf(0)})
	require.NoError(t, s.Set("n", stateOf(m, numa.Config{})))
	with := func(f func(*berth.Pod)) int64 {
		p := pod("p", 0)
		f(p)
		return scores(t, s, g, p)["n"]
	}
	require.Equal(t, int64(0), with(func(p *berth.Pod) { p.Requests.MilliCPU = 1500 }), "part of a CPU: the shared pool")
	require.Equal(t, int64(0), with(func(p *berth.Pod) { p.Requests.Memory = 50 }), "memory goes with CPUs")
	require.Equal(t, int64(0), with(func(p *berth.Pod) { p.GPU = berth.GPURequest{Count: 1, Milli: 500} }))
	require.Equal(t, int64(100), with(func(p *berth.Pod) { p.Requests.MilliCPU, p.Requests.Memory = 2000, 50 }))
	require.Equal(t, int64(100), with(func(p *berth.Pod) { p.GPU = berth.GPURequest{Count: 1, Milli: 1000} }))
	require.Equal(t, int64(100), with(func(p *berth.Pod) { p.Requests.Scalar = map[string]int64{"example.com/nic": 1} }))
	require.Equal(t, int64(0), with(func(p *berth.Pod) { p.Requests.Scalar = map[string]int64{"example.com/nic": 2} }))
	require.Equal(t, int64(0), with(func(p *berth.Pod) { p.Requests.MilliCPU, p.Requests.Memory = 2000, 150 }))
}

func TestNUMAKeepsTheContract(t *testing.T) {
	newNUMA := func() *strategy.NUMA {
		s := must(strategy.NewNUMA(strategy.NUMAConfig{GPUs: gpu}))
		machines(s)
		return s
	}
	suite().Scorer(t, func() score.Scorer { return newNUMA() })
	suite().Filter(t, func() score.Filter { return newNUMA() })
	free := func() score.Reserver {
		s := must(strategy.NewNUMA(strategy.NUMAConfig{GPUs: gpu}))
		for _, name := range nodes {
			must(0, s.Set(name, stateOf(machineOf(2, 4), numa.Config{})))
		}
		return s
	}
	suite().Reserver(t, free)
}
