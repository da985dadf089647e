package reference

import (
	"cmp"
	"slices"
	"time"

	"github.com/berth-go/berth"
)

// byImportance orders pods, the most important first (framework/preemption/util.go, MoreImportantVictim).
func byImportance(a, b *berth.Pod) int {
	return cmp.Or(cmp.Compare(b.Priority, a.Priority), started(a).Compare(started(b)))
}

// started is when a pod started; one that has not counts as started last.
func started(p *berth.Pod) time.Time {
	if p.StartTime.IsZero() {
		return time.Unix(1<<40, 0)
	}
	return p.StartTime
}

// splitByBudgets tells apart the pods whose eviction, one after the other in the given order, violates a budget
// (framework/preemption/util.go, FilterVictimsWithPDBViolation).
func (c *Cluster) splitByBudgets(pods []*berth.Pod) (violating, others []*berth.Pod) {
	var allowed []int32
	for i := range c.Budgets {
		allowed = append(allowed, c.Budgets[i].DisruptionsAllowed)
	}
	for _, p := range pods {
		if c.violates(p, allowed) {
			violating = append(violating, p)
		} else {
			others = append(others, p)
		}
	}
	return violating, others
}

// violates charges the eviction of a pod to the budgets that select it, up to the first that has nothing left. A pod
// without labels is never selected, nor is any by a selector {}.
func (c *Cluster) violates(p *berth.Pod, allowed []int32) bool {
	if len(p.Labels) == 0 {
		return false
	}
	for i := range c.Budgets {
		b := &c.Budgets[i]
		if b.Namespace != p.Namespace || selectsAll(b.Selector) || !selects(b.Selector, p.Labels) {
			continue
		}
		if slices.Contains(b.DisruptedPods, p.Name) {
			continue
		}
		if allowed[i]--; allowed[i] < 0 {
			return true
		}
	}
	return false
}
