// Command peerbench measures decisions of kube-scheduler and of berth on the same cluster in one process.
//
//	go run ./cmd/peerbench [-nodes N] [-pods N] [-shape NAME,...] [-sample default|all] [-decisions N]
//
// For each shape it prints the median and the 99th percentile of the time of a decision: kube-scheduler's when it looks at
// all nodes, its own with its default sampling, and berth's, which always looks at all; how many times berth's median goes
// into the others; then the same medians and ratios of a cycle, which is the decision and the placement after it;
// the heap for each node and each pod; and how many of berth's decisions were among the nodes that
// kube-scheduler rates best when it looks at all. The last two lines sum that up, cycles first. The exit status is 1 unless all
// agree.
package main

import (
	"flag"
	"fmt"
	"math"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/berth-go/berth/kubernetes/conformance"
	"github.com/berth-go/berth/kubernetes/conformance/fast"
	"github.com/berth-go/berth/kubernetes/conformance/kube"
	"github.com/berth-go/berth/kubernetes/conformance/peerbench"
)

func main() {
	var (
		nodes     = flag.Int("nodes", 5000, "number of nodes, in 3 zones")
		pods      = flag.Int("pods", 5000, "number of pods placed at the start")
		names     = flag.String("shape", "", "shapes, separated by commas; all if empty")
		sample    = flag.String("sample", "", "how many nodes kube-scheduler looks at: default, all, or both if empty")
		decisions = flag.Int("decisions", 200, "number of decisions for each shape")
		warmup    = flag.Int("warmup", 40, "number of decisions before, which are not timed")
	)
	flag.Parse()
	shapes, err := choose(*names)
	if err == nil && *sample != "" && *sample != "default" && *sample != "all" {
		err = fmt.Errorf("peerbench: -sample %q: must be default or all", *sample)
	}
	if err == nil && (*nodes < peerbench.Zones || *pods < 0 || *decisions < 1 || *warmup < 0) {
		err = fmt.Errorf("peerbench: -nodes must be at least %d, -decisions at least 1, the others not negative", peerbench.Zones)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	cfg := peerbench.Config{Nodes: *nodes, Pods: *pods, Warmup: *warmup, Decisions: *decisions}
	fmt.Printf("%d nodes, %d pods, %d decisions; kube-scheduler v1.37.2, %s, %d CPUs\n", *nodes, *pods, *decisions, runtime.Version(), runtime.GOMAXPROCS(0))
	agreed, err := run(shapes, cfg, *sample)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if !agreed {
		os.Exit(1)
	}
}

func choose(names string) ([]peerbench.Shape, error) {
	all := peerbench.Shapes()
	if names == "" {
		return all, nil
	}
	var chosen []peerbench.Shape
	for _, name := range strings.Split(names, ",") {
		i := slices.IndexFunc(all, func(s peerbench.Shape) bool { return s.Name == name })
		if i < 0 {
			return nil, fmt.Errorf("peerbench: -shape %q: no such shape", name)
		}
		chosen = append(chosen, all[i])
	}
	return chosen, nil
}

// entries are berth, kube-scheduler with all nodes and kube-scheduler as it samples. The second is always there: it is the
// judge.
func entries(sample string) []peerbench.Entry {
	empty := &conformance.Cluster{}
	scheduler := func(percent int32) func() (peerbench.Peer, func(), error) {
		return func() (peerbench.Peer, func(), error) {
			s, err := kube.New(empty, kube.Sampled(percent))
			if err != nil {
				return nil, nil, err
			}
			if percent == 0 {
				return struct{ peerbench.Peer }{s}, s.Close, nil // no judge
			}
			return s, s.Close, nil
		}
	}
	out := []peerbench.Entry{
		{Name: "berth", Open: func() (peerbench.Peer, func(), error) {
			s, err := fast.New(empty)
			return s, func() {}, err
		}},
		{Name: "kube all", Open: scheduler(100)},
	}
	if sample != "all" {
		out = append(out, peerbench.Entry{Name: "kube default", Open: scheduler(0)})
	}
	return out
}

// run runs the shapes, prints a table and says whether all decisions agreed.
func run(shapes []peerbench.Shape, cfg peerbench.Config, sample string) (bool, error) {
	const layout = "%-24s%10s%10s%12s%10s%10s%10s%10s%14s%13s%10s%14s%13s%8s%14s%8s%10s\n"
	fmt.Printf(layout, "shape", "all p50", "p99", "default p50", "p99", "berth p50", "p99", "all/berth", "default/berth",
		"berth cycle", "all/berth", "default/berth", "kube B/node", "B/pod", "berth B/node", "B/pod", "agree")
	var all, def, allCycles, defCycles ratios
	agreed, decisions := 0, 0
	for i := range shapes {
		o, err := peerbench.Run(&shapes[i], cfg, entries(sample))
		if err != nil {
			return false, err
		}
		agreed, decisions = agreed+o.Agreed, decisions+o.Decisions
		berth, kubeAll := o.Results[0], o.Results[1]
		row := []any{shapes[i].Name, "-", "-", "-", "-", short(berth.P50), short(berth.P99), "-", "-", short(berth.CycleP50), "-", "-",
			fmt.Sprint(kubeAll.NodeBytes), fmt.Sprint(kubeAll.PodBytes), fmt.Sprint(berth.NodeBytes), fmt.Sprint(berth.PodBytes),
			fmt.Sprintf("%d/%d", o.Agreed, o.Decisions)}
		if sample != "default" {
			row[1], row[2], row[7] = short(kubeAll.P50), short(kubeAll.P99), all.add(kubeAll.P50, berth.P50)
			row[10] = allCycles.add(kubeAll.CycleP50, berth.CycleP50)
		}
		if sample != "all" {
			kubeDefault := o.Results[2]
			row[3], row[4], row[8] = short(kubeDefault.P50), short(kubeDefault.P99), def.add(kubeDefault.P50, berth.P50)
			row[11] = defCycles.add(kubeDefault.CycleP50, berth.CycleP50)
		}
		fmt.Printf(layout, row...)
	}
	fmt.Printf("cycles: geomean all=%s default=%s worst-all=%s worst-default=%s\n",
		allCycles.geomean(), defCycles.geomean(), allCycles.worst(), defCycles.worst())
	fmt.Printf("geomean all=%s default=%s worst-all=%s worst-default=%s agree=%s%%\n",
		all.geomean(), def.geomean(), all.worst(), def.worst(), percent(agreed, decisions))
	return agreed == decisions, nil
}

func short(d time.Duration) string {
	if d < time.Millisecond {
		return fmt.Sprintf("%.1fµs", float64(d)/float64(time.Microsecond))
	}
	return fmt.Sprintf("%.2fms", float64(d)/float64(time.Millisecond))
}

// percent says 100 only if it is all.
func percent(part, whole int) string {
	if part == whole {
		return "100"
	}
	return fmt.Sprintf("%.2f", math.Floor(1e4*float64(part)/float64(whole))/100)
}

// ratios are how many times berth's median goes into another's, by shape.
type ratios []float64

func (r *ratios) add(other, berth time.Duration) string {
	*r = append(*r, float64(other)/float64(max(berth, 1)))
	return format((*r)[len(*r)-1])
}

func (r ratios) geomean() string {
	if len(r) == 0 {
		return "-"
	}
	sum := 0.0
	for _, x := range r {
		sum += math.Log(x)
	}
	return format(math.Exp(sum / float64(len(r))))
}

func (r ratios) worst() string {
	if len(r) == 0 {
		return "-"
	}
	return format(slices.Min(r))
}

func format(x float64) string { return fmt.Sprintf("%.1f", x) }
