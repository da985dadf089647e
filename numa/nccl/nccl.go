package nccl

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"strings"

	"github.com/berth-go/berth/numa"
)

// Read reads the XML file called name in fsys. Errors of the content wrap
// numa.ErrSyntax and name file and line.
func Read(fsys fs.FS, name string) (*numa.Machine, error) {
	data, err := fs.ReadFile(fsys, name)
	if err != nil {
		return nil, err
	}
	r := &reader{
		name: name, dec: xml.NewDecoder(bytes.NewReader(data)), m: &numa.Machine{},
		at: map[string]int{}, switched: map[int]int{}, bus: map[string]bool{},
	}
	if err := r.read(); err != nil {
		return nil, err
	}
	r.joinFabric()
	r.joinPCI()
	return r.m, nil
}

type reader struct {
	name string
	dec  *xml.Decoder
	m    *numa.Machine

	node  int // of the cpu element at hand, -1
	cpu   int // number of cpu elements so far
	stack []pciElement
	at    map[string]int // device by bus id
	paths [][]string     // PCI ancestors of each device, the cpu element first
	bus   map[string]bool

	direct   []fabricLink
	switched map[int]int // links of each device into a switch
}

// pciElement is an open pci element; device is the index that it got, -1.
type pciElement struct {
	bus    string
	device int
}

type fabricLink struct {
	from   int
	target string
	count  int
}

func (r *reader) bad(format string, args ...any) error {
	line, _ := r.dec.InputPos()
	return fmt.Errorf("%w: %s:%d: %s", numa.ErrSyntax, r.name, line, fmt.Sprintf(format, args...))
}

func (r *reader) read() error {
	seen := false
	for {
		tok, err := r.dec.Token()
		if errors.Is(err, io.EOF) {
			if !seen {
				return r.bad("no system element")
			}
			return nil
		}
		if err != nil {
			return r.bad("%v", err)
		}
		switch t := tok.(type) {
		case xml.StartElement:
			seen = seen || t.Name.Local == "system"
			if err := r.start(t); err != nil {
				return err
			}
		case xml.EndElement:
			if t.Name.Local == "pci" && len(r.stack) > 0 {
				r.stack = r.stack[:len(r.stack)-1]
			}
		}
	}
}

func (r *reader) start(t xml.StartElement) error {
	a := map[string]string{}
	for _, x := range t.Attr {
		a[x.Name.Local] = x.Value
	}
	switch t.Name.Local {
	case "cpu":
		return r.cpuElement(a)
	case "pci":
		return r.pci(a)
	case "gpu":
		r.setKind(numa.DeviceGPU)
	case "nic":
		r.setKind(numa.DeviceNIC)
	case "nvlink", "xgmi":
		return r.link(a)
	}
	return nil
}

func (r *reader) setKind(k numa.DeviceKind) {
	if len(r.stack) > 0 {
		if d := r.stack[len(r.stack)-1].device; d >= 0 {
			r.m.Devices[d].Kind = k
		}
	}
}

func (r *reader) cpuElement(a map[string]string) error {
	r.node = -1
	r.cpu++
	if s, ok := a["numaid"]; ok {
		n, err := strconv.Atoi(s)
		if err != nil || n < -1 || n > numa.MaxNodeID {
			return r.bad("numaid=%q is outside -1..%d", s, numa.MaxNodeID)
		}
		r.node = n
	}
	known := r.node < 0
	for _, n := range r.m.Nodes {
		known = known || n.ID == r.node
	}
	if !known {
		r.m.Nodes = append(r.m.Nodes, numa.Node{ID: r.node})
	}
	cpus, err := numa.ParseCPUMask(a["affinity"])
	if err != nil && a["affinity"] != "" {
		return r.bad("affinity: %v", err)
	}
	for _, c := range r.m.CPUs {
		cpus.Remove(c.ID) // the first node that claims a CPU has it
	}
	for id := range cpus.All() {
		r.m.CPUs = append(r.m.CPUs, numa.CPU{ID: id, Core: id, Package: max(0, r.node), Node: r.node})
	}
	return nil
}

func (r *reader) pci(a map[string]string) error {
	e := pciElement{bus: a["busid"], device: -1}
	if e.bus == "" {
		return r.bad("pci element without busid")
	}
	class, err := strconv.ParseUint(strings.TrimPrefix(a["class"], "0x"), 16, 32)
	if err != nil && a["class"] != "" {
		return r.bad("class=%q is not a number", a["class"])
	}
	kind := numa.DeviceOther
	switch class >> 16 {
	case 0x01:
		kind = numa.DeviceStorage
	case 0x02:
		kind = numa.DeviceNIC
	case 0x03, 0x12:
		kind = numa.DeviceGPU
	}
	if class>>16 != 0x06 { // bridges are only the way
		if r.bus[e.bus] {
			return r.bad("busid=%q comes twice", e.bus)
		}
		r.bus[e.bus] = true
		d := numa.Device{Name: e.bus, Bus: e.bus, Class: uint32(class), Kind: kind}
		if r.node >= 0 {
			d.Nodes = numa.MaskOf(r.node)
		}
		path := []string{strconv.Itoa(r.cpu)}
		for _, up := range r.stack {
			path = append(path, up.bus)
			d.Parent = up.bus
		}
		e.device = len(r.m.Devices)
		r.at[e.bus] = e.device
		r.paths = append(r.paths, path)
		r.m.Devices = append(r.m.Devices, d)
	}
	r.stack = append(r.stack, e)
	return nil
}

// link reads nvlink and xgmi elements inside a GPU.
func (r *reader) link(a map[string]string) error {
	if len(r.stack) == 0 || r.stack[len(r.stack)-1].device < 0 {
		return r.bad("link outside a device")
	}
	from := r.stack[len(r.stack)-1].device
	count, err := strconv.Atoi(a["count"])
	if err != nil || count < 0 || count > 1024 {
		return r.bad("count=%q is outside 0..1024", a["count"])
	}
	if strings.HasPrefix(a["tclass"], "0x0680") {
		r.switched[from] += count
		return nil
	}
	r.direct = append(r.direct, fabricLink{from, a["target"], count})
	return nil
}

// joinFabric makes links of NVLink and xGMI: direct ones, which each end
// lists, and between all devices that reach a switch.
func (r *reader) joinFabric() {
	counts := map[[2]int]int{}
	for _, l := range r.direct {
		if to, ok := r.at[l.target]; ok && to != l.from {
			pair := [2]int{min(l.from, to), max(l.from, to)}
			counts[pair] = max(counts[pair], l.count)
		}
	}
	for i := range r.m.Devices {
		for j := i + 1; j < len(r.m.Devices); j++ {
			n := max(counts[[2]int{i, j}], min(r.switched[i], r.switched[j]))
			if n > 0 {
				r.m.Links = append(r.m.Links, numa.Link{A: i, B: j, Kind: numa.LinkNV, Count: n})
			}
		}
	}
}

// joinPCI classifies the PCI way between every two devices.
func (r *reader) joinPCI() {
	for i := range r.paths {
		for j := i + 1; j < len(r.paths); j++ {
			r.m.Links = append(r.m.Links, numa.Link{A: i, B: j, Kind: pciWay(r.paths[i], r.paths[j])})
		}
	}
}

// pciWay compares two lists of ancestors, the cpu element first: a common
// switch right above both is PIX, one further up PXB, only the cpu PHB.
func pciWay(a, b []string) numa.LinkKind {
	common := 0
	for common < len(a) && common < len(b) && a[common] == b[common] {
		common++
	}
	switch {
	case common == 0:
		return numa.LinkSYS
	case common == 1:
		return numa.LinkPHB
	case common == len(a) && common == len(b):
		return numa.LinkPIX
	}
	return numa.LinkPXB
}
