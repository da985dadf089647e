package affinity_test

import (
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/affinity"
	"github.com/berth-go/berth/internal/gen"
)

// A relation is a change to a cluster and to the pods to place that leaves all answers as they are, but for names.
type relation struct {
	name string
	node func(n *berth.Node)
	pod  func(p *berth.Pod)
	inB  func(name string) string
}

const prefix = "renamed-"

func relations() []relation {
	same := func(name string) string { return name }
	return []relation{
		{"resources in a unit half as large", func(n *berth.Node) { n.Allocatable = twice(n.Allocatable) }, func(p *berth.Pod) {
			seen := p.ScoreRequests()
			p.NonZeroRequests = &berth.NonZeroRequests{MilliCPU: 2 * seen.MilliCPU, Memory: 2 * seen.Memory}
			p.Requests = twice(p.Requests)
		}, same},
		{"other names of nodes", func(n *berth.Node) {
			n.Name = prefix + n.Name
			n.Labels = renameHost(n.Labels)
		}, renamePod, func(name string) string { return prefix + name }},
	}
}

// twice doubles amounts; pods still count as one each.
func twice(r berth.Resources) berth.Resources {
	r.MilliCPU, r.Memory, r.EphemeralStorage = 2*r.MilliCPU, 2*r.Memory, 2*r.EphemeralStorage
	r.Scalar = maps.Clone(r.Scalar)
	for name := range r.Scalar {
		r.Scalar[name] *= 2
	}
	return r
}

func renameHost(labels map[string]string) map[string]string {
	labels = maps.Clone(labels)
	if host, ok := labels[berth.LabelHostname]; ok {
		labels[berth.LabelHostname] = prefix + host
	}
	return labels
}

// renamePod renames the nodes that a pod names: its own, and those that it selects by name or hostname.
func renamePod(p *berth.Pod) {
	for _, name := range []*string{&p.NodeName, &p.NominatedNodeName} {
		if *name != "" {
			*name = prefix + *name
		}
	}
	p.NodeSelector = renameHost(p.NodeSelector)
	if p.Affinity == nil || p.Affinity.NodeAffinity == nil {
		return
	}
	whole, nodes := *p.Affinity, *p.Affinity.NodeAffinity
	if r := nodes.RequiredDuringSchedulingIgnoredDuringExecution; r != nil {
		terms := slices.Clone(r.NodeSelectorTerms)
		for i := range terms {
			renameTerm(&terms[i])
		}
		nodes.RequiredDuringSchedulingIgnoredDuringExecution = &berth.NodeSelector{NodeSelectorTerms: terms}
	}
	preferred := slices.Clone(nodes.PreferredDuringSchedulingIgnoredDuringExecution)
	for i := range preferred {
		renameTerm(&preferred[i].Preference)
	}
	nodes.PreferredDuringSchedulingIgnoredDuringExecution = preferred
	whole.NodeAffinity = &nodes
	p.Affinity = &whole
}

func renameTerm(t *berth.NodeSelectorTerm) {
	t.MatchFields, t.MatchExpressions = renameValues(t.MatchFields), renameValues(t.MatchExpressions)
}

func renameValues(rs []berth.Requirement) []berth.Requirement {
	rs = slices.Clone(rs)
	for i := range rs {
		if rs[i].Key != berth.FieldName && rs[i].Key != berth.LabelHostname {
			continue
		}
		rs[i].Values = slices.Clone(rs[i].Values)
		for k := range rs[i].Values {
			rs[i].Values[k] = prefix + rs[i].Values[k]
		}
	}
	return rs
}

// orderByOldName breaks ties in the renamed cluster as in the other.
func orderByOldName(name string) uint32 {
	h := fnv.New32a()
	h.Write([]byte(strings.TrimPrefix(name, prefix)))
	return h.Sum32()
}

func TestRelatedClustersGetRelatedAnswers(t *testing.T) {
	for _, r := range relations() {
		t.Run(r.name, func(t *testing.T) {
			for seed := range uint64(25 * *steps) {
				rng := rand.New(rand.NewPCG(seed, 41))
				opts := presets()[seed%uint64(len(presets()))]
				opts.Nodes, opts.Pods = 30, 80
				gn := gen.New(rng, opts)
				a := gn.Cluster()
				b := a.Clone()
				for i := range b.Nodes {
					r.node(&b.Nodes[i])
				}
				for i := range b.Pods {
					r.pod(&b.Pods[i])
				}
				cfg := affinity.Config{Order: orderByOldName}
				one, err := newTwin(a, cfg, pair{})
				if err != nil {
					t.Fatal(err)
				}
				other, err := newTwin(b, cfg, pair{})
				if err != nil {
					t.Fatal(err)
				}
				for i := range 8 {
					pod := gn.Pod()
					pod = *berth.Fold(&pod)
					related := pod
					r.pod(&related)
					if err := sameByName(one, other, &pod, &related, r.inB); err != nil {
						t.Fatalf("seed %d, pod %d: %v", seed, i, err)
					}
				}
			}
		})
	}
}
