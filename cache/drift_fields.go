package cache

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/internal/canonical"
)

// differing returns the names in JSON of the fields in which two specs differ, nil if there are none. Nil and empty are
// different: as the same list gives the same, that only costs an update too many.
func differing[T any](a, b *T) []string {
	if a == b || reflect.DeepEqual(a, b) {
		return nil
	}
	var names []string
	other := reflect.ValueOf(b).Elem()
	for field, value := range reflect.ValueOf(a).Elem().Fields() {
		if !reflect.DeepEqual(value.Interface(), other.FieldByIndex(field.Index).Interface()) {
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			names = append(names, name)
		}
	}
	return names
}

// differingPods lets the GPUs pass that the cache chose, and compares instants, not clocks.
func differingPods(state, observed *berth.Pod) []string {
	state, observed = canonical.Pod(state), canonical.Pod(observed)
	if g, was := &observed.GPU, &state.GPU; len(g.Devices) == 0 && g.Count == was.Count && g.Milli == was.Milli {
		same := *observed
		same.GPU.Devices = was.Devices
		observed = &same
	}
	return differing(state, observed)
}

func nodeAmounts(state, observed *berth.Node) []Amount {
	amounts := resourceAmounts(&state.Allocatable, &observed.Allocatable)
	return amount(amounts, "gpus", int64(state.GPUs.Count), int64(observed.GPUs.Count))
}

func podAmounts(state, observed *berth.Pod) []Amount {
	amounts := resourceAmounts(&state.Requests, &observed.Requests)
	return amount(amounts, "gpu", state.GPU.Total(), observed.GPU.Total())
}

// resourceAmounts compares the resources with a field of their own and then the others by name.
func resourceAmounts(state, observed *berth.Resources) []Amount {
	var amounts []Amount
	for _, name := range []string{berth.ResourceCPU, berth.ResourceMemory, berth.ResourceEphemeralStorage, berth.ResourcePods} {
		amounts = amount(amounts, name, state.Get(name), observed.Get(name))
	}
	if maps.Equal(state.Scalar, observed.Scalar) {
		return amounts
	}
	names := slices.AppendSeq(sortedNames(state.Scalar), maps.Keys(observed.Scalar))
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		amounts = amount(amounts, name, state.Scalar[name], observed.Scalar[name])
	}
	return amounts
}

func amount(list []Amount, resource string, state, observed int64) []Amount {
	if state == observed {
		return list
	}
	return append(list, Amount{resource, state, observed})
}
