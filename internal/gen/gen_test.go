package gen_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/internal/gen"
	"github.com/berth-go/berth/internal/reference"
)

func generator(seed uint64, o gen.Options) *gen.Generator {
	return gen.New(rand.New(rand.NewPCG(seed, 1)), o)
}

func presets() map[string]gen.Options {
	return map[string]gen.Options{
		"Everything": gen.Everything(), "Plain": gen.Plain(), "Affine": gen.Affine(), "Spreading": gen.Spreading(),
		"Crowded": gen.Crowded(),
	}
}

// faults returns the hard faults of all specs of a cluster and of a pod to place.
func faults(c *gen.Cluster, pod *berth.Pod) []error {
	var errs []error
	add := func(fs berth.Faults) {
		if err := fs.Err(); err != nil {
			errs = append(errs, err)
		}
	}
	names := map[string]bool{}
	for i := range c.Nodes {
		add(berth.ValidateNode(&c.Nodes[i]))
		if names[c.Nodes[i].Name] {
			errs = append(errs, fmt.Errorf("node %q twice", c.Nodes[i].Name))
		}
		names[c.Nodes[i].Name] = true
	}
	for i := range c.Pods {
		add(berth.ValidatePod(&c.Pods[i]))
	}
	for i := range c.Namespaces {
		add(berth.ValidateNamespace(&c.Namespaces[i]))
	}
	for i := range c.Budgets {
		add(berth.ValidateBudget(&c.Budgets[i]))
	}
	add(berth.ValidatePod(pod))
	return errs
}

func TestASeedReplays(t *testing.T) {
	a, b := generator(7, gen.Everything()), generator(7, gen.Everything())
	for range 5 {
		c, d := a.Cluster(), b.Cluster()
		require.Equal(t, c, d)
		a.Change(c)
		b.Change(d)
		require.Equal(t, c, d)
		require.Equal(t, a.Pod(), b.Pod())
	}
}

func TestPresetsHaveNoHardFaults(t *testing.T) {
	for name, o := range presets() {
		for seed := range uint64(10) {
			g := generator(seed, o)
			c := g.Cluster()
			for range 20 {
				g.Change(c)
			}
			pod := g.Pod()
			require.Empty(t, faults(c, &pod), "%s, seed %d", name, seed)
		}
	}
}

func TestEachFaultCanBeSwitchedOn(t *testing.T) {
	kinds := reflect.TypeFor[gen.Faults]()
	accepted := map[string]bool{"RequiredTerm": true, "EmptyTerm": true, "ZeroWeight": true}
	for i := range kinds.NumField() {
		o := gen.Everything()
		o.Nodes, o.Pods, o.NodeAffinity, o.HostPort, o.GPU = 10, 30, 0.5, 0.5, 0.5
		o.Faults = gen.Faults{}
		reflect.ValueOf(&o.Faults).Elem().Field(i).SetFloat(0.5)
		hard := 0
		for seed := range uint64(3) {
			g := generator(seed, o)
			c := g.Cluster()
			pod := g.Pod()
			hard += len(faults(c, &pod))
		}
		kind := kinds.Field(i).Name
		require.Equal(t, accepted[kind], hard == 0, "%s: %d hard faults", kind, hard)
	}
}

// TestEverythingUsesTheWholeVocabulary looks at every field that a spec can have. Each is set somewhere, and those that may
// be left out are left out elsewhere.
func TestEverythingUsesTheWholeVocabulary(t *testing.T) {
	set, unset := map[string]bool{}, map[string]bool{}
	for seed := range uint64(25) {
		g := generator(seed, gen.Everything())
		note(set, unset, "", reflect.ValueOf(*g.Cluster()))
		for range 20 {
			note(set, unset, ".Pods", reflect.ValueOf(g.Pod()))
		}
	}
	delete(unset, ".Pods.Requests.Pods") // has no meaning
	for path := range unset {
		require.True(t, set[path], "%s is never set", path)
	}
	for _, path := range []string{
		".Pods.NodeName", ".Pods.NominatedNodeName", ".Pods.NonZeroRequests", ".Pods.GPU", ".Pods.GPU.Devices", ".Pods.Affinity",
		".Pods.Affinity.NodeAffinity", ".Pods.DefaultSpreadSelector", ".Pods.TopologySpreadConstraints", ".Nodes.GPUs",
		".Pods.TopologySpreadConstraints.LabelSelector", ".Pods.TopologySpreadConstraints.MinDomains", ".Budgets.Selector",
	} {
		require.True(t, unset[path], "%s is never left out", path)
	}
}

// note records which fields below v are set and which are not.
func note(set, unset map[string]bool, path string, v reflect.Value) {
	if v.IsZero() {
		unset[path] = true
		return
	}
	set[path] = true
	switch v.Kind() {
	case reflect.Struct:
		if v.Type().PkgPath() == "time" {
			return
		}
		for i := range v.NumField() {
			note(set, unset, path+"."+v.Type().Field(i).Name, v.Field(i))
		}
	case reflect.Pointer:
		note(set, unset, path, v.Elem())
	case reflect.Slice:
		for i := range v.Len() {
			note(set, unset, path, v.Index(i))
		}
	}
}

func TestNamesAreUnique(t *testing.T) {
	g := generator(1, gen.Everything())
	nodes, pods := map[string]bool{}, map[berth.PodKey]bool{}
	for range 5 {
		c := g.Cluster()
		for i := range c.Nodes {
			require.False(t, nodes[c.Nodes[i].Name])
			nodes[c.Nodes[i].Name] = true
		}
		for i := range c.Pods {
			require.False(t, pods[c.Pods[i].Key()])
			pods[c.Pods[i].Key()] = true
		}
	}
}

// TestChangesLeaveCopiesAlone changes a cluster many times and then draws it again from the same seed: a copy from before
// the changes must still equal that.
func TestChangesLeaveCopiesAlone(t *testing.T) {
	for seed := range uint64(10) {
		g := generator(seed, gen.Everything())
		c := g.Cluster()
		before := c.Clone()
		kinds := map[gen.Kind]bool{}
		for range 100 {
			if change, ok := g.Change(c); ok {
				kinds[change.Kind] = true
			}
		}
		require.Equal(t, generator(seed, gen.Everything()).Cluster(), before)
		require.NotEqual(t, before, c)
		if len(c.Pods) > 0 {
			require.Len(t, kinds, 7)
		}
	}
}

// TestAHealthyShareOfNodesIsFeasible keeps the presets useful: tests in which nearly nothing or nearly everything is
// feasible show little.
func TestAHealthyShareOfNodesIsFeasible(t *testing.T) {
	for name, o := range presets() {
		if name == "Crowded" {
			continue
		}
		nodes, feasible, nowhere, pods := 0, 0, 0, 0
		for seed := range uint64(20) {
			g := generator(seed, o)
			c := g.Cluster()
			r := reference.Cluster{Nodes: c.Nodes, Pods: c.Pods, Namespaces: c.Namespaces}
			for range 5 {
				pod := g.Pod()
				n := len(r.Feasible(&pod))
				pods++
				nodes += len(c.Nodes)
				feasible += n
				if n == 0 {
					nowhere++
				}
			}
		}
		share, stuck := float64(feasible)/float64(nodes), float64(nowhere)/float64(pods)
		t.Logf("%s: %.0f %% of nodes feasible, %.0f %% of pods feasible nowhere", name, 100*share, 100*stuck)
		require.True(t, 0.15 < share && share < 0.85 && stuck < 0.5, name)
	}
}

// TestPlacedPodsMostlyFit: of nodes that hold pods, few hold more than they offer.
func TestPlacedPodsMostlyFit(t *testing.T) {
	over, nodes := 0, 0
	for seed := range uint64(20) {
		c := generator(seed, gen.Everything()).Cluster()
		for i := range c.Nodes {
			free := c.Nodes[i].Allocatable.MilliCPU
			for j := range c.Pods {
				if c.Pods[j].NodeName == c.Nodes[i].Name {
					free -= c.Pods[j].Requests.MilliCPU
				}
			}
			nodes++
			if free < 0 {
				over++
			}
		}
	}
	require.Positive(t, over)
	require.Less(t, float64(over), 0.2*float64(nodes))
}
