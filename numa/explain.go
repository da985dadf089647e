package numa

import (
	"fmt"
	"strings"
)

// ReasonCode says in which way a resource stands in the way.
type ReasonCode uint8

// Reasons.
const (
	// ReasonShort: the nodes do not have enough free. More free by Missing
	// clears it.
	ReasonShort ReasonCode = iota
	// ReasonTooBig: Nodes nodes could not hold it even if empty, so that no
	// hint is ever preferred. Only a smaller request or another policy helps.
	ReasonTooBig
	// ReasonUneven: the resource prefers masks of another number of nodes
	// than the others, and no hint is ever preferred by all.
	ReasonUneven
	// ReasonAbsent: one of the nodes has nothing of the resource at all.
	ReasonAbsent
	// ReasonPinned: what the pod's init containers had must be reused, and
	// it is on other nodes.
	ReasonPinned
	// ReasonGroup: memory of one of the nodes is bound to Nodes, a set that
	// fits neither the mask nor the request.
	ReasonGroup
	// ReasonPartCore: the number of CPUs is no multiple of the threads of a
	// core (Free).
	ReasonPartCore
)

// Reason is one resource that stands in the way, on which nodes, and by how
// much.
type Reason struct {
	Code     ReasonCode
	Resource string
	// Nodes is the mask that the resource was tried on: of the masks of the
	// size that the policy asks for, the one where least is missing.
	Nodes Mask
	// Need and Free are in the resource's unit: CPUs, bytes, devices.
	Need, Free int64
}

// Missing is what would have to become free on Nodes for a ReasonShort to go.
func (r Reason) Missing() int64 { return max(0, r.Need-r.Free) }

// String is one line for people.
func (r Reason) String() string {
	switch r.Code {
	case ReasonShort:
		return fmt.Sprintf("%s: needs %d, nodes {%v} have %d free, %d more would do", r.Resource, r.Need, r.Nodes, r.Free, r.Missing())
	case ReasonTooBig:
		return fmt.Sprintf("%s: needs %d, nodes {%v} hold no more than %d when empty", r.Resource, r.Need, r.Nodes, r.Free)
	case ReasonUneven:
		return fmt.Sprintf("%s: fits %d node(s), the others need %d", r.Resource, r.Free, r.Need)
	case ReasonAbsent:
		return fmt.Sprintf("%s: not on every node of {%v}", r.Resource, r.Nodes)
	case ReasonPinned:
		return fmt.Sprintf("%s: init containers' share must be reused and is not on nodes {%v}", r.Resource, r.Nodes)
	case ReasonGroup:
		return fmt.Sprintf("%s: memory is bound to nodes {%v} together", r.Resource, r.Nodes)
	case ReasonPartCore:
		return fmt.Sprintf("%s: %d is no multiple of the %d threads of a core", r.Resource, r.Need, r.Free)
	}
	return fmt.Sprintf("%s: reason %d", r.Resource, r.Code)
}

// Unplaceable is the error of [State.Plan] for a pod that the machine does
// not take now.
type Unplaceable struct {
	Pod string
	// Container that could not be placed; empty if the pod as a whole.
	Container string
	// Admitted is set if the policy took the merged Hint and the allocation
	// under it failed; otherwise the policy refused Hint.
	Admitted bool
	Hint     Hint
	// Before holds where the containers before this one would have gone.
	Before []ContainerPlacement
	// Reasons, one a resource at least.
	Reasons []Reason
}

func (u *Unplaceable) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "numa: pod %q", u.Pod)
	if u.Container != "" {
		fmt.Fprintf(&b, ", container %q", u.Container)
	}
	b.WriteString(" does not fit")
	for i, r := range u.Reasons {
		b.WriteString([]string{": ", "; "}[min(i, 1)])
		b.WriteString(r.String())
	}
	return b.String()
}

// reasons carries reasons up to Plan, which knows pod and container.
type reasons []Reason

func (r reasons) Error() string { return (&Unplaceable{Reasons: r}).Error() }

// refusal completes reasons to an Unplaceable.
func (p *planner) refusal(pod, container string, m MergeResult, err error) error {
	r, ok := err.(reasons)
	if !ok {
		return fmt.Errorf("pod %q, container %q: %w", pod, container, err)
	}
	return &Unplaceable{Pod: pod, Container: container, Hint: m.Hint, Admitted: m.Admit, Before: p.out.Containers, Reasons: r}
}

func (p *planner) explain(m MergeResult, resources []Resource) error {
	return p.explainUnder(p.mergeConfig(), m, resources)
}

// explainUnder finds the reasons why no preferred mask exists. It takes the
// size that a preferred mask has to have, tries the best mask of that size of
// every resource, and reports the one on which least stands in the way.
func (p *planner) explainUnder(cfg MergeConfig, m MergeResult, resources []Resource) error {
	size := 1
	if cfg.Policy != PolicySingleNode {
		for _, f := range m.Resources {
			size = max(size, f.Preferred)
		}
	}
	var fixed reasons
	for i := range resources {
		r := &resources[i]
		f := m.Resources[i]
		switch {
		case len(r.Demands) == 0:
		case f.Preferred > size:
			best := p.bestMask(r, size, true)
			fixed = append(fixed, Reason{ReasonTooBig, r.Name, best, r.Demands[0].Amount, sumOn(&r.Demands[0], best, true)})
		case f.Preferred < size && !r.AlignSockets:
			fixed = append(fixed, Reason{ReasonUneven, r.Name, Mask{}, int64(size), int64(f.Preferred)})
		}
	}
	if len(fixed) > 0 {
		return fixed
	}
	var best reasons
	for i := range resources {
		if len(resources[i].Demands) == 0 {
			continue
		}
		found := p.obstacles(cfg, resources, p.bestMask(&resources[i], size, false))
		if best == nil || len(found) < len(best) {
			best = found
		}
	}
	return best
}

// bestMask is the mask of up to size nodes with the most of the resource's
// first demand, nodes that must be in it before all others, then lower ids.
func (p *planner) bestMask(r *Resource, size int, total bool) Mask {
	var best Mask
	for i := range r.Must {
		for id := range r.Must[i].All() {
			if best.Len() < size && !best.Intersects(&r.Must[i]) {
				best.Add(id)
			}
		}
	}
	nodes := r.Nodes
	for _, s := range r.Demands[0].Supply {
		if r.Nodes.IsEmpty() {
			nodes = nodes.Or(s.Nodes)
		}
	}
	for best.Len() < size && !nodes.Minus(best).IsEmpty() {
		pick, most := -1, int64(-1)
		for id := range nodes.Minus(best).All() {
			if v := sumOn(&r.Demands[0], MaskOf(id), total); v > most {
				pick, most = id, v
			}
		}
		best.Add(pick)
	}
	return best
}

func sumOn(d *Demand, nodes Mask, total bool) int64 {
	sum := int64(0)
	for i := range d.Supply {
		if s := &d.Supply[i]; s.Nodes.Intersects(&nodes) {
			if total {
				sum += s.Total
			} else {
				sum += s.Free
			}
		}
	}
	return sum
}

// obstacles lists what keeps the mask from holding all the resources.
func (p *planner) obstacles(cfg MergeConfig, resources []Resource, nodes Mask) reasons {
	var found reasons
	for i := range resources {
		r := &resources[i]
		if len(r.Demands) == 0 {
			continue
		}
		for j := range r.Must {
			if !r.Must[j].Intersects(&nodes) {
				found = append(found, Reason{Code: ReasonPinned, Resource: r.Name, Nodes: nodes})
				break
			}
		}
		own := r.Nodes
		for _, d := range r.Demands {
			if r.Nodes.IsEmpty() {
				for _, s := range d.Supply {
					own = own.Or(s.Nodes)
				}
			}
			if free := sumOn(&d, nodes, false); free < d.Amount {
				found = append(found, Reason{ReasonShort, r.Name, nodes, d.Amount, free})
			}
		}
		if !own.Contains(nodes) {
			found = append(found, Reason{Code: ReasonAbsent, Resource: r.Name, Nodes: nodes})
		}
		for _, g := range cfg.Groups {
			if r.Grouped && g != nodes && g.Intersects(&nodes) {
				found = append(found, Reason{Code: ReasonGroup, Resource: r.Name, Nodes: g})
			}
		}
	}
	return found
}
