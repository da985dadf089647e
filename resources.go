package berth

// Names of the resources that have a field of their own in [Resources].
const (
	ResourceCPU              = "cpu"
	ResourceMemory           = "memory"
	ResourceEphemeralStorage = "ephemeral-storage"
	ResourcePods             = "pods"
)

// Resources is an amount of each resource: what a node offers or what a pod asks for.
// The zero value is nothing of anything.
type Resources struct {
	// MilliCPU is in thousandths of a core.
	MilliCPU int64 `json:"milliCPU,omitzero"`
	// Memory is in bytes.
	Memory int64 `json:"memory,omitzero"`
	// EphemeralStorage is in bytes.
	EphemeralStorage int64 `json:"ephemeralStorage,omitzero"`
	// Pods is a number of pods. Only a node's is used: every pod counts as one.
	Pods int64 `json:"pods,omitzero"`
	// Scalar holds every other resource by its full name ("nvidia.com/gpu", "hugepages-2Mi").
	Scalar map[string]int64 `json:"scalar,omitzero"`
}

// Get returns the amount of the named resource, 0 for one that is absent.
func (r *Resources) Get(name string) int64 {
	switch name {
	case ResourceCPU:
		return r.MilliCPU
	case ResourceMemory:
		return r.Memory
	case ResourceEphemeralStorage:
		return r.EphemeralStorage
	case ResourcePods:
		return r.Pods
	}
	return r.Scalar[name]
}

// GPUMilli is what one whole GPU amounts to.
const GPUMilli = 1000

// GPUs are the shareable accelerators of a node: Count devices of one model, indexed from 0, each of [GPUMilli] milli.
// A node that offers accelerators only as whole units can name them in Resources.Scalar instead.
type GPUs struct {
	Model string `json:"model,omitzero"`
	// Count is in 0..64.
	Count int `json:"count,omitzero"`
}

// GPURequest is what a pod asks of a node's [GPUs]: Count devices, Milli of each.
// A share is Count 1 and Milli below GPUMilli; whole devices have Milli GPUMilli. The zero value asks for none.
type GPURequest struct {
	Count int `json:"count,omitzero"`
	// Milli is in 1..GPUMilli if Count is 1, GPUMilli if Count is more, and 0 if Count is 0.
	Milli int64 `json:"milli,omitzero"`
	// Models are the models that will do; any if empty.
	Models []string `json:"models,omitzero"`
	// Devices are the indices that a placed pod holds. If a placed pod has none, it holds the lowest whole devices,
	// or, for a share, the fitting device with the least free milli (the lowest index of equals).
	Devices []int `json:"devices,omitzero"`
}

// Total returns Count * Milli.
func (g *GPURequest) Total() int64 { return int64(g.Count) * g.Milli }
