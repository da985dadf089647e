package affinity

import (
	"slices"

	"github.com/berth-go/berth"
)

// need is what a pod takes of a node, compiled from its spec.
type need struct {
	request amounts
	scored  berth.NonZeroRequests
	scalars []scalarNeed
	// anything is false for a pod without requests, for which only the number of pods is checked.
	anything bool
	// special is true for a pod that asks for more than CPU, memory and ephemeral storage: ports, scalars, GPUs.
	special bool
	ports   []berth.HostPort // normalised, without repetitions
	images  []int32          // with repetitions
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
	n.special = len(n.scalars) > 0 || len(n.ports) > 0 || p.GPU.Count > 0
	for _, name := range p.Images {
		n.images = append(n.images, g.acquireImage(name))
	}
	return n
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
