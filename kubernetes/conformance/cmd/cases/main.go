// Command cases asks the questions of case files and compares the answers with the ones in the files.
//
//	go run ./cmd/cases [-with NAME] FILE...
//
// It prints a line for each case: "ok", "FAIL" followed by what was expected and what came instead, or "skip" with the
// kind if nobody here answers that kind. The last line counts them. The exit status is 1 if any failed.
//
// With -with kube the judge itself answers, and is held to what the files say v1.37.2 does (v1_37_2) where that is not what
// is documented; with -with reference, berth's internal reference does.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/berth-go/berth/kubernetes/conformance/casefile"
	"github.com/berth-go/berth/kubernetes/conformance/schedulers"
)

func main() {
	with := flag.String("with", schedulers.Berth, "who answers: berth, reference or kube")
	flag.Usage = func() {
		fmt.Fprintf(flag.CommandLine.Output(), "usage: cases [-with NAME] FILE...\n")
		flag.PrintDefaults()
	}
	flag.Parse()
	kinds, err := kindsOf(*with)
	if err != nil || flag.NArg() == 0 {
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
		flag.Usage()
		os.Exit(2)
	}
	if failed := runFiles(os.Stdout, flag.Args(), kinds); failed > 0 {
		os.Exit(1)
	}
}

// runFiles runs the cases, prints what became of each and returns how many failed.
func runFiles(w io.Writer, files []string, kinds kinds) (failed int) {
	ok, skipped := 0, 0
	for _, file := range files {
		c, err := read(file)
		if err != nil {
			failed++
			fmt.Fprintf(w, "FAIL %s\n     %v\n", filepath.Base(file), err)
			continue
		}
		check := kinds[c.Kind]
		if check == nil {
			skipped++
			fmt.Fprintf(w, "skip %s (%s)\n", c.ID, c.Kind)
			continue
		}
		failures := check(c)
		if len(failures) == 0 {
			ok++
			fmt.Fprintf(w, "ok   %s\n", c.ID)
			continue
		}
		failed++
		fmt.Fprintf(w, "FAIL %s: %s\n", c.ID, c.Question)
		for _, f := range failures {
			fmt.Fprintf(w, "     %s\n", f)
		}
	}
	fmt.Fprintf(w, "%d ok, %d failed, %d skipped\n", ok, failed, skipped)
	return failed
}

func read(file string) (*casefile.Case, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	return casefile.Parse(data)
}
