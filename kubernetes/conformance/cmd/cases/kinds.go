package main

import (
	"fmt"

	"github.com/berth-go/berth/kubernetes/conformance"
	"github.com/berth-go/berth/kubernetes/conformance/casefile"
	"github.com/berth-go/berth/kubernetes/conformance/kube"
	"github.com/berth-go/berth/kubernetes/conformance/slow"
)

// kinds says who checks which kind of case. A kind that is not in it is skipped.
type kinds map[string]func(*casefile.Case) (failures []string)

// kindsOf returns the kinds that somebody answers.
func kindsOf(who string) (kinds, error) {
	var open casefile.Open
	done := func() {}
	switch who {
	case "kube":
		open = func(c *conformance.Cluster) (conformance.Scheduler, error) {
			s, err := kube.New(c)
			if err != nil {
				return nil, err
			}
			done = s.Close
			return s, nil
		}
	case "reference":
		open = func(c *conformance.Cluster) (conformance.Scheduler, error) { return slow.New(c) }
	default:
		return nil, fmt.Errorf("cases: -with %q: must be kube or reference", who)
	}
	placing := func(c *casefile.Case) []string {
		defer func() { done() }()
		return c.Check(open, who == "kube")
	}
	all := kinds{}
	for _, kind := range []string{
		"filter", "score", "spread", "affinity", "antiaffinity", "taint", "resources", "preemption", "cache", "perf",
	} {
		all[kind] = placing
	}
	return all, nil
}
