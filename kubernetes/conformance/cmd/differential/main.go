// Command differential puts random questions to berth and to kube-scheduler and compares every answer.
//
//	go run ./cmd/differential [flags]
//	go run ./cmd/differential -replay FILE
//
// It stops when enough was compared, when time is up, or at the first difference, which it minimises and writes to a file
// that -replay reads. The seed is printed; the same seed draws the same questions. The exit status is 1 after a difference.
package main

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/berth-go/berth/kubernetes/conformance/differential"
	"github.com/berth-go/berth/kubernetes/conformance/schedulers"
)

func main() {
	var (
		c        differential.Comparison
		with     = flag.String("with", schedulers.Berth, "who is compared with kube-scheduler: berth, transactions or reference")
		minimise = flag.Duration("minimise", 2*time.Minute, "time to minimise a difference")
		dir      = flag.String("dir", os.TempDir(), "where a difference is written to")
		keep     = flag.Bool("continue", false, "go on after a difference")
		replay   = flag.String("replay", "", "replay this file only")
	)
	flag.Uint64Var(&c.Seed, "seed", 0, "seed of the questions; 0 draws one")
	flag.Uint64Var(&c.First, "first", 0, "number of the first script of the seed")
	flag.IntVar(&c.Nodes, "nodes", differential.MaxNodes, "largest number of nodes of a cluster")
	flag.IntVar(&c.Verdicts, "verdicts", 1_000_000, "stop after this many node verdicts")
	flag.IntVar(&c.Scores, "scores", 1_000_000, "... and this many scores")
	flag.DurationVar(&c.Time, "time", 15*time.Minute, "stop after this time in any case")
	flag.IntVar(&c.Workers, "workers", runtime.GOMAXPROCS(0), "scripts that run at once")
	flag.Parse()
	var err error
	if c.Ours, err = schedulers.Named(*with); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	c.Judge, _ = schedulers.Named(schedulers.Kube)
	if *replay != "" {
		os.Exit(replayFile(&c, *replay))
	}
	if c.Seed == 0 {
		c.Seed = rand.Uint64()
	}
	fmt.Printf("seed %d\n", c.Seed)
	start, differences := time.Now(), 0
	scripts, total := c.Run(func(f differential.Finding) bool {
		differences++
		fmt.Printf("script %d: ", f.Number)
		report(f.Script, f.Difference, f.Err)
		if f.Err == nil {
			write(&c, f, *minimise, filepath.Join(*dir, fmt.Sprintf("difference-%d-%d.yaml", c.Seed, f.Number)))
		}
		return *keep
	})
	fmt.Printf("%d scripts, %d questions, %d changes: %d verdicts, %d scores, %d preemptions with %d candidates compared in %v, %d differences\n",
		scripts, total.Questions, total.Changes, total.Verdicts, total.Scores, total.Preemptions, total.Candidates,
		time.Since(start).Round(time.Second), differences)
	if differences > 0 {
		os.Exit(1)
	}
}

func report(s *differential.Script, difference *differential.Difference, err error) {
	if err != nil {
		fmt.Println("error:", err)
		return
	}
	fmt.Printf("step %d, %v, cluster of %d nodes and %d pods:\n", difference.Step, &s.Steps[difference.Step], len(s.Cluster.Nodes), len(s.Cluster.Pods))
	for _, line := range difference.Lines {
		fmt.Println("    ", line)
	}
}

// write minimises what was found and writes it to a file.
func write(c *differential.Comparison, f differential.Finding, limit time.Duration, path string) {
	small, difference := c.Minimise(f, limit)
	head := append([]string{"go run ./cmd/differential -replay " + filepath.Base(path)}, difference.Lines...)
	if err := small.File(path, head); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("minimised to %s: ", path)
	report(small, difference, nil)
}

// replayFile runs one script and returns the exit status.
func replayFile(c *differential.Comparison, path string) int {
	s, err := differential.Read(path)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	counts, difference, err := s.Run(c.Ours, c.Judge)
	if difference != nil || err != nil {
		report(s, difference, err)
		return 1
	}
	fmt.Printf("no difference in %d verdicts and %d scores\n", counts.Verdicts, counts.Scores)
	return 0
}
