package sysfs

import (
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"

	"github.com/berth-go/berth/numa"
)

const pciDir = "sys/bus/pci/devices"

// list returns the names in a directory, none if it cannot be read.
func (r *reader) list(dir string) []string {
	entries, err := fs.ReadDir(r.root, dir)
	if err != nil {
		return nil
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	return names
}

// PCI base classes (the upper byte of the class code).
const (
	classStorage     = 0x01
	classNetwork     = 0x02
	classDisplay     = 0x03
	classAccelerator = 0x12
)

// pci reads the devices that a pod can ask for, not bridges and the like.
func (r *reader) pci() error {
	for _, bus := range r.list(pciDir) {
		name := path.Join(pciDir, bus, "class")
		s, ok := r.text(name)
		if !ok {
			continue
		}
		class, err := strconv.ParseUint(s, 0, 32)
		if err != nil {
			return bad(name, 1, "class %q is not a number", s)
		}
		d := numa.Device{Name: bus, Bus: bus, Class: uint32(class), Parent: r.parent(bus)}
		switch class >> 16 {
		case classStorage:
			d.Kind = numa.DeviceStorage
		case classNetwork:
			d.Kind = numa.DeviceNIC
		case classDisplay:
			d.Kind = numa.DeviceGPU
		case classAccelerator:
			d.Kind = numa.DeviceOther
		default:
			continue
		}
		if d.Nodes, err = r.near(path.Join(pciDir, bus)); err != nil {
			return err
		}
		r.m.Devices = append(r.m.Devices, d)
	}
	return nil
}

// parent is the bridge above a device, from where the link of its bus entry
// points: .../0000:00:01.0/0000:01:00.0.
func (r *reader) parent(bus string) string {
	target, err := fs.ReadLink(r.root, path.Join(pciDir, bus))
	if err != nil {
		return ""
	}
	up := path.Base(path.Dir(target))
	if strings.Count(up, ":") != 2 {
		return "" // a host bridge: everything below it would be one switch
	}
	return up
}

// near lists the nodes of a device: its node, or those of its local CPUs if
// they are not all there are.
func (r *reader) near(dir string) (numa.Mask, error) {
	var m numa.Mask
	node, err := r.number(path.Join(dir, "numa_node"), -1)
	if err != nil {
		return m, err
	}
	if _, ok := r.nodeAt[node]; ok {
		return numa.MaskOf(node), nil
	}
	cpus, found, err := r.cpuSet(path.Join(dir, "local_cpus"), path.Join(dir, "local_cpulist"))
	if err != nil || !found || cpus.Contains(r.online) {
		return m, err
	}
	for _, c := range r.m.CPUs {
		if c.Node >= 0 && cpus.Has(c.ID) {
			m.Add(c.Node)
		}
	}
	return m, nil
}

// deviceMemory marks nodes that are not ordinary memory: those that a DAX
// device feeds, those that NVIDIA's driver declares a GPU's, and those without
// CPUs that are faster or slower than the nodes with CPUs.
func (r *reader) deviceMemory() error {
	hasCPU := map[int]bool{}
	dram := int64(0)
	for _, c := range r.m.CPUs {
		hasCPU[c.Node] = true
	}
	for _, n := range r.m.Nodes {
		if hasCPU[n.ID] {
			dram = max(dram, n.Bandwidth)
		}
	}
	for i := range r.m.Nodes {
		n := &r.m.Nodes[i]
		if !hasCPU[n.ID] && n.Bandwidth > dram && dram > 0 {
			n.Tier = numa.TierHBM
		}
	}
	for _, dax := range r.list("sys/bus/dax/devices") {
		node, err := r.number("sys/bus/dax/devices/"+dax+"/target_node", -1)
		if err != nil {
			return err
		}
		if i, ok := r.nodeAt[node]; ok && !hasCPU[node] {
			r.m.Nodes[i].Tier = numa.TierPersistent
		}
	}
	const gpus = "proc/driver/nvidia/gpus"
	for _, bus := range r.list(gpus) {
		if err := r.gpuNode(fmt.Sprintf("%s/%s/numa_status", gpus, bus)); err != nil {
			return err
		}
	}
	return nil
}

// gpuNode reads "Node: 255" lines.
func (r *reader) gpuNode(name string) error {
	s, ok := r.text(name)
	if !ok {
		return nil
	}
	line := 0
	for text := range strings.SplitSeq(s, "\n") {
		line++
		rest, ok := strings.CutPrefix(text, "Node:")
		if !ok {
			continue
		}
		id, err := strconv.ParseInt(strings.TrimSpace(rest), 10, 32)
		if err != nil {
			return bad(name, line, "%q names no node", text)
		}
		if i, ok := r.nodeAt[int(id)]; ok {
			r.m.Nodes[i].Tier, r.m.Nodes[i].Generic = numa.TierDevice, true
		}
	}
	return nil
}
