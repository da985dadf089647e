package explain_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/internal/gen"
	"github.com/berth-go/berth/score"
	"github.com/berth-go/berth/score/explain"
)

// TestSmallestIsSmallest tries, on very small clusters, every single change and every pair in place of suggestions that
// claim to be the smallest.
func TestSmallestIsSmallest(t *testing.T) {
	tried := 0
	for seed := range uint64(60 * *steps) {
		n, err := smallestOn(seed)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		tried += n
	}
	if tried < 20 {
		t.Errorf("only %d suggestions of several changes", tried)
	}
	t.Logf("%d suggestions of several changes", tried)
}

func smallestOn(seed uint64) (tried int, err error) {
	w, err := newWorldOf(seed, func(rng *rand.Rand, o *gen.Options) { o.Nodes, o.Pods = 4, 8 })
	if err != nil {
		return 0, err
	}
	p, err := w.pipeline(score.Config{})
	if err != nil {
		return 0, err
	}
	for range 2 {
		pod := w.pod()
		e, err := explain.Explain(context.Background(), p, pod, explain.Options{})
		if err != nil {
			return tried, err
		}
		for _, r := range e.Refusals {
			if s := r.Suggestion; s == nil || !s.Smallest || len(s.Changes) < 2 {
				continue
			}
			tried++
			if err := w.nothingSmaller(pod, &r); err != nil {
				return tried, err
			}
		}
	}
	return tried, nil
}

func (w *world) nothingSmaller(pod *berth.Pod, r *explain.Refusal) error {
	all := w.imaginable(pod, r)
	for i := range all {
		if got := w.judge(pod, r.Node, all[i:i+1]); got.Plugin == "" {
			return fmt.Errorf("node %s: not %q, but %q", r.Node, r.Suggestion, &all[i])
		}
		for j := 0; j < i && len(r.Suggestion.Changes) > 2; j++ {
			pair := []explain.Change{all[j], all[i]}
			if got := w.judge(pod, r.Node, pair); got.Plugin == "" {
				return fmt.Errorf("node %s: not %q, but %q and %q", r.Node, r.Suggestion, &pair[0], &pair[1])
			}
		}
	}
	return nil
}

// imaginable are all changes that might help, but for labels. Wishes of the pod are given up only if the suggestion does so.
func (w *world) imaginable(pod *berth.Pod, r *explain.Refusal) []explain.Change {
	node := &w.Nodes[w.node(r.Node)]
	all := []explain.Change{{Kind: explain.Uncordon, Node: node.Name}}
	if node.GPUs.Count == 0 && len(pod.GPU.Models) > 0 {
		all = append(all, explain.Change{Kind: explain.AddGPUs, Node: node.Name, Amount: 8, Model: pod.GPU.Models[0]})
	} else {
		all = append(all, explain.Change{Kind: explain.AddGPUs, Node: node.Name, Amount: 8})
	}
	resources := []string{"cpu", "memory", "ephemeral-storage", "pods"}
	for name := range pod.Requests.Scalar {
		resources = append(resources, name)
	}
	for _, name := range resources {
		all = append(all, explain.Change{Kind: explain.AddResource, Node: node.Name, Resource: name, Amount: berth.MaxAmount})
	}
	for i := range node.Taints {
		all = append(all, explain.Change{Kind: explain.Tolerate, Taint: &node.Taints[i]})
	}
	for i := range w.Pods {
		p := &w.Pods[i]
		key := p.Key()
		kind, on := explain.RemovePod, p.NodeName
		if on == "" {
			kind, on = explain.EndNomination, p.NominatedNodeName
		}
		all = append(all, explain.Change{Kind: kind, Node: on, Pod: &key})
	}
	for _, c := range r.Suggestion.Changes {
		switch c.Kind {
		case explain.AcceptGPUModel, explain.DropNodeName, explain.DropNodeSelector, explain.DropNodeAffinity, explain.DropPodAffinity:
			all = append(all, c)
		}
	}
	for i := range w.Nodes {
		all = append(all, explain.Change{Kind: explain.AddPod, Node: w.Nodes[i].Name, Namespace: pod.Namespace, Labels: pod.Labels})
	}
	return all
}
