package main

import (
	"github.com/berth-go/berth/kubernetes/conformance/casefile"
	"github.com/berth-go/berth/kubernetes/conformance/schedulers"
)

// kinds says who checks which kind of case. A kind that is not in it is skipped.
type kinds map[string]func(*casefile.Case) (failures []string)

// kindsOf returns the kinds that a scheduler answers.
func kindsOf(scheduler string) (kinds, error) {
	open, err := schedulers.Named(scheduler)
	if err != nil {
		return nil, err
	}
	placing := func(c *casefile.Case) []string { return c.Check(open, scheduler == schedulers.Kube) }
	all := kinds{
		"filter": placing, "score": placing, "spread": placing, "affinity": placing, "antiaffinity": placing,
		"taint": placing, "resources": placing, "preemption": placing, "cache": placing, "perf": placing,
	}
	if scheduler != schedulers.Reference {
		all["queue"] = func(c *casefile.Case) []string { return queueCase(c, scheduler) }
	}
	if scheduler == schedulers.Berth {
		all["numa"], all["gang"] = numaCase, gangCase
	}
	return all, nil
}
