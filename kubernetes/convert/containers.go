package convert

import (
	"fmt"
	"maps"
	"strconv"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	resourcehelper "k8s.io/component-helpers/resource"

	"github.com/berth-go/berth"
)

// requests are the pod's effective requests, and what resource scores make of them if that isn't the default. What is in
// the status of a container counts once the pod is placed: before, there is nothing that could have been resized.
// The rules are CalculateResource's in pkg/scheduler/framework/types.go.
func requests(p *v1.Pod, r *report) (berth.Resources, *berth.NonZeroRequests) {
	checkRequests(p, r)
	if r.refused() {
		return berth.Resources{}, nil
	}
	opts := resourcehelper.PodResourcesOptions{UseStatusResources: p.Spec.NodeName != ""}
	list := podRequests(p, opts)
	delete(list, v1.ResourcePods)
	effective := resources(list, r, "spec.containers[*].resources.requests")

	// The score of a pod that is to be placed does not see requests at pod level (NewFit in
	// pkg/scheduler/framework/plugins/noderesources/fit.go hands the gate to the filter only). Once it is placed they count.
	opts.SkipPodLevelResources = p.Spec.NodeName == ""
	opts.NonMissingContainerRequests = missing(list, !opts.SkipPodLevelResources && resourcehelper.IsPodLevelRequestsSet(p))
	scored := podRequests(p, opts)
	cpu, cpuFits := amount(v1.ResourceCPU, scored[v1.ResourceCPU])
	memory, memoryFits := amount(v1.ResourceMemory, scored[v1.ResourceMemory])
	if !cpuFits || !memoryFits {
		r.invalid("", "the sum with defaults for containers without a request exceeds 64 bits", "spec.containers[*].resources.requests")
	}
	nonZero := berth.NonZeroRequests{MilliCPU: cpu, Memory: memory}
	if nonZero == (&berth.Pod{Requests: effective}).ScoreRequests() {
		return effective, nil
	}
	return effective, &nonZero
}

// podRequests calls PodRequests with pod-level requests of its own: it adds the overhead to them in place where a quantity
// is kept as a decimal, as that of "0.5Gi" is.
func podRequests(p *v1.Pod, opts resourcehelper.PodResourcesOptions) v1.ResourceList {
	if p.Spec.Resources != nil && p.Spec.Overhead != nil {
		pod := *p
		pod.Spec.Resources = p.Spec.Resources.DeepCopy()
		p = &pod
	}
	return resourcehelper.PodRequests(p, opts)
}

// missing is what a container without a request counts with in scores. A pod with requests of its own needs that only for
// a resource that is named nowhere.
func missing(effective v1.ResourceList, podLevel bool) v1.ResourceList {
	list := make(v1.ResourceList, 2)
	if _, named := effective[v1.ResourceCPU]; !named || !podLevel {
		list[v1.ResourceCPU] = *resource.NewMilliQuantity(berth.DefaultMilliCPURequest, resource.DecimalSI)
	}
	if _, named := effective[v1.ResourceMemory]; !named || !podLevel {
		list[v1.ResourceMemory] = *resource.NewQuantity(berth.DefaultMemoryRequest, resource.BinarySI)
	}
	return list
}

// checkRequests reports each quantity that goes into the requests and is negative or too large.
func checkRequests(p *v1.Pod, r *report) {
	for i := range p.Spec.InitContainers {
		checkQuantities(p.Spec.InitContainers[i].Resources.Requests, r, fmt.Sprintf("spec.initContainers[%d].resources.requests", i))
	}
	for i := range p.Spec.Containers {
		checkQuantities(p.Spec.Containers[i].Resources.Requests, r, fmt.Sprintf("spec.containers[%d].resources.requests", i))
	}
	if p.Spec.Resources != nil {
		checkQuantities(p.Spec.Resources.Requests, r, "spec.resources.requests")
	}
	checkQuantities(p.Spec.Overhead, r, "spec.overhead")
	if p.Spec.NodeName != "" {
		checkStatuses(p.Status.InitContainerStatuses, r, "status.initContainerStatuses")
		checkStatuses(p.Status.ContainerStatuses, r, "status.containerStatuses")
	}
}

func checkStatuses(statuses []v1.ContainerStatus, r *report, path string) {
	for i := range statuses {
		checkQuantities(statuses[i].AllocatedResources, r, fmt.Sprintf("%s[%d].allocatedResources", path, i))
		if statuses[i].Resources != nil {
			checkQuantities(statuses[i].Resources.Requests, r, fmt.Sprintf("%s[%d].resources.requests", path, i))
		}
	}
}

// makeContainers gives the pod containers that amount to the requests, scored requests, host ports and images of p.
func makeContainers(p *berth.Pod, out *v1.Pod, r *report) {
	scored, pending := p.ScoreRequests(), p.NodeName == ""
	cpu, okCPU := divide(p.Requests.MilliCPU, scored.MilliCPU, berth.DefaultMilliCPURequest, pending)
	memory, okMemory := divide(p.Requests.Memory, scored.Memory, berth.DefaultMemoryRequest, pending)
	if !okCPU || !okMemory {
		r.unsupported(fmt.Sprint(scored), "no containers have these scored requests beside these requests", "NonZeroRequests")
	}
	for i := range max(1, cpu.defaults, memory.defaults) {
		list := make(v1.ResourceList)
		if i >= cpu.defaults {
			list[v1.ResourceCPU] = *resource.NewMilliQuantity(cpu.main, resource.DecimalSI)
		}
		if i >= memory.defaults {
			list[v1.ResourceMemory] = *resource.NewQuantity(memory.main, resource.BinarySI)
		}
		cpu.main, memory.main = 0, 0 // the others ask for nothing
		out.Spec.Containers = append(out.Spec.Containers, v1.Container{
			Name:      "container-" + strconv.FormatInt(i, 10),
			Resources: v1.ResourceRequirements{Requests: list},
		})
	}
	first := &out.Spec.Containers[0]
	maps.Copy(first.Resources.Requests, toResources(&berth.Resources{
		EphemeralStorage: p.Requests.EphemeralStorage, Scalar: p.Requests.Scalar,
	}))
	first.Ports = toPorts(p.HostPorts)
	out.Spec.Overhead = toResources(&berth.Resources{MilliCPU: cpu.overhead, Memory: memory.overhead})
	if cpu.init > 0 || memory.init > 0 {
		out.Spec.InitContainers = []v1.Container{{Name: "init", Resources: v1.ResourceRequirements{Requests: v1.ResourceList{
			v1.ResourceCPU:    *resource.NewMilliQuantity(cpu.init, resource.DecimalSI),
			v1.ResourceMemory: *resource.NewQuantity(memory.init, resource.BinarySI),
		}}}}
	}
	if podLevel := toResources(&berth.Resources{MilliCPU: cpu.podLevel, Memory: memory.podLevel}); len(podLevel) > 0 {
		out.Spec.Resources = &v1.ResourceRequirements{Requests: podLevel}
	}
	placeImages(p.Images, out, r)
}

// division is how a request of one resource is divided so that the scored request comes out right too.
type division struct {
	// defaults is the number of containers without a request, which count with the standard amount in scores.
	defaults int64
	// main is what the first container asks for, if it is not one of those.
	main int64
	// overhead is what the scored request exceeds the standard amounts by.
	overhead int64
	// init is what an init container asks for, so that the request is not less than it should be: the larger of what the
	// containers and what the init containers ask for counts.
	init int64
	// podLevel is a request of the pod itself, which scores don't see while the pod is pending.
	podLevel int64
}

// maxDefaults bounds the containers that a pod is given for the sake of its scored request.
const maxDefaults = 1000

// divide finds the division with the fewest containers, or one that ignores the scored request if there is none.
func divide(request, scored, standard int64, pending bool) (d division, ok bool) {
	excess := scored - request
	switch {
	case excess == 0:
		return division{main: request}, true
	case excess < 0 && pending:
		return division{main: scored, podLevel: request}, true
	case excess < 0:
		return division{main: request}, false
	}
	n := (excess-1)/standard + 1
	rest := scored - n*standard
	if n > maxDefaults || rest < 0 {
		return division{main: request}, false
	}
	return division{defaults: n, overhead: rest, init: request - rest}, true
}

func toPorts(ports []berth.HostPort) []v1.ContainerPort {
	return each(ports, func(h *berth.HostPort) v1.ContainerPort {
		return v1.ContainerPort{HostIP: h.HostIP, Protocol: v1.Protocol(h.Protocol), HostPort: h.Port, ContainerPort: h.Port}
	})
}

// placeImages gives the containers their images, in the order in which Pod lists them, and the rest to image volumes.
func placeImages(images []string, out *v1.Pod, r *report) {
	if len(images) == 0 {
		return
	}
	for _, containers := range [][]v1.Container{out.Spec.InitContainers, out.Spec.Containers} {
		for i := range containers {
			if len(images) == 0 {
				r.unsupported("", "fewer images than containers", "Images")
				return
			}
			containers[i].Image, images = images[0], images[1:]
		}
	}
	for i, image := range images {
		out.Spec.Volumes = append(out.Spec.Volumes, v1.Volume{
			Name:         "image-" + strconv.Itoa(i),
			VolumeSource: v1.VolumeSource{Image: &v1.ImageVolumeSource{Reference: image}},
		})
	}
}
