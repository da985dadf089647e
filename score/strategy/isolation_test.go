package strategy_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/score"
	"github.com/berth-go/berth/score/strategy"
)

func runtimes() strategy.IsolationConfig {
	return strategy.IsolationConfig{PodLabel: "runtime", Classes: []strategy.IsolationClass{
		{Value: "wasm", NodeLabels: map[string]string{"shim/wasm": "true"}, Preferred: true},
		{Value: "confidential", NodeLabels: map[string]string{"tee": "sev", "attested": "yes"}, Nodes: []string{"vault", "not there"}, Exclusive: true},
	}}
}

func TestIsolation(t *testing.T) {
	g := graphOf(t, node("plain"), node("wasm", "shim/wasm", "true"), node("sev", "tee", "sev"),
		node("attested", "tee", "sev", "attested", "yes"), node("vault"), node("both", "shim/wasm", "true", "tee", "sev", "attested", "yes"))
	s := must(strategy.NewIsolation(runtimes()))
	for _, test := range []struct {
		what   string
		pod    *berth.Pod
		left   []string
		scores map[string]int64
	}{
		{"a class that is required leaves its nodes", pod("p", 1, "runtime", "confidential"),
			[]string{"attested", "vault", "both"},
			map[string]int64{"plain": 0, "wasm": 0, "sev": 0, "attested": 100, "vault": 100, "both": 100}},
		{"a class that is preferred leaves all but the exclusive nodes of others", pod("p", 1, "runtime", "wasm"),
			[]string{"plain", "wasm", "sev", "both"},
			map[string]int64{"plain": 0, "wasm": 100, "sev": 0, "attested": 0, "vault": 0, "both": 100}},
		{"a pod without class stays off exclusive nodes", pod("p", 1),
			[]string{"plain", "wasm", "sev"},
			map[string]int64{"plain": 100, "wasm": 100, "sev": 100, "attested": 0, "vault": 0, "both": 0}},
		{"a class that is not configured has no node", pod("p", 1, "runtime", "kvm"),
			[]string{},
			map[string]int64{"plain": 0, "wasm": 0, "sev": 0, "attested": 0, "vault": 0, "both": 0}},
		{"an empty value is a class that is not configured", pod("p", 1, "runtime", ""),
			[]string{},
			map[string]int64{"plain": 0, "wasm": 0, "sev": 0, "attested": 0, "vault": 0, "both": 0}},
	} {
		t.Run(test.what, func(t *testing.T) {
			require.Equal(t, test.left, left(t, s, g, test.pod))
			require.Equal(t, test.scores, scores(t, s, g, test.pod))
		})
	}
}

// TestIsolationIsTheRuleNodeByNode compares with the rule as it is written, for one node at a time.
func TestIsolationIsTheRuleNodeByNode(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	for range 50 {
		cfg := strategy.IsolationConfig{PodLabel: "c"}
		for i := range 1 + rng.IntN(4) {
			c := strategy.IsolationClass{Value: fmt.Sprint(i), Preferred: rng.IntN(2) == 0, Exclusive: rng.IntN(2) == 0, Nodes: []string{fmt.Sprint("n", rng.IntN(20))}}
			if rng.IntN(3) > 0 {
				c.NodeLabels = map[string]string{"x": fmt.Sprint(rng.IntN(3))}
				if rng.IntN(2) == 0 {
					c.NodeLabels["y"] = fmt.Sprint(rng.IntN(3))
				}
			}
			cfg.Classes = append(cfg.Classes, c)
		}
		s, g := must(strategy.NewIsolation(cfg)), graphOf(t)
		for i := range 16 {
			require.NoError(t, g.AddNode(node(fmt.Sprint("n", i), "x", fmt.Sprint(rng.IntN(3)), "y", fmt.Sprint(rng.IntN(2)))))
		}
		for _, p := range []*berth.Pod{pod("p", 1), pod("p", 1, "c", "0"), pod("p", 1, "c", "3")} {
			passed := left(t, s, g, p)
			for name, got := range scores(t, s, g, p) {
				n, _ := g.Topology().Lookup(name)
				spec := g.Node(n)
				suits, want := byTheRule(cfg, p, &spec)
				require.Equal(t, want, got, "%s on %s under %+v", p.Labels, name, cfg)
				require.Equal(t, suits, slices.Contains(passed, name), "%s on %s under %+v", p.Labels, name, cfg)
			}
		}
	}
}

func byTheRule(cfg strategy.IsolationConfig, p *berth.Pod, n *berth.Node) (suits bool, score int64) {
	value, asks := p.Labels[cfg.PodLabel]
	var own *strategy.IsolationClass
	ofOwn, ofExclusive := false, false
	for i := range cfg.Classes {
		c := &cfg.Classes[i]
		has := slices.Contains(c.Nodes, n.Name)
		if c.NodeLabels != nil {
			all := true
			for key, v := range c.NodeLabels {
				all = all && n.Labels[key] == v
			}
			has = has || all
		}
		if asks && c.Value == value {
			own, ofOwn = c, has
		}
		ofExclusive = ofExclusive || has && c.Exclusive
	}
	switch {
	case asks && own == nil:
		return false, 0
	case ofOwn:
		return true, 100
	case own != nil:
		return own.Preferred && !ofExclusive, 0
	case ofExclusive:
		return false, 0
	}
	return true, 100
}

func TestIsolationRefusesABadConfig(t *testing.T) {
	labels := map[string]string{"a": "b"}
	for want, cfg := range map[string]strategy.IsolationConfig{
		"Isolation: PodLabel is empty": {Classes: []strategy.IsolationClass{{Value: "x", NodeLabels: labels}}},
		"tee: there are 0 Classes":     {Name: "tee", PodLabel: "c"},
		"there are 1001 Classes":       {PodLabel: "c", Classes: make([]strategy.IsolationClass, 1001)},
		`Classes[0].Value = ""`:        {PodLabel: "c", Classes: []strategy.IsolationClass{{NodeLabels: labels}}},
		`Classes[1].Value = "x"`:       {PodLabel: "c", Classes: []strategy.IsolationClass{{Value: "x", NodeLabels: labels}, {Value: "x", NodeLabels: labels}}},
		`Classes[0] "x" has neither`:   {PodLabel: "c", Classes: []strategy.IsolationClass{{Value: "x"}}},
	} {
		_, err := strategy.NewIsolation(cfg)
		refused(t, err, score.ErrConfig, want)
	}
}

func TestIsolationKeepsTheContract(t *testing.T) {
	cfg := strategy.IsolationConfig{Name: "runtime", PodLabel: "runtime", Classes: []strategy.IsolationClass{
		{Value: "wasm", NodeLabels: map[string]string{"runtime": "wasm"}, Nodes: []string{"node-3"}, Exclusive: true},
	}}
	suite().Scorer(t, func() score.Scorer { return must(strategy.NewIsolation(cfg)) })
	suite().Filter(t, func() score.Filter { return must(strategy.NewIsolation(cfg)) })
}
