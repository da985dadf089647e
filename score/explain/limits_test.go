package explain_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/score"
	"github.com/berth-go/berth/score/explain"
)

func TestSuggestionsWithinLimits(t *testing.T) {
	large := func(name, zone string) berth.Node {
		return node(name, zone, func(n *berth.Node) {
			n.Allocatable = berth.Resources{MilliCPU: 1 << 30, Memory: berth.MaxAmount, Pods: 1000}
			n.GPUs.Count = 64
		})
	}
	many := func(n int, on string, with ...func(*berth.Pod)) (pods []berth.Pod) {
		for i := range n {
			pods = append(pods, pod(fmt.Sprintf("%s-%03d", on, i), on, with...))
		}
		return pods
	}
	for _, c := range []struct {
		name string
		s    scenario
		// kinds are how many changes of each kind are suggested; nil if none is.
		kinds map[explain.Kind]int
	}{
		{"a node with all the GPUs that there can be loses a pod",
			scenario{nodes: []berth.Node{large("n", "a")}, pods: many(64, "n", gpus(1, berth.GPUMilli)), pod: pod("p", "", gpus(1, berth.GPUMilli))},
			map[explain.Kind]int{explain.RemovePod: 1}},
		{"a node that can offer no more loses a pod",
			scenario{nodes: []berth.Node{large("n", "a")}, pods: many(1, "n", memory(1<<40)), pod: pod("p", "", memory(berth.MaxAmount))},
			map[explain.Kind]int{explain.RemovePod: 1}},
		{"as many pods as a suggestion has room for",
			scenario{nodes: []berth.Node{large("n", "a")}, pods: many(explain.MaxChanges, "n", app("web")), pod: pod("p", "", apart("web", berth.LabelZone))},
			map[explain.Kind]int{explain.RemovePod: explain.MaxChanges}},
		{"one more is too many",
			scenario{nodes: []berth.Node{large("n", "a")}, pods: many(explain.MaxChanges+1, "n", app("web")), pod: pod("p", "", apart("web", berth.LabelZone))}, nil},
		{"a skew that can be made good by so many pods elsewhere",
			scenario{nodes: []berth.Node{large("n", "a"), large("m", "b")}, pods: many(20, "n", app("web")), pod: pod("p", "", app("web"), spread("web", berth.LabelZone))},
			map[explain.Kind]int{explain.AddPod: 20}},
		{"a skew that takes fewer removals than pods elsewhere",
			scenario{nodes: []berth.Node{large("n", "a"), large("m", "b"), large("l", "c")}, pods: many(5, "n", app("web")), pod: pod("p", "", app("web"), spread("web", berth.LabelZone))},
			map[explain.Kind]int{explain.RemovePod: 5}},
		{"a skew that is too large",
			scenario{nodes: []berth.Node{large("n", "a"), large("m", "b")}, pods: many(60, "n", app("web")), pod: pod("p", "", app("web"), spread("web", berth.LabelZone))}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, err := score.New(c.s.graph(t), score.Config{})
			require.NoError(t, err)
			got, err := explain.WhatIf(t.Context(), p, &c.s.pod, "n", explain.Options{})
			require.NoError(t, err)
			require.NotNil(t, got.Refusal)
			if c.kinds == nil {
				assert.Nil(t, got.Refusal.Suggestion)
				return
			}
			kinds := map[explain.Kind]int{}
			require.NotNil(t, got.Refusal.Suggestion)
			for _, change := range got.Refusal.Suggestion.Changes {
				kinds[change.Kind]++
			}
			assert.Equal(t, c.kinds, kinds)
		})
	}
}
