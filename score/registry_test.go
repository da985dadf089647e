package score_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/score"
)

// localByName is a byName whose columns are kept.
type localByName struct{ byName }

func (localByName) Local() {}

func TestRegistryServesVersionsByShare(t *testing.T) {
	var reg score.Registry
	require.NoError(t, reg.Register(score.Plugin{Name: "s", Version: "1", Scorer: localByName{byName{"b": 1000}}}))
	require.NoError(t, reg.Register(score.Plugin{Name: "s", Version: "2", Scorer: localByName{byName{"c": 1000}}, Share: 0.05}))
	p, err := score.New(three(t), score.Config{Registry: &reg})
	require.NoError(t, err)

	served := func() map[string]bool { // pods of the canary
		pods := make(map[string]bool)
		for i := range 4000 {
			pod := plainPod("p")
			pod.UID = fmt.Sprint("uid-", i)
			d, err := p.Decide(pod)
			require.NoError(t, err)
			require.Len(t, d.Plugins, 1)
			require.Equal(t, d.Plugins, reg.Plugins(pod))
			require.Equal(t, []int64{1000}, d.Own)
			switch d.Plugins[0] {
			case score.PluginID{Name: "s", Version: "1"}:
				require.Equal(t, "b", d.Node)
			case score.PluginID{Name: "s", Version: "2"}:
				require.Equal(t, "c", d.Node)
				pods[pod.UID] = true
			}
		}
		return pods
	}
	few := served()
	assert.InDelta(t, 200, len(few), 50)
	assert.Equal(t, few, served(), "a pod's version is always the same")
	require.NoError(t, reg.SetShare("s", "2", 0.5))
	half := served()
	assert.InDelta(t, 2000, len(half), 200)
	for uid := range few {
		assert.True(t, half[uid], "who is in a canary stays in it when it grows")
	}
	require.NoError(t, reg.SetShare("s", "2", 0))
	assert.Empty(t, served())
	require.NoError(t, reg.SetShare("s", "2", 1))
	assert.Len(t, served(), 4000)
}

// TestCanaryIsStable pins the hash: versions must not move when the library is updated.
func TestCanaryIsStable(t *testing.T) {
	var reg score.Registry
	require.NoError(t, reg.Register(score.Plugin{Name: "s", Version: "1", Scorer: constant{}}))
	require.NoError(t, reg.Register(score.Plugin{Name: "s", Version: "2", Scorer: constant{}, Share: 0.25}))
	require.NoError(t, reg.Register(score.Plugin{Name: "s", Version: "3", Scorer: constant{}, Share: 0.25}))
	var got string
	for i := range 16 {
		got += reg.Plugins(&berth.Pod{Namespace: "d", Name: fmt.Sprint("p", i)})[0].Version
	}
	assert.Equal(t, "3223111321233123", got)
}

func TestRegistryUsesAllPartsOfAPlugin(t *testing.T) {
	var log []string
	var reg score.Registry
	require.NoError(t, reg.Register(score.Plugin{
		Name: "all", Version: "1", Filter: without("f", "a"), Scorer: byName{"c": 10}, Weight: 3, Reserver: &reserver{name: "r", log: &log},
	}))
	require.NoError(t, reg.Register(score.Plugin{Name: "more", Version: "7", Scorer: constant{2}}))
	p, err := score.New(three(t), score.Config{Scorers: []score.Weighted{{Scorer: constant{1}}}, Registry: &reg})
	require.NoError(t, err)
	d, err := p.Place(plainPod("p"))
	require.NoError(t, err)
	assert.Equal(t, "c", d.Node)
	assert.Equal(t, 2, d.Feasible)
	assert.Equal(t, []int64{1, 10, 2}, d.Own)
	assert.Equal(t, []score.PluginID{{Name: "all", Version: "1"}, {Name: "more", Version: "7"}}, d.Plugins)
	require.NoError(t, p.Unplace(plainPod("p"), d))
	assert.Equal(t, []string{"reserve r p c", "unreserve r p c"}, log)

	require.NoError(t, reg.SetWeight("all", "1", 5))
	again, err := p.Decide(plainPod("p"))
	require.NoError(t, err)
	assert.Equal(t, d.Score+20, again.Score)
}

func TestRegistryCloses(t *testing.T) {
	var log []string
	closing := func(name string, err error) func() error {
		return func() error { log = append(log, name); return err }
	}
	var reg score.Registry
	require.NoError(t, reg.Register(score.Plugin{Name: "x", Version: "1", Scorer: byName{"c": 1000}, Close: closing("x1", errBroken)}))
	require.NoError(t, reg.Register(score.Plugin{Name: "y", Version: "1", Scorer: constant{}}))
	require.NoError(t, reg.Register(score.Plugin{Name: "x", Version: "2", Scorer: constant{}, Close: closing("x2", nil)}))
	p, err := score.New(three(t), score.Config{Registry: &reg})
	require.NoError(t, err)
	err = reg.Close()
	require.ErrorIs(t, err, errBroken)
	assert.EqualError(t, err, `score: plugin "x", version "1": broken`)
	assert.Equal(t, []string{"x2", "x1"}, log)
	require.NoError(t, reg.Close())
	assert.Len(t, log, 2)
	require.ErrorIs(t, reg.Register(score.Plugin{Name: "z", Version: "1", Scorer: constant{}}), score.ErrConfig)
	d, err := p.Decide(plainPod("p"))
	require.NoError(t, err)
	assert.Equal(t, "a", d.Node, "without its plugins")
}

func TestRegistryErrors(t *testing.T) {
	var reg score.Registry
	register := func(p score.Plugin) func() error { return func() error { return reg.Register(p) } }
	require.NoError(t, reg.Register(score.Plugin{Name: "s", Version: "1", Scorer: constant{}}))
	require.NoError(t, reg.Register(score.Plugin{Name: "s", Version: "2", Filter: without("f"), Share: 0.5}))
	for name, c := range map[string]struct {
		do   func() error
		says string
	}{
		"no name":           {register(score.Plugin{Version: "1", Scorer: constant{}}), "name or version is empty"},
		"no version":        {register(score.Plugin{Name: "s", Scorer: constant{}}), "name or version is empty"},
		"nothing":           {register(score.Plugin{Name: "t", Version: "1"}), `plugin "t", version "1": it has no filter`},
		"twice":             {register(score.Plugin{Name: "s", Version: "2", Scorer: constant{}}), "it is registered"},
		"weight":            {register(score.Plugin{Name: "t", Version: "1", Scorer: constant{}, Weight: -1}), "weight -1"},
		"share":             {register(score.Plugin{Name: "t", Version: "1", Scorer: constant{}, Share: -0.5}), "share -0.5"},
		"shares":            {register(score.Plugin{Name: "s", Version: "3", Scorer: constant{}, Share: 0.75}), "add up to 1.25"},
		"set shares":        {func() error { return reg.SetShare("s", "2", 1.5) }, "share 1.5"},
		"set first share":   {func() error { return reg.SetShare("s", "1", 0.5) }, "what the others leave"},
		"set unknown share": {func() error { return reg.SetShare("s", "9", 0.5) }, "not registered"},
		"set weight 0":      {func() error { return reg.SetWeight("s", "1", 0) }, "weight 0"},
		"set no weight":     {func() error { return reg.SetWeight("s", "2", 1) }, "no scorer"},
		"set unknown":       {func() error { return reg.SetWeight("u", "2", 1) }, "not registered"},
	} {
		t.Run(name, func(t *testing.T) {
			err := c.do()
			require.ErrorIs(t, err, score.ErrConfig)
			assert.ErrorContains(t, err, c.says)
			assert.Equal(t, 1, len(reg.Plugins(plainPod("p"))))
		})
	}
}
