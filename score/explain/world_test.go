package explain_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/affinity"
	"github.com/berth-go/berth/internal/gen"
	"github.com/berth-go/berth/internal/reference"
	"github.com/berth-go/berth/score"
	"github.com/berth-go/berth/score/explain"
)

// world is a random cluster held twice: as a graph to explain, and as specs for the reference to judge.
type world struct {
	reference.Cluster
	rng   *rand.Rand
	gen   *gen.Generator
	graph *affinity.Graph
}

// presets are the mixes of features that random clusters are drawn from.
func presets() []gen.Options {
	return []gen.Options{gen.Everything(), gen.Plain(), gen.Affine(), gen.Spreading(), gen.Crowded()}
}

func newWorld(seed uint64) (*world, error) {
	return newWorldOf(seed, func(rng *rand.Rand, o *gen.Options) { o.Nodes, o.Pods = 1+rng.IntN(20), rng.IntN(60) })
}

func newWorldOf(seed uint64, size func(*rand.Rand, *gen.Options)) (*world, error) {
	w := &world{rng: rand.New(rand.NewPCG(seed, 41))}
	opts := presets()[seed%uint64(len(presets()))]
	size(w.rng, &opts)
	w.gen = gen.New(w.rng, opts)
	var err error
	if w.graph, err = affinity.New(affinity.Config{Seed: seed}); err != nil {
		return nil, err
	}
	c := w.gen.Cluster()
	w.Nodes, w.Namespaces = c.Nodes, c.Namespaces
	for i := range c.Namespaces {
		if err := w.graph.SetNamespace(&c.Namespaces[i]); err != nil {
			return nil, err
		}
	}
	for i := range c.Nodes {
		if err := w.graph.AddNode(&c.Nodes[i]); err != nil {
			return nil, err
		}
	}
	for i := range c.Pods {
		if err := w.add(*berth.Fold(&c.Pods[i])); err != nil {
			return nil, err
		}
	}
	return w, nil
}

// add enters a pod on both sides; one that claims GPUs which are taken stays out, and so does one whose node is not there.
func (w *world) add(p berth.Pod) error {
	if _, ok := w.graph.Topology().Lookup(p.NodeName + p.NominatedNodeName); !ok {
		return nil
	}
	var err error
	if p.NodeName != "" {
		err = w.graph.Bind(&p, p.NodeName)
		p.GPU.Devices = w.graph.Devices(p.Key()) // they stay when others go
	} else {
		err = w.graph.Nominate(&p, p.NominatedNodeName)
	}
	if errors.Is(err, affinity.ErrDevices) {
		return nil
	}
	w.Pods = append(w.Pods, p)
	return err
}

func (w *world) pipeline(cfg score.Config) (*score.Pipeline, error) { return score.New(w.graph, cfg) }

func (w *world) pod() *berth.Pod {
	p := w.gen.Pod()
	return berth.Fold(&p)
}

func (w *world) node(name string) int {
	return slices.IndexFunc(w.Nodes, func(n berth.Node) bool { return n.Name == name })
}

// with returns the cluster and the pod after the changes, made in the plainest way there is.
func (w *world) with(pod *berth.Pod, changes []explain.Change) (*reference.Cluster, *berth.Pod) {
	c := w.Cluster
	c.Nodes, c.Pods = slices.Clone(c.Nodes), slices.Clone(c.Pods)
	p := *pod
	for i := range changes {
		changeCluster(&c, &changes[i])
		changePod(&p, &changes[i])
	}
	return &c, &p
}

func changeCluster(c *reference.Cluster, ch *explain.Change) {
	var node *berth.Node
	for i := range c.Nodes {
		if c.Nodes[i].Name == ch.Node {
			node = &c.Nodes[i]
		}
	}
	switch ch.Kind {
	case explain.Uncordon:
		node.Unschedulable = false
	case explain.SetLabel, explain.RemoveLabel:
		labels := map[string]string{}
		for k, v := range node.Labels {
			labels[k] = v
		}
		if delete(labels, ch.Key); ch.Kind == explain.SetLabel {
			labels[ch.Key] = ch.Value
		}
		node.Labels = labels
	case explain.AddResource:
		a := &node.Allocatable
		switch ch.Resource {
		case "cpu":
			a.MilliCPU += ch.Amount
		case "memory":
			a.Memory += ch.Amount
		case "ephemeral-storage":
			a.EphemeralStorage += ch.Amount
		case "pods":
			a.Pods += ch.Amount
		default:
			scalar := map[string]int64{}
			for k, v := range a.Scalar {
				scalar[k] = v
			}
			scalar[ch.Resource] += ch.Amount
			a.Scalar = scalar
		}
	case explain.AddGPUs:
		if node.GPUs.Count == 0 && ch.Model != "" {
			node.GPUs.Model = ch.Model
		}
		node.GPUs.Count += int(ch.Amount)
	case explain.AddPod:
		name := fmt.Sprint("more-", len(c.Pods))
		c.Pods = append(c.Pods, berth.Pod{Namespace: ch.Namespace, Name: name, Labels: ch.Labels, NodeName: ch.Node})
	case explain.RemovePod, explain.EndNomination:
		c.Pods = slices.DeleteFunc(c.Pods, func(p berth.Pod) bool {
			return p.Key() == *ch.Pod && (p.NodeName == ch.Node) == (ch.Kind == explain.RemovePod)
		})
	}
}

func changePod(p *berth.Pod, ch *explain.Change) {
	if p.Affinity != nil {
		a := *p.Affinity
		p.Affinity = &a
	}
	switch ch.Kind {
	case explain.Tolerate:
		t := berth.Toleration{Key: ch.Taint.Key, Value: ch.Taint.Value, Effect: ch.Taint.Effect}
		p.Tolerations = append(slices.Clone(p.Tolerations), t)
	case explain.AcceptGPUModel:
		p.GPU.Models = append(slices.Clone(p.GPU.Models), ch.Model)
	case explain.DropNodeName:
		p.NodeName = ""
	case explain.DropNodeSelector:
		selector := map[string]string{}
		for k, v := range p.NodeSelector {
			if k != ch.Key {
				selector[k] = v
			}
		}
		p.NodeSelector = selector
	case explain.DropNodeAffinity:
		n := *p.Affinity.NodeAffinity
		n.RequiredDuringSchedulingIgnoredDuringExecution = nil
		p.Affinity.NodeAffinity = &n
	case explain.DropPodAffinity:
		n := *p.Affinity.PodAffinity
		n.RequiredDuringSchedulingIgnoredDuringExecution = nil
		p.Affinity.PodAffinity = &n
	}
}
