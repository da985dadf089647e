package gen

import (
	"fmt"
	"math"
	"time"

	"github.com/berth-go/berth"
)

// Pod draws a pod to place, with a new name.
func (g *Generator) Pod() berth.Pod {
	p := berth.Pod{Namespace: pick(g, namespaceNames()...), Name: fmt.Sprintf("pod-%04d", g.pods)}
	g.pods++
	p.UID = "uid-" + p.Name
	p.Labels = g.labels(podVocabulary())
	if g.chance(0.5) {
		p.Owner = berth.OwnerReference{Kind: "ReplicaSet", Name: "rs-" + p.Labels["app"], UID: "uid-rs-" + p.Labels["app"]}
	}
	if g.chance(g.o.NodeName) && g.nodes > 0 {
		p.NodeName = g.nodeName()
	}
	g.requests(&p)
	p.HostPorts = upTo(g, 2, g.o.HostPort, g.hostPort)
	p.Images = upTo(g, 3, g.o.Image, func() string {
		return pick(g, append(imageNames(), "mirror/app-a:v1", "nowhere:latest")...)
	})
	p.Tolerations = upTo(g, 3, g.o.Toleration, g.toleration)
	p.NodeSelector = g.nodeSelector()
	p.Affinity = g.affinity(&p)
	g.spread(&p)
	if g.chance(g.o.Priority) {
		p.Priority = pick[int32](g, -10, 5, 10, 10, 100, 1000, math.MaxInt32, math.MinInt32)
	}
	p.PreemptNever = g.chance(g.o.PreemptNever)
	if g.chance(g.o.Faults.EmptyName) {
		p.Name = ""
	}
	return p
}

// nodeName returns the name of one of the nodes drawn so far, or of none.
func (g *Generator) nodeName() string {
	if g.nodes == 0 || g.chance(g.o.UnknownNode) {
		return "node-unknown"
	}
	return fmt.Sprintf("node-%03d", g.rng.IntN(g.nodes))
}

func (g *Generator) requests(p *berth.Pod) {
	draw := func(choices ...int64) int64 {
		if g.chance(g.o.ZeroRequest) {
			return 0
		}
		return pick(g, choices...)
	}
	p.Requests = berth.Resources{
		MilliCPU:         draw(50, 100, 250, 333, 500, 1000, 2500),
		Memory:           draw(64*mib, 200*mib, gib/2, gib, 2*gib, 1_234_567_890),
		EphemeralStorage: draw(0, 0, 0, gib, 20*gib),
		Scalar:           g.scalars(g.o.ScalarResource/2, 0, 3),
	}
	if g.chance(g.o.NonZeroRequests) {
		p.NonZeroRequests = &berth.NonZeroRequests{
			MilliCPU: p.Requests.MilliCPU + pick[int64](g, 0, 100, 200),
			Memory:   p.Requests.Memory + pick[int64](g, 0, 200*mib),
		}
	}
	if g.chance(g.o.Faults.Amount) {
		p.Requests.Memory = pick[int64](g, -1, math.MinInt64, berth.MaxAmount+1)
	}
	g.gpuRequest(p)
}

func (g *Generator) gpuRequest(p *berth.Pod) {
	if !g.chance(g.o.GPU) {
		return
	}
	if g.chance(0.5) {
		p.GPU = berth.GPURequest{Count: 1, Milli: int64(g.between(1, 9)) * 100}
	} else {
		p.GPU = berth.GPURequest{Count: pick(g, 1, 1, 2, 4), Milli: berth.GPUMilli}
	}
	if g.chance(0.3) {
		p.GPU.Models = pick(g, []string{"A100"}, []string{"T4", "A100"}, []string{"H100"})
	}
	if g.chance(g.o.Faults.GPURequest) {
		p.GPU = pick(g, berth.GPURequest{Count: 2, Milli: 300}, berth.GPURequest{Milli: 100}, berth.GPURequest{Count: -1, Milli: berth.GPUMilli})
	}
}

func (g *Generator) hostPort() berth.HostPort {
	p := berth.HostPort{
		HostIP:   pick(g, "", "0.0.0.0", "127.0.0.1", "10.0.0.1"),
		Protocol: pick(g, "", berth.TCP, berth.UDP, berth.SCTP),
		Port:     pick[int32](g, 53, 8080, 9090),
	}
	if g.chance(g.o.Faults.HostPort) {
		p = pick(g, berth.HostPort{Port: 0}, berth.HostPort{Port: -1}, berth.HostPort{Port: 65536}, berth.HostPort{Port: 1, Protocol: "ICMP"})
	}
	return p
}

func (g *Generator) nodeSelector() map[string]string {
	if !g.chance(g.o.NodeSelector) {
		return nil
	}
	if g.chance(0.1) {
		return map[string]string{berth.LabelHostname: g.nodeName()}
	}
	l := pick(g, nodeVocabulary()...)
	return map[string]string{l.key: g.value(l)}
}

func (g *Generator) toleration() berth.Toleration {
	key := pick(g, "dedicated", "flaky", berth.TaintNodeUnschedulable)
	effect := pick(g, "", berth.NoSchedule, berth.NoExecute, berth.PreferNoSchedule)
	if g.chance(g.o.Faults.Toleration) {
		return berth.Toleration{Key: key, Operator: pick[berth.TolerationOperator](g, "Like", "exists")}
	}
	switch g.rng.IntN(5) {
	case 0:
		return berth.Toleration{Key: key, Operator: berth.TolerationExists, Effect: effect}
	case 1:
		return berth.Toleration{Operator: berth.TolerationExists, Effect: effect}
	case 2:
		return berth.Toleration{Key: key, Value: pick(g, "", "batch", "web"), Effect: effect}
	case 3:
		// Matches taints of every key with the value.
		return berth.Toleration{Operator: pick(g, "", berth.TolerationEqual), Value: pick(g, "", "batch", "web"), Effect: effect}
	}
	return berth.Toleration{Key: key, Operator: berth.TolerationEqual, Value: pick(g, "", "batch", "web"), Effect: effect}
}

// startTime draws from few values, so that pods tie; the zero time is a pod that has not started.
func (g *Generator) startTime() time.Time {
	if g.chance(0.1) {
		return time.Time{}
	}
	return time.Date(2030, 1, 1, g.rng.IntN(6), 0, 0, 0, time.UTC)
}
