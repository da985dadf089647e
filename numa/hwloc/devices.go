package hwloc

import (
	"slices"
	"strconv"
	"strings"

	"github.com/berth-go/berth/numa"
)

const classNVSwitch = 0x0680

// pci reads a PCI device; bridges only pass their bus id down as the parent.
func (r *reader) pci(a map[string]string, o *object) error {
	o.bus = a["pci_busid"]
	if o.kind != "PCIDev" {
		return nil
	}
	if o.bus == "" || r.busAt[o.bus] {
		return r.bad("pci_busid=%q is missing or comes twice", o.bus)
	}
	r.busAt[o.bus] = true
	text, _, _ := strings.Cut(a["pci_type"], " ")
	class, err := strconv.ParseUint(text, 16, 16)
	if err != nil {
		return r.bad("pci_type=%q has no class", a["pci_type"])
	}
	d := numa.Device{Name: o.bus, Bus: o.bus, Class: uint32(class) << 8}
	switch class >> 8 {
	case 0x01:
		d.Kind = numa.DeviceStorage
	case 0x02:
		d.Kind = numa.DeviceNIC
	case 0x03:
		d.Kind = numa.DeviceGPU
	}
	for i := len(r.stack) - 1; i >= 0; i-- {
		up := &r.stack[i]
		if d.Parent == "" && up.bus != "" {
			d.Parent = up.bus
		}
		if !up.nodes.IsEmpty() {
			// What hangs off the whole machine is near no node in particular.
			if up.kind != "Machine" {
				d.Nodes = up.nodes
			}
			break
		}
	}
	o.device = len(r.m.Devices)
	r.switches[o.device] = class == classNVSwitch || a["subtype"] == "NVSwitch"
	r.m.Devices = append(r.m.Devices, d)
	return nil
}

// memoryAttribute keeps the highest bandwidth of each node.
func (r *reader) memoryAttribute(a map[string]string) error {
	if r.attr != "Bandwidth" && r.attr != "ReadBandwidth" {
		return nil
	}
	value, err := r.number(a, "value", 0)
	if err != nil {
		return err
	}
	if i, ok := r.nodeOf[a["target_obj_gp_index"]]; ok && a["target_obj_gp_index"] != "" {
		r.m.Nodes[i].Bandwidth = max(r.m.Nodes[i].Bandwidth, value)
	}
	return nil
}

// matrix is a distances2 element.
type matrix struct {
	kind, name, indexing string
	indexes, values      string
	into                 *string // where character data goes
}

// maxMatrix bounds the side of a matrix.
const maxMatrix = 4096

// distances takes over a matrix if it is one of the two that are used.
func (r *reader) distances(m *matrix) error {
	latency := m.kind == "NUMANode" && (m.name == "NUMALatency" || m.name == "") && len(r.m.Distances) == 0
	nvlink := m.name == "NVLinkBandwidth"
	if !latency && !nvlink {
		return nil
	}
	names, words := strings.Fields(m.indexes), strings.Fields(m.values)
	n := len(names)
	if n > maxMatrix || len(words) != n*n {
		return r.bad("matrix of %d objects has %d values", n, len(words))
	}
	values := make([]int64, len(words))
	for i, w := range words {
		v, err := strconv.ParseInt(w, 10, 53)
		if err != nil || v < 0 {
			return r.bad("matrix value %q is not a number", w)
		}
		values[i] = v
	}
	if latency {
		return r.latency(m, names, values)
	}
	r.nvlink(m, names, values)
	return nil
}

func (r *reader) latency(m *matrix, names []string, values []int64) error {
	at := make([]int, len(names))
	for i, name := range names {
		at[i] = -1
		if m.indexing == "gp" {
			if k, ok := r.nodeOf[name]; ok {
				at[i] = k
			}
			continue
		}
		id, err := strconv.Atoi(name)
		if err != nil {
			return r.bad("matrix index %q is not a number", name)
		}
		at[i] = slices.IndexFunc(r.m.Nodes, func(n numa.Node) bool { return n.ID == id })
	}
	rows := make([][]int, len(r.m.Nodes))
	for i := range rows {
		rows[i] = make([]int, len(r.m.Nodes))
	}
	for i, a := range at {
		for j, b := range at {
			v := values[i*len(at)+j]
			if v > 1<<20 {
				return r.bad("distance %d is too large", v)
			}
			if a >= 0 && b >= 0 {
				rows[a][b] = int(v)
			}
		}
	}
	r.m.Distances = rows
	return nil
}

// nvlink turns bandwidths into links. GPUs that meet in NVSwitches get the sum
// over the switches of what both have to each; links from switch to switch
// are not in the matrix.
func (r *reader) nvlink(m *matrix, names []string, values []int64) {
	n := len(names)
	at := make([]int, n)
	isSwitch := make([]bool, n)
	for i, name := range names {
		if m.kind == "" { // heterogeneous: "OSDev:802"
			_, name, _ = strings.Cut(name, ":")
		}
		at[i] = -1
		if d, ok := r.deviceOf[name]; ok {
			at[i] = d
			isSwitch[i] = r.switches[d]
		}
	}
	for i := range n {
		for j := range i {
			if at[i] < 0 || at[j] < 0 || at[i] == at[j] || isSwitch[i] || isSwitch[j] {
				continue
			}
			v := values[i*n+j]
			for k := range n {
				if isSwitch[k] {
					v += min(values[i*n+k], values[j*n+k])
				}
			}
			if v > 0 {
				r.m.Links = append(r.m.Links, numa.Link{A: at[j], B: at[i], Kind: numa.LinkNV, Bandwidth: v})
			}
		}
	}
}
