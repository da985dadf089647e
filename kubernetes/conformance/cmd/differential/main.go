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
	"time"

	"github.com/berth-go/berth/kubernetes/conformance"
	"github.com/berth-go/berth/kubernetes/conformance/differential"
	"github.com/berth-go/berth/kubernetes/conformance/schedulers"
)

func main() {
	var (
		seed     = flag.Uint64("seed", 0, "seed of the questions; 0 draws one")
		first    = flag.Uint64("first", 0, "number of the first script of the seed")
		verdicts = flag.Int("verdicts", 1_000_000, "stop after this many node verdicts")
		scores   = flag.Int("scores", 1_000_000, "... and this many scores")
		limit    = flag.Duration("time", 15*time.Minute, "stop after this time in any case")
		minimise = flag.Duration("minimise", 2*time.Minute, "time to minimise a difference")
		dir      = flag.String("dir", os.TempDir(), "where a difference is written to")
		keep     = flag.Bool("continue", false, "go on after a difference")
		replay   = flag.String("replay", "", "replay this file only")
		with     = flag.String("with", schedulers.Berth, "who is compared with kube-scheduler: berth or reference")
	)
	flag.Parse()
	ours, err := schedulers.Named(*with)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	judge, _ := schedulers.Named(schedulers.Kube)
	c := comparison{ours, judge}
	if *replay != "" {
		os.Exit(c.replay(*replay))
	}
	if *seed == 0 {
		*seed = rand.Uint64()
	}
	fmt.Printf("seed %d\n", *seed)
	start, found := time.Now(), 0
	var total differential.Counts
	i := *first
	for ; (total.Verdicts < *verdicts || total.Scores < *scores) && time.Since(start) < *limit; i++ {
		script := differential.Generate(*seed, i)
		counts, difference, err := script.Run(c.ours, c.judge)
		total.Add(counts)
		if difference == nil && err == nil {
			continue
		}
		found++
		fmt.Printf("script %d: ", i)
		report(script, difference, err)
		if err == nil {
			c.write(script, difference.Kind(), filepath.Join(*dir, fmt.Sprintf("difference-%d-%d.yaml", *seed, i)), time.Now().Add(*minimise))
		}
		if !*keep {
			break
		}
	}
	fmt.Printf("%d scripts, %d questions, %d changes: %d verdicts, %d scores, %d preemptions with %d candidates compared in %v, %d differences\n",
		i-*first, total.Questions, total.Changes, total.Verdicts, total.Scores, total.Preemptions, total.Candidates,
		time.Since(start).Round(time.Second), found)
	if found > 0 {
		os.Exit(1)
	}
}

// comparison is who is compared with whom.
type comparison struct{ ours, judge conformance.Open }

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

// write minimises a script that shows a difference of the kind, and writes it to a file.
func (c comparison) write(s *differential.Script, kind, path string, deadline time.Time) {
	small := differential.Minimise(s, func(s *differential.Script) bool {
		_, difference, err := s.Run(c.ours, c.judge)
		return err == nil && difference != nil && difference.Kind() == kind
	}, deadline)
	_, difference, err := small.Run(c.ours, c.judge)
	if err != nil || difference == nil {
		fmt.Println("it does not show again:", err)
		return
	}
	head := append([]string{"go run ./cmd/differential -replay " + filepath.Base(path)}, difference.Lines...)
	if err := small.File(path, head); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("minimised to %s: ", path)
	report(small, difference, nil)
}

// replay runs the script of a file and returns the exit status.
func (c comparison) replay(path string) int {
	s, err := differential.Read(path)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	counts, difference, err := s.Run(c.ours, c.judge)
	if difference != nil || err != nil {
		report(s, difference, err)
		return 1
	}
	fmt.Printf("no difference in %d verdicts and %d scores\n", counts.Verdicts, counts.Scores)
	return 0
}
