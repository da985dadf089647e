package differential

import (
	"errors"
	"fmt"
	"slices"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/kubernetes/convert"
)

// node converts a node and adds what only the API has.
func (g *generator) node(spec *berth.Node) *v1.Node {
	n, err := convert.ToNode(spec)
	if err != nil && !errors.Is(err, convert.ErrUnsupported) {
		panic(err) // the generator's specs are valid
	}
	if g.chance(0.1) {
		n.Status.Allocatable["widgets"] = resource.MustParse("3") // a name that kube-scheduler ignores
	}
	if g.chance(0.1) {
		n.Status.Allocatable[v1.ResourceMemory] = resource.MustParse("8589934592500m") // rounded up
	}
	return n
}

// decorate gives the pod other containers, with all that may matter about them.
func (g *generator) decorate(p *v1.Pod) {
	ports := p.Spec.Containers[0].Ports
	p.Spec.Containers, p.Spec.InitContainers, p.Spec.Overhead, p.Spec.Volumes = nil, nil, nil, nil
	for i := range 1 + g.rng.IntN(3) {
		p.Spec.Containers = append(p.Spec.Containers, g.container(fmt.Sprintf("main-%d", i)))
	}
	for i := range g.rng.IntN(3) {
		c := g.container(fmt.Sprintf("init-%d", i))
		if g.chance(0.4) {
			always := v1.ContainerRestartPolicyAlways
			c.RestartPolicy = &always
		}
		p.Spec.InitContainers = append(p.Spec.InitContainers, c)
	}
	all := []*v1.Container{&p.Spec.Containers[0]}
	for i := range p.Spec.InitContainers {
		all = append(all, &p.Spec.InitContainers[i])
	}
	pick(g, all...).Ports = ports
	if g.chance(0.15) {
		p.Spec.Resources = &v1.ResourceRequirements{Requests: v1.ResourceList{
			v1.ResourceCPU: g.cpu(), v1.ResourceMemory: g.memory(),
		}}
	}
	if g.chance(0.2) {
		p.Spec.Overhead = v1.ResourceList{v1.ResourceCPU: g.cpu(), v1.ResourceMemory: g.memory()}
	}
	if g.chance(0.2) {
		p.Spec.Volumes = []v1.Volume{
			{Name: "model", VolumeSource: v1.VolumeSource{Image: &v1.ImageVolumeSource{Reference: g.image()}}},
			{Name: "scratch", VolumeSource: v1.VolumeSource{EmptyDir: &v1.EmptyDirVolumeSource{}}},
		}
	}
}

func (g *generator) container(name string) v1.Container {
	requests := v1.ResourceList{}
	if g.chance(0.8) {
		requests[v1.ResourceCPU] = g.cpu()
	}
	if g.chance(0.8) {
		requests[v1.ResourceMemory] = g.memory()
	}
	if g.chance(0.1) {
		requests[v1.ResourceEphemeralStorage] = resource.MustParse("1G")
	}
	if g.chance(0.05) {
		requests["nvidia.com/gpu"] = resource.MustParse(pick(g, "0", "1"))
	}
	if g.chance(0.05) {
		requests["widgets"] = resource.MustParse("100")
	}
	return v1.Container{Name: name, Image: g.image(), Resources: v1.ResourceRequirements{Requests: requests}}
}

func (g *generator) cpu() resource.Quantity {
	return resource.MustParse(pick(g, "0", "50m", "100m", "333m", "0.0001", "1", "1500m"))
}

func (g *generator) memory() resource.Quantity {
	return resource.MustParse(pick(g, "0", "64Mi", "200Mi", "0.5Gi", "1G", "1234567890", "100m"))
}

func (g *generator) image() string {
	return pick(g, "app-a", "app-b:v1", "mirror/app-a:v1", "nowhere", "registry:5000/app-c")
}

// resize puts a placed pod in the middle of an in-place resize.
func (g *generator) resize(p *v1.Pod) {
	list := func() v1.ResourceList {
		return v1.ResourceList{v1.ResourceCPU: g.cpu(), v1.ResourceMemory: g.memory()}
	}
	if g.chance(0.7) {
		p.Status.Conditions = []v1.PodCondition{{
			Type: v1.PodResizePending, Status: v1.ConditionTrue, Reason: pick(g, v1.PodReasonDeferred, v1.PodReasonInfeasible),
		}}
	}
	statuses := func(containers []v1.Container) []v1.ContainerStatus {
		var out []v1.ContainerStatus
		for i := range containers {
			s := v1.ContainerStatus{Name: containers[i].Name}
			if g.chance(0.8) {
				s.AllocatedResources = list()
			}
			if g.chance(0.8) {
				s.Resources = &v1.ResourceRequirements{Requests: list()}
			}
			out = append(out, s)
		}
		return out
	}
	p.Status.ContainerStatuses = statuses(p.Spec.Containers)
	p.Status.InitContainerStatuses = statuses(p.Spec.InitContainers)
}

// freePorts takes from a placed pod the host ports that another pod of its node holds. kube-scheduler keeps the ports of a
// node as a set, and forgets a port that two pods hold when one of them goes.
func (g *generator) freePorts(p *v1.Pod) {
	held := g.ports[p.Spec.NodeName]
	if held == nil {
		held = map[berth.HostPort]bool{}
		g.ports[p.Spec.NodeName] = held
	}
	free := func(containers []v1.Container) {
		for i := range containers {
			containers[i].Ports = slices.DeleteFunc(slices.Clone(containers[i].Ports), func(c v1.ContainerPort) bool {
				port := berth.HostPort{HostIP: c.HostIP, Protocol: berth.Protocol(c.Protocol), Port: c.HostPort}
				if port.HostIP == "" {
					port.HostIP = "0.0.0.0"
				}
				if port.Protocol == "" {
					port.Protocol = berth.TCP
				}
				if held[port] {
					return true
				}
				held[port] = true
				return false
			})
		}
	}
	free(p.Spec.InitContainers)
	free(p.Spec.Containers)
}

// preempt says of a terminating pod, sometimes, that the scheduler asked for it to go.
func (g *generator) preempt(p *v1.Pod) {
	if p.DeletionTimestamp == nil || g.chance(0.5) {
		return
	}
	p.Status.Conditions = append(p.Status.Conditions, v1.PodCondition{
		Type: v1.DisruptionTarget, Status: pick(g, v1.ConditionTrue, v1.ConditionTrue, v1.ConditionFalse),
		Reason: pick(g, v1.PodReasonPreemptionByScheduler, v1.PodReasonPreemptionByScheduler, "EvictionByEvictionAPI"),
	})
}
