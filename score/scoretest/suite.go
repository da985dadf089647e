package scoretest

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/affinity"
	"github.com/berth-go/berth/score"
	"github.com/berth-go/berth/topology"
)

// World is what plugins are asked about.
type World struct {
	Graph *affinity.Graph
	// Pods are to be placed; most of them should fit somewhere.
	Pods []*berth.Pod
}

// Suite configures contract tests. The zero value is ready to use.
type Suite struct {
	// World makes the world, the same at each call, for plugins that need labels, resources or pods of their own. Nil is
	// a cluster of some sixty nodes in three zones, with GPUs, taints and pods.
	World func() (World, error)
	// Patience is how long a call may go on when its context is done. 0 means 5 s.
	Patience time.Duration
}

// run is one run of a suite on a plugin. Each fault is reported once: the first of its kind says enough.
type run struct {
	testing.TB
	suite    Suite
	plugin   string
	reported map[string]bool
}

func (s Suite) run(tb testing.TB, plugin interface{ Name() string }) *run {
	r := &run{TB: tb, suite: s, reported: make(map[string]bool)}
	if s.Patience == 0 {
		r.suite.Patience = 5 * time.Second
	}
	if s.World == nil {
		r.suite.World = defaultWorld
	}
	r.plugin = plugin.Name()
	if r.plugin == "" {
		r.fault("has no name", "Name returns an empty string")
	}
	if again := plugin.Name(); again != r.plugin {
		r.fault("changes its name", "%q, then %q", r.plugin, again)
	}
	return r
}

// fault reports that a part of the contract is broken.
func (r *run) fault(what, format string, args ...any) {
	r.Helper()
	if !r.reported[what] {
		r.reported[what] = true
		r.Errorf("plugin %q %s: %s", r.plugin, what, fmt.Sprintf(format, args...))
	}
}

// world makes the world and returns its pods that fit somewhere, each with its input and the nodes that it fits on.
func (r *run) world() (*affinity.Graph, []question) {
	r.Helper()
	w, err := r.suite.World()
	if err != nil {
		r.Fatalf("the world: %v", err)
	}
	profile, err := w.Graph.NewProfile(affinity.ProfileConfig{NoScores: true})
	if err != nil {
		r.Fatalf("the world's profile: %v", err)
	}
	var questions []question
	for _, pod := range w.Pods {
		class, err := w.Graph.Class(pod)
		if err != nil {
			r.Fatalf("the world's pod %v: %v", pod.Key(), err)
		}
		var set topology.NodeSet
		if err := profile.Feasible(pod, &set); err != nil {
			r.Fatalf("the world's pod %v: %v", pod.Key(), err)
		}
		if !set.Empty() {
			questions = append(questions, question{score.Input{Pod: pod, Graph: w.Graph, Class: class}, set.AppendTo(nil)})
		}
	}
	if len(questions) == 0 {
		r.Fatalf("no pod of the world fits on a node")
	}
	return w.Graph, questions
}

// question is a pod and the nodes that it fits on.
type question struct {
	in    score.Input
	nodes []topology.NodeID
}

// call calls a plugin, and reports errors, panics, and changes of what is only to be read. It reports false if there is no
// answer.
func (r *run) call(in *score.Input, what string, f func() error) (ok bool) {
	r.Helper()
	before, was := r.digest(in), *in
	defer func() {
		r.Helper()
		if v := recover(); v != nil {
			r.fault("panics", "%s for pod %v: %v", what, was.Pod.Key(), v)
			ok = false
		}
		if in.Pod != was.Pod || in.Graph != was.Graph || in.Class != was.Class || r.digest(in) != before {
			r.fault("changes its input", "%s for pod %v", what, was.Pod.Key())
			ok = false
		}
	}()
	if err := f(); err != nil {
		r.fault("fails", "%s for pod %v: %v", what, was.Pod.Key(), err)
		return false
	}
	return true
}

// digest is what the input points to, as far as a plugin might change it.
func (r *run) digest(in *score.Input) string {
	r.Helper()
	pod, err := json.Marshal(in.Pod)
	if err != nil {
		r.Fatalf("pod %v: %v", in.Pod.Key(), err)
	}
	_, changes, _ := in.Graph.Changes(0)
	return fmt.Sprint(string(pod), in.Graph.Pods(), in.Graph.Topology().Len(), changes)
}

// cancelled calls a plugin with a context that is done, and reports if it does not come back. It may fail.
func (r *run) cancelled(what string, f func(ctx context.Context)) {
	r.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	r.comesBack(what, func() { f(ctx) })
}

// comesBack reports if f is not done within the patience.
func (r *run) comesBack(what string, f func()) {
	r.Helper()
	done := make(chan any, 1)
	go func() {
		defer func() { done <- recover() }()
		f()
	}()
	timer := time.NewTimer(r.suite.Patience)
	defer timer.Stop()
	select {
	case v := <-done:
		if v != nil {
			r.fault("panics", "%s, cancelled: %v", what, v)
		}
	case <-timer.C:
		r.fault("ignores cancellation", "%s goes on %v after its context is done", what, r.suite.Patience)
	}
}

// defaultWorld has nodes of several sizes, some with GPUs of two models, some tainted, with labels of two levels of topology;
// pods on every second one; and pods of many kinds to be placed.
func defaultWorld() (World, error) {
	g, err := affinity.New(affinity.Config{})
	if err != nil {
		return World{}, err
	}
	for i := range 61 {
		n := &berth.Node{
			Name: fmt.Sprint("node-", i),
			Labels: map[string]string{
				berth.LabelHostname: fmt.Sprint("node-", i), berth.LabelZone: fmt.Sprint("zone-", i%3), "rack": fmt.Sprint("rack-", i%9),
			},
			Allocatable: berth.Resources{MilliCPU: int64(4000 + i%4*4000), Memory: int64(8+i%5*8) << 30, Pods: 30},
		}
		switch i % 6 {
		case 1:
			n.GPUs = berth.GPUs{Model: "T4", Count: 2}
		case 4:
			n.GPUs = berth.GPUs{Model: "A100", Count: 4}
		case 5:
			n.Taints = []berth.Taint{{Key: "dedicated", Value: "batch", Effect: berth.NoSchedule}}
		}
		if err := g.AddNode(n); err != nil {
			return World{}, err
		}
		for k := range i % 4 {
			p := pod(fmt.Sprint("placed-", i, "-", k), int64(500+100*k), int64(1+k)<<30)
			if n.GPUs.Count > 0 && k == 0 {
				p.GPU = berth.GPURequest{Count: 1, Milli: 600}
			}
			if err := g.Bind(p, n.Name); err != nil {
				return World{}, err
			}
		}
	}
	selector := pod("selector", 300, 1<<30)
	selector.NodeSelector = map[string]string{berth.LabelZone: "zone-1"}
	tolerant := pod("tolerant", 300, 1<<30)
	tolerant.Tolerations = []berth.Toleration{{Operator: berth.TolerationExists}}
	gpuShare := pod("gpu-share", 500, 1<<30)
	gpuShare.GPU = berth.GPURequest{Count: 1, Milli: 300}
	gpus := pod("gpus", 500, 1<<30)
	gpus.GPU = berth.GPURequest{Count: 2, Milli: berth.GPUMilli, Models: []string{"A100"}}
	large := pod("large", 9000, 10<<30)
	urgent := pod("urgent", 100, 1<<28)
	urgent.Priority = 1000
	return World{g, []*berth.Pod{pod("nothing", 0, 0), pod("plain", 500, 1<<30), selector, tolerant, gpuShare, gpus, large, urgent}}, nil
}

func pod(name string, cpu, memory int64) *berth.Pod {
	return &berth.Pod{
		Namespace: "default", Name: name, UID: "uid-" + name, Labels: map[string]string{"app": name},
		Requests: berth.Resources{MilliCPU: cpu, Memory: memory},
	}
}

// filled returns a column of one value.
func filled(n int, value int64) []int64 { return slices.Repeat([]int64{value}, n) }
