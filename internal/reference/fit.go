package reference

import "github.com/berth-go/berth"

// requested sums what pods ask of a resource.
func requested(on []*berth.Pod, resource string) int64 {
	var sum int64
	for _, p := range on {
		sum += p.Requests.Get(resource)
	}
	return sum
}

// filterFit is plugins/noderesources/fit.go. One shortage that the empty node would have too makes it unresolvable.
func filterFit(pod *berth.Pod, node *berth.Node, on []*berth.Pod) verdict {
	result := passes
	if int64(len(on))+1 > node.Allocatable.Pods {
		result = resolvable
	}
	resources := []string{berth.ResourceCPU, berth.ResourceMemory, berth.ResourceEphemeralStorage}
	for name := range pod.Requests.Scalar {
		resources = append(resources, name)
	}
	for _, name := range resources {
		request := pod.Requests.Get(name)
		capacity := node.Allocatable.Get(name)
		if request <= 0 || request <= capacity-requested(on, name) {
			continue
		}
		if request > capacity {
			result = unresolvable
		}
		if result == passes {
			result = resolvable
		}
	}
	return result
}
