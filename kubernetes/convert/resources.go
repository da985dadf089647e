package convert

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	resourceapi "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/api/validate/content"

	"github.com/berth-go/berth"
)

// resources converts quantities that checkQuantities accepts. A sum of them may still be too large.
func resources(list v1.ResourceList, r *report, path string) berth.Resources {
	var out berth.Resources
	for _, name := range sortedKeys(list) {
		q := list[name]
		n, ok := amount(name, q)
		if !ok {
			r.invalid(q.String(), "exceeds 64 bits", "%s[%s]", path, name)
			continue
		}
		switch name {
		case v1.ResourceCPU:
			out.MilliCPU = n
		case v1.ResourceMemory:
			out.Memory = n
		case v1.ResourceEphemeralStorage:
			out.EphemeralStorage = n
		case v1.ResourcePods:
			out.Pods = n
		default:
			if !isScalar(name) {
				continue
			}
			if out.Scalar == nil {
				out.Scalar = make(map[string]int64)
			}
			out.Scalar[string(name)] = n
		}
	}
	return out
}

// toResources is the inverse of resources. Fields that are 0 are left out, as the API can't tell them from absent ones.
func toResources(r *berth.Resources) v1.ResourceList {
	list := make(v1.ResourceList)
	put := func(name v1.ResourceName, q *resource.Quantity) {
		if !q.IsZero() {
			list[name] = *q
		}
	}
	put(v1.ResourceCPU, resource.NewMilliQuantity(r.MilliCPU, resource.DecimalSI))
	put(v1.ResourceMemory, resource.NewQuantity(r.Memory, resource.BinarySI))
	put(v1.ResourceEphemeralStorage, resource.NewQuantity(r.EphemeralStorage, resource.BinarySI))
	put(v1.ResourcePods, resource.NewQuantity(r.Pods, resource.DecimalSI))
	for name, n := range r.Scalar {
		list[v1.ResourceName(name)] = *resource.NewQuantity(n, resource.DecimalSI)
	}
	return list
}

// amount is the quantity in the unit that kube-scheduler counts the resource in, rounded up as it does.
func amount(name v1.ResourceName, q resource.Quantity) (n int64, ok bool) {
	if name == v1.ResourceCPU {
		return q.MilliValue(), q.CmpInt64(math.MaxInt64/1000) <= 0
	}
	return q.Value(), q.CmpInt64(math.MaxInt64) <= 0
}

// checkQuantities reports every quantity of the list that can't be counted with.
func checkQuantities(list v1.ResourceList, r *report, path string) {
	for _, name := range sortedKeys(list) {
		q := list[name]
		if q.Sign() < 0 {
			r.invalid(q.String(), "must not be negative", "%s[%s]", path, name)
		} else if _, ok := amount(name, q); !ok {
			r.invalid(q.String(), "exceeds 64 bits", "%s[%s]", path, name)
		}
		if strings.HasPrefix(string(name), resourceapi.ResourceDeviceClassPrefix) {
			r.unsupported(q.String(), "devices of a DRA device class", "%s[%s]", path, name)
		}
	}
}

// sortedKeys makes errors and results independent of the order of maps.
func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }

// isScalar says whether kube-scheduler counts the resource besides the standard ones: those with a domain, hugepages and
// attachable volumes (IsScalarResourceName in pkg/scheduler/util/utils.go). It ignores all others.
func isScalar(name v1.ResourceName) bool {
	s := string(name)
	switch {
	case strings.HasPrefix(s, v1.ResourceHugePagesPrefix),
		strings.HasPrefix(s, v1.ResourceAttachableVolumesPrefix),
		strings.Contains(s, v1.ResourceDefaultNamespacePrefix):
		return true
	case !strings.Contains(s, "/"), strings.HasPrefix(s, v1.DefaultResourceRequestsPrefix):
		return false
	}
	// The name must remain a label key with the prefix that quotas put before it.
	return len(content.IsLabelKey(v1.DefaultResourceRequestsPrefix+s)) == 0
}
