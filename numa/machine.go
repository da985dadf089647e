package numa

// Machine describes one computer: what the readers in numa/sysfs, numa/hwloc,
// numa/nccl and numa/nvidiasmi fill, and what a caller may write by hand. It
// is plain data; [Compile] checks it and makes the fast form.
type Machine struct {
	// CPUs are the logical CPUs that are online, in any order.
	CPUs []CPU
	// Nodes are the NUMA nodes, in any order, with any ids up to MaxNodeID.
	// A node may have no CPU, no memory or neither.
	Nodes []Node
	// Distances[i][j] is the cost of an access from Nodes[i] to Nodes[j] in
	// the ACPI SLIT's units: 10 is local, 255 unreachable; 0 or a missing
	// entry is unknown. The matrix need not be symmetric.
	Distances [][]int
	// Caches lists each cache once with the CPUs that share it.
	Caches []Cache
	// Devices are GPUs, NICs and other devices that a pod can ask for.
	Devices []Device
	// Links are the known paths between devices. A pair is listed once;
	// pairs without a link are compared by their NUMA nodes alone.
	Links []Link
}

// CPU is one logical CPU (a hardware thread).
type CPU struct {
	// ID is the operating system's number, 0..MaxCPUID, unique.
	ID int
	// Core, Die and Package number the physical core, die and package; ids
	// are unique in the machine, not only in their parent.
	Core, Die, Package int
	// Node is the NUMA node id, or -1 if the CPU belongs to none.
	Node int
	// Kind tells cores of a hybrid package apart: 0 is the only or most
	// efficient kind, higher kinds are faster.
	Kind int
}

// Node is one NUMA node.
type Node struct {
	ID int
	// Memory lists the node's memory by kind.
	Memory []Memory
	// Tier ranks memory technologies as TierOf does.
	Tier Tier
	// Bandwidth is the memory bandwidth in MB/s that local CPUs reach, 0 if
	// unknown.
	Bandwidth int64
	// Generic is set if the node belongs to a device, such as the memory of
	// a GPU or a CXL expander.
	Generic bool
}

// Memory is an amount of one kind of memory on one node.
type Memory struct {
	// PageSize in bytes; 0 is ordinary memory, anything else is a pool of
	// huge pages of that size.
	PageSize int64
	// Bytes of this kind. Ordinary memory is the node's whole memory: huge
	// page pools are part of it.
	Bytes int64
}

// Tier is a memory technology.
type Tier uint8

// Tiers, in the order of their speed where that is known.
const (
	TierDRAM Tier = iota
	TierHBM
	TierPersistent
	TierDevice
)

// String returns the tier's lower-case name.
func (t Tier) String() string {
	switch t {
	case TierHBM:
		return "hbm"
	case TierPersistent:
		return "pmem"
	case TierDevice:
		return "device"
	}
	return "dram"
}

// Cache is one cache and the CPUs that share it.
type Cache struct {
	// ID is the operating system's number of the cache, -1 if unknown.
	ID int
	// Level is 1 for L1; the last level with more than one cache a package
	// is the uncore cache of CPUOptions.UncoreCache.
	Level int
	// Instruction is set for a cache that holds only instructions.
	Instruction bool
	Bytes       int64
	CPUs        CPUSet
}

// DeviceKind tells what a device is.
type DeviceKind uint8

// Kinds of devices.
const (
	DeviceOther DeviceKind = iota
	DeviceGPU
	DeviceNIC
	DeviceStorage
)

// String returns the kind's lower-case name.
func (k DeviceKind) String() string {
	switch k {
	case DeviceGPU:
		return "gpu"
	case DeviceNIC:
		return "nic"
	case DeviceStorage:
		return "storage"
	}
	return "other"
}

// Device is one PCI function or other device.
type Device struct {
	// Name is unique in the machine: a PCI address, "GPU0", "mlx5_0".
	Name string
	// Resource is the extended resource that counts the device, such as
	// "nvidia.com/gpu"; devices without one are never allocated. Readers
	// leave it empty: which plugin serves a device is the caller's matter.
	Resource string
	Kind     DeviceKind
	// Nodes are the NUMA nodes near the device; empty if unknown.
	Nodes Mask
	// Bus is the PCI address, and Parent that of the closest PCI switch or
	// root port, both empty if unknown.
	Bus, Parent string
	// Class is the PCI class code (0x030200 is a 3D controller), 0 if
	// unknown.
	Class uint32
	// Unhealthy devices are never allocated.
	Unhealthy bool
}

// LinkKind classifies the path between two devices, from far to near; the
// names are those of `nvidia-smi topo -m`.
type LinkKind uint8

// Kinds of links, from the longest path to the shortest.
const (
	LinkUnknown LinkKind = iota
	LinkSYS              // through the interconnect between NUMA nodes
	LinkNODE             // between host bridges of one NUMA node
	LinkPHB              // through one PCI host bridge
	LinkPXB              // through several PCI switches
	LinkPIX              // through one PCI switch
	LinkNV               // NVLink, xGMI or another direct fabric
)

// String returns nvidia-smi's name of the kind.
func (k LinkKind) String() string {
	return [...]string{"?", "SYS", "NODE", "PHB", "PXB", "PIX", "NV"}[min(k, LinkNV)]
}

// Link is a path between two devices.
type Link struct {
	// A and B index Machine.Devices.
	A, B int
	Kind LinkKind
	// Count is the number of bonded links of a LinkNV.
	Count int
	// Bandwidth in MB/s in one direction, 0 if unknown.
	Bandwidth int64
}
