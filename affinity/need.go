package affinity

import (
	"slices"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/internal/ledger"
)

// need is what a pod takes of a node, compiled from its spec.
type need struct {
	request amounts
	scored  berth.NonZeroRequests
	scalars []scalarNeed
	// anything is false for a pod without requests, for which only the number of pods is checked.
	anything bool
	ports    []berth.HostPort // normalised, without repetitions
	images   []int32          // with repetitions
}

type scalarNeed struct {
	id     int32
	amount int64
}

func (g *Graph) needOf(p *berth.Pod) need {
	r := &p.Requests
	n := need{request: amounts{r.MilliCPU, r.Memory, r.EphemeralStorage}, scored: p.ScoreRequests()}
	for _, name := range sortedKeys(&g.enc, r.Scalar) {
		n.scalars = append(n.scalars, scalarNeed{g.resource(name), r.Scalar[name]})
	}
	n.anything = n.request != amounts{} || len(n.scalars) > 0
	for _, port := range p.HostPorts {
		if port.Port <= 0 {
			continue
		}
		if port.HostIP == "" {
			port.HostIP = anyIP
		}
		if port.Protocol == "" {
			port.Protocol = berth.TCP
		}
		if !slices.Contains(n.ports, port) {
			n.ports = append(n.ports, port)
		}
	}
	for _, name := range p.Images {
		n.images = append(n.images, g.acquireImage(name))
	}
	return n
}

// countable reports whether one more such pod keeps the sums on the node in range.
func (n *need) countable(s *nodeState) bool {
	if s.used.cpu+n.request.cpu > ledger.MaxUsed || s.used.memory+n.request.memory > ledger.MaxUsed ||
		s.used.ephemeral+n.request.ephemeral > ledger.MaxUsed ||
		s.scored.MilliCPU+n.scored.MilliCPU > ledger.MaxUsed || s.scored.Memory+n.scored.Memory > ledger.MaxUsed {
		return false
	}
	for _, r := range n.scalars {
		if sc := s.scalar(r.id); sc != nil && sc.used+r.amount > ledger.MaxUsed {
			return false
		}
	}
	return true
}

const anyIP = "0.0.0.0"

// usePort counts d more users of a host port.
func (s *nodeState) usePort(port berth.HostPort, d int32) {
	e := s.more()
	for i := range e.ports {
		if e.ports[i].port == port {
			if e.ports[i].count += d; e.ports[i].count == 0 {
				e.ports = slices.Delete(e.ports, i, i+1)
			}
			return
		}
	}
	e.ports = append(e.ports, portUse{port, d})
}

// portsFree reports whether none of the ports is in use (kube-scheduler/framework/types.go, HostPortInfo.CheckConflict).
func (s *nodeState) portsFree(ports []berth.HostPort) bool {
	if s.extra == nil {
		return true
	}
	for _, p := range ports {
		for _, u := range s.extra.ports {
			o := u.port
			if p.Port == o.Port && p.Protocol == o.Protocol && (p.HostIP == o.HostIP || p.HostIP == anyIP || o.HostIP == anyIP) {
				return false
			}
		}
	}
	return true
}

// insufficient is the resource fit rule (plugins/noderesources/fit.go, fitsRequest): whether anything is missing, and if
// so whether it would be on an idle node too. rec, if not nil, is called for each shortfall.
func (g *Graph) insufficient(s *nodeState, n *need, rec func(Shortfall)) (short, unresolvable bool) {
	x := shortage{rec: rec}
	if 1 > s.podsAllowed-s.podCount {
		x.add(berth.ResourcePods, 1, s.podCount, s.podsAllowed)
	}
	if !n.anything {
		return x.short, x.unresolvable
	}
	if r := n.request.cpu; r > 0 && r > s.alloc.cpu-s.used.cpu {
		x.add(berth.ResourceCPU, r, s.used.cpu, s.alloc.cpu)
	}
	if r := n.request.memory; r > 0 && r > s.alloc.memory-s.used.memory {
		x.add(berth.ResourceMemory, r, s.used.memory, s.alloc.memory)
	}
	if r := n.request.ephemeral; r > 0 && r > s.alloc.ephemeral-s.used.ephemeral {
		x.add(berth.ResourceEphemeralStorage, r, s.used.ephemeral, s.alloc.ephemeral)
	}
	if len(n.scalars) > 0 {
		g.insufficientScalars(s, n, &x)
	}
	return x.short, x.unresolvable
}

func (g *Graph) insufficientScalars(s *nodeState, n *need, x *shortage) {
	for _, r := range n.scalars {
		if r.amount == 0 {
			continue
		}
		var have scalar
		if sc := s.scalar(r.id); sc != nil {
			have = *sc
		}
		if r.amount > have.alloc-have.used {
			x.add(g.resourceNames[r.id], r.amount, have.used, have.alloc)
		}
	}
}

// shortage gathers what is missing on a node.
type shortage struct {
	short, unresolvable bool
	rec                 func(Shortfall) // may be nil
}

//go:noinline
func (x *shortage) add(name string, request, used, alloc int64) {
	x.short = true
	x.unresolvable = x.unresolvable || name != berth.ResourcePods && request > alloc
	if x.rec != nil {
		x.rec(Shortfall{name, request, used, alloc})
	}
}

// Shortfall is a resource that a node has too little of: Requested > Allocatable - Used.
type Shortfall struct {
	Resource                     string
	Requested, Used, Allocatable int64
}
