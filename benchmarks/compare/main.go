// Command compare replays a GPU trace under several placement strategies and prints what each made of the cluster.
//
//	go run ./benchmarks/compare [flags]
//
// By default these are the 8,152 pods of the trace in testdata, inflated as the authors of FGD do until they ask for 130 %
// of the 6,212 GPUs of the 1,213 nodes, and one seed.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"text/tabwriter"
	"time"

	"github.com/berth-go/berth/benchmarks"
	"github.com/berth-go/berth/internal/openb"
)

func main() {
	if err := run(os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "compare:", err)
		os.Exit(1)
	}
}

type options struct {
	pods, nodes, strategies string
	seeds                   int
	paper, inflate, json    bool
}

func run(args []string, out, progress *os.File) error {
	var o options
	fs := flag.NewFlagSet("compare", flag.ContinueOnError)
	fs.StringVar(&o.pods, "pods", testdata("openb_pod_list_default.csv.gz"), "CSV `FILE` of pods, gzipped if it ends in .gz")
	fs.StringVar(&o.nodes, "nodes", testdata("openb_node_list_gpu_node.csv.gz"), "CSV `FILE` of nodes")
	fs.StringVar(&o.strategies, "strategies", "", "strategies, separated by commas; all if empty")
	fs.IntVar(&o.seeds, "seeds", 1, "number of seeds: arrival orders")
	fs.BoolVar(&o.paper, "paper", false, "the set-up of the FGD paper: its order of nodes of equal score, and its six policies only")
	fs.BoolVar(&o.inflate, "inflate", true, "inflate the list to 130 % of the GPUs")
	fs.BoolVar(&o.json, "json", false, "print JSON, an object for each replay")
	if err := fs.Parse(args); err != nil {
		if err == flag.ErrHelp {
			return nil
		}
		return err
	}
	if o.seeds < 1 || fs.NArg() > 0 {
		return fmt.Errorf("-seeds is %d, not positive, or arguments are left over: %q", o.seeds, fs.Args())
	}
	trace, err := benchmarks.ReadTrace(o.nodes, o.pods)
	if err != nil {
		return err
	}
	strategies, err := benchmarks.Select(o.strategies)
	if err != nil {
		return err
	}
	if o.paper && o.strategies == "" {
		strategies = benchmarks.Paper()
	}
	rows, err := replayAll(trace, strategies, o, progress)
	if err != nil {
		return err
	}
	if o.json {
		return printJSON(out, rows)
	}
	printTable(out, trace, rows, o)
	return nil
}

// testdata is the path of a file beside the package's source, so that the command works from any folder.
func testdata(name string) string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(file), "..", "testdata", name)
}

func replayAll(trace *benchmarks.Trace, strategies []benchmarks.Strategy, o options, progress *os.File) ([][]benchmarks.Result, error) {
	show := terminal(progress)
	var rows [][]benchmarks.Result
	for _, s := range strategies {
		var row []benchmarks.Result
		for i := range o.seeds {
			opts := benchmarks.Options{Seed: openb.FirstSeed + int64(i), Inflate: o.inflate, Paper: o.paper}
			if show {
				last := time.Now()
				opts.Arrived = func(k, n int) {
					if time.Since(last) > 100*time.Millisecond || k == n {
						last = time.Now()
						fmt.Fprintf(progress, "\r\x1b[K%s, seed %d: %d of %d pods", s.Name, opts.Seed, k, n)
					}
				}
			}
			r, err := benchmarks.Replay(trace, s, opts)
			if err != nil {
				return nil, err
			}
			row = append(row, r)
		}
		rows = append(rows, row)
	}
	if show {
		fmt.Fprint(progress, "\r\x1b[K")
	}
	return rows, nil
}

func terminal(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

func printJSON(out io.Writer, rows [][]benchmarks.Result) error {
	enc := json.NewEncoder(out)
	for _, row := range rows {
		for _, r := range row {
			if err := enc.Encode(r); err != nil {
				return err
			}
		}
	}
	return nil
}

func printTable(out io.Writer, trace *benchmarks.Trace, rows [][]benchmarks.Result, o options) {
	fmt.Fprintf(out, "%d nodes with %d GPUs, %d pods in the list, %d seed(s)\n\n", len(trace.Nodes),
		openb.GPUCapacity(trace.Nodes)/1000, len(trace.Pods), o.seeds)
	tw := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(tw, "strategy\tGPUs % at 100 %\t±\tat 130 %\t±\tat the end\tpods not placed\tfragmented %\tdecisions/s\t")
	for _, row := range rows {
		at100, at130 := column(row, func(r *benchmarks.Result) float64 { return r.At100 }), column(row, func(r *benchmarks.Result) float64 { return r.At130 })
		final := column(row, func(r *benchmarks.Result) float64 { return r.Final })
		unplaced := column(row, func(r *benchmarks.Result) float64 { return float64(r.Unplaced) })
		frag := column(row, func(r *benchmarks.Result) float64 { return r.Fragmentation })
		rate := column(row, func(r *benchmarks.Result) float64 { return float64(r.Arrivals) / r.Elapsed.Seconds() })
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%s\t%.2f\t%.0f\t%.2f\t%.0f\t\n", row[0].Strategy,
			percent(at100.mean), percent(at100.deviation), percent(at130.mean), percent(at130.deviation), final.mean, unplaced.mean, frag.mean, rate.mean)
	}
	tw.Flush()
}

func percent(v float64) string {
	if v < 0 {
		return "-"
	}
	return fmt.Sprintf("%.2f", v)
}

type summary struct{ mean, deviation float64 }

// column summarises one figure over the seeds: mean and standard deviation of the population. A figure that is missing
// (negative) for a seed is missing.
func column(row []benchmarks.Result, of func(*benchmarks.Result) float64) summary {
	var sum, squares float64
	for i := range row {
		v := of(&row[i])
		if v < 0 {
			return summary{-1, -1}
		}
		sum += v
		squares += v * v
	}
	n := float64(len(row))
	mean := sum / n
	return summary{mean, math.Sqrt(max(0, squares/n-mean*mean))}
}
