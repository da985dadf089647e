package differential

import (
	"errors"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/internal/gen"
	"github.com/berth-go/berth/kubernetes/conformance"
	"github.com/berth-go/berth/kubernetes/convert"
)

// generator draws scripts. Clusters come from the generator of berth's own tests; what only the API has, such as init
// containers and services, is added to the objects that they are converted to.
type generator struct {
	rng     *rand.Rand
	specs   *gen.Generator
	cluster conformance.Cluster
	// owners are the controllers of the pods drawn so far, by namespace/name.
	owners map[string]bool
	// ports are the host ports that pods hold, by node.
	ports map[string]map[berth.HostPort]bool
	// started is the number of pods that were given a start time.
	started int
	// nodes and pods are those at the current step.
	nodes []*v1.Node
	pods  []*v1.Pod
}

// MaxNodes is the number of nodes of the largest clusters. Pods go up to ten times as many.
const MaxNodes = 200

// Generate draws script number i of a seed, with at most so many nodes.
func Generate(seed, i uint64, nodes int) *Script {
	rng := rand.New(rand.NewPCG(seed, i))
	g := &generator{rng: rng, owners: map[string]bool{}, ports: map[string]map[berth.HostPort]bool{}}
	g.specs = gen.New(rng, g.options(nodes))
	specs := g.specs.Cluster()
	g.cluster.Config = g.config()
	for i := range specs.Namespaces {
		g.cluster.Namespaces = append(g.cluster.Namespaces, convert.ToNamespace(&specs.Namespaces[i]))
	}
	for i := range specs.Budgets {
		g.cluster.Budgets = append(g.cluster.Budgets, convert.ToPodDisruptionBudget(&specs.Budgets[i]))
	}
	for i := range specs.Nodes {
		g.cluster.Nodes = append(g.cluster.Nodes, g.node(&specs.Nodes[i]))
	}
	for i := range specs.Pods {
		g.cluster.Pods = append(g.cluster.Pods, g.placed(&specs.Pods[i]))
	}
	g.services()
	g.nodes, g.pods = slices.Clone(g.cluster.Nodes), slices.Clone(g.cluster.Pods)
	var steps []Step
	// Making a cluster costs more than asking about it, so the larger it is the more is asked.
	for range 8 + rng.IntN(16) + len(g.pods)/20 {
		steps = append(steps, g.steps()...)
	}
	// The controllers of pods that come with later steps are there from the start.
	return &Script{Cluster: g.cluster, Steps: steps}
}

// options draws how large the cluster is and which features are frequent. Most clusters are small, since most differences
// show in small ones.
func (g *generator) options(nodes int) gen.Options {
	all := []func() gen.Options{gen.Everything, gen.Everything, gen.Affine, gen.Spreading, gen.Crowded, gen.Plain}
	o := all[g.rng.IntN(len(all))]()
	switch n := g.rng.IntN(10); {
	case n < 4:
		o.Nodes, o.Pods = 10, 40
	case n < 8:
		o.Nodes, o.Pods = 60, 300
	default:
		o.Nodes, o.Pods = MaxNodes, 10*MaxNodes
	}
	o.Nodes, o.Pods = min(o.Nodes, nodes), min(o.Pods, 10*nodes)
	o.GPU, o.ImageSize = 0, 0
	return o
}

func (g *generator) chance(rate float64) bool { return g.rng.Float64() < rate }

func pick[T any](g *generator, choices ...T) T { return choices[g.rng.IntN(len(choices))] }

// config draws plugin arguments, most often the default ones.
func (g *generator) config() conformance.Config {
	var c conformance.Config
	if g.chance(0.1) {
		c.HardPodAffinityWeight = pick(g, new(int32(0)), new(int32(50)), new(int32(100)))
	}
	c.IgnorePreferredTermsOfExistingPods = g.chance(0.1)
	if g.chance(0.2) {
		s := &conformance.ScoringStrategy{Type: pick(g, "LeastAllocated", "MostAllocated", "RequestedToCapacityRatio")}
		for _, name := range []string{"cpu", "memory", "ephemeral-storage", "nvidia.com/gpu"} {
			if g.chance(0.5) {
				s.Resources = append(s.Resources, conformance.ResourceWeight{Name: name, Weight: 1 + g.rng.Int64N(5)})
			}
		}
		if s.Type == "RequestedToCapacityRatio" {
			s.Shape = pick(g,
				[]conformance.ShapePoint{{Utilization: 0, Score: 0}, {Utilization: 100, Score: 10}},
				[]conformance.ShapePoint{{Utilization: 0, Score: 10}, {Utilization: 33, Score: 3}, {Utilization: 90, Score: 7}})
		}
		c.ScoringStrategy = s
	}
	if g.chance(0.1) {
		for _, key := range []string{berth.LabelZone, "rack"} {
			c.DefaultConstraints = append(c.DefaultConstraints, v1.TopologySpreadConstraint{
				MaxSkew: 1 + g.rng.Int32N(3), TopologyKey: key,
				WhenUnsatisfiable: pick(g, v1.ScheduleAnyway, v1.ScheduleAnyway, v1.DoNotSchedule),
			})
		}
	}
	return c
}

// pod converts a pod and adds what only the API has.
func (g *generator) pod(spec *berth.Pod) *v1.Pod {
	if owner := convert.ToOwner(spec); owner != nil && !g.owners[owner.Namespace+"/"+owner.Name] {
		g.owners[owner.Namespace+"/"+owner.Name] = true
		g.cluster.ReplicaSets = append(g.cluster.ReplicaSets, owner)
	}
	p, err := convert.ToPod(spec)
	if err != nil && !errors.Is(err, convert.ErrUnsupported) {
		panic(err) // the generator's specs are valid
	}
	if g.chance(0.3) {
		g.decorate(p)
	}
	return conformance.Admit(p)
}

// placed converts a pod of the cluster.
func (g *generator) placed(spec *berth.Pod) *v1.Pod {
	p := g.pod(spec)
	g.start(p)
	g.freePorts(p)
	if p.Spec.NodeName != "" && g.chance(0.1) {
		g.resize(p)
	}
	g.preempt(p)
	return p
}

// start gives a pod a start time of its own in the past: pods that started at the same time are in no particular order to
// kube-scheduler, and one that has not started is taken to start now, each time that it is looked at.
func (g *generator) start(p *v1.Pod) {
	g.started++
	p.Status.StartTime = nil
	if g.started > 1 {
		shuffled := (g.started * 7919) % 100_003
		p.Status.StartTime = &metav1.Time{Time: time.Date(2020, 1, 1, 0, 0, shuffled, 0, time.UTC)}
	}
}

// services adds services that select some of the pods.
func (g *generator) services() {
	for i := range g.rng.IntN(4) {
		if len(g.cluster.Pods) == 0 {
			return
		}
		p := pick(g, g.cluster.Pods...)
		selector := map[string]string{}
		for _, key := range slices.Sorted(maps.Keys(p.Labels)) {
			if g.chance(0.5) {
				selector[key] = p.Labels[key]
			}
		}
		g.cluster.Services = append(g.cluster.Services, &v1.Service{
			ObjectMeta: metav1.ObjectMeta{Namespace: p.Namespace, Name: "service-" + strconv.Itoa(i)},
			Spec:       v1.ServiceSpec{Selector: selector},
		})
	}
}
