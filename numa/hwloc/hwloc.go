package hwloc

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
		deviceOf: map[string]int{}, nodeOf: map[string]int{}, busAt: map[string]bool{}, switches: map[int]bool{},
	}
	if err := r.read(); err != nil {
		return nil, err
	}
	return r.m, r.finish()
}

type reader struct {
	name string
	dec  *xml.Decoder
	m    *numa.Machine

	stack    []object
	packages int
	dies     int
	nodes    []nodeSet
	deviceOf map[string]int // by gp_index, of PCI devices and what is inside
	nodeOf   map[string]int // index of nodes by gp_index
	busAt    map[string]bool
	switches map[int]bool // devices that are NVSwitches

	matrix *matrix
	attr   string // name of the memory attribute at hand
}

// object is an open object element.
type object struct {
	kind   string
	id     int // os_index or a number of its own
	nodes  numa.Mask
	device int // index of the PCI device that it is or is in, -1
	bus    string
}

// nodeSet is a node and the CPUs near it.
type nodeSet struct {
	id   int
	cpus numa.CPUSet
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
				return r.bad("no topology element")
			}
			return nil
		}
		if err != nil {
			return r.bad("%v", err)
		}
		switch t := tok.(type) {
		case xml.StartElement:
			seen = seen || t.Name.Local == "topology"
			err = r.start(t)
		case xml.EndElement:
			err = r.end(t)
		case xml.CharData:
			if r.matrix != nil && r.matrix.into != nil {
				*r.matrix.into += string(t) + " "
			}
		}
		if err != nil {
			return err
		}
	}
}

func (r *reader) start(t xml.StartElement) error {
	a := attributes(t)
	switch t.Name.Local {
	case "object":
		return r.object(a)
	case "page_type":
		return r.pages(a)
	case "distances2", "distances2hetero":
		r.matrix = &matrix{kind: a["type"], name: a["name"], indexing: a["indexing"]}
	case "indexes", "u64values":
		if r.matrix != nil {
			r.matrix.into = &r.matrix.indexes
			if t.Name.Local == "u64values" {
				r.matrix.into = &r.matrix.values
			}
		}
	case "memattr":
		r.attr = a["name"]
	case "memattr_value":
		return r.memoryAttribute(a)
	}
	return nil
}

func attributes(t xml.StartElement) map[string]string {
	a := make(map[string]string, len(t.Attr))
	for _, x := range t.Attr {
		a[x.Name.Local] = x.Value
	}
	return a
}

func (r *reader) end(t xml.EndElement) error {
	switch t.Name.Local {
	case "object":
		if len(r.stack) > 0 {
			r.stack = r.stack[:len(r.stack)-1]
		}
	case "indexes", "u64values":
		if r.matrix != nil {
			r.matrix.into = nil
		}
	case "distances2", "distances2hetero":
		m := r.matrix
		r.matrix = nil
		if m != nil {
			return r.distances(m)
		}
	}
	return nil
}

// number reads an attribute, def if it is absent.
func (r *reader) number(a map[string]string, key string, def int64) (int64, error) {
	s, ok := a[key]
	if !ok {
		return def, nil
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < 0 {
		return 0, r.bad("%s=%q is not a number", key, s)
	}
	return n, nil
}

func (r *reader) cpus(a map[string]string, key string) (numa.CPUSet, error) {
	s, ok := a[key]
	if !ok || s == "" {
		return numa.CPUSet{}, nil
	}
	set, err := numa.ParseCPUMask(s)
	if err != nil {
		return set, r.bad("%s: %v", key, err)
	}
	return set, nil
}

func (r *reader) object(a map[string]string) error {
	id, err := r.number(a, "os_index", -1)
	if err != nil {
		return err
	}
	if id > 1<<30 {
		return r.bad("os_index=%d is too large", id)
	}
	o := object{kind: a["type"], id: int(id), device: -1}
	if len(r.stack) > 0 {
		o.device = r.stack[len(r.stack)-1].device
	}
	nodes, err := r.cpus(a, "nodeset")
	if err != nil {
		return err
	}
	for n := range nodes.All() {
		if n > numa.MaxNodeID {
			return r.bad("nodeset names node %d, above %d", n, numa.MaxNodeID)
		}
		o.nodes.Add(n)
	}
	switch o.kind {
	case "Package", "Socket":
		o.kind = "Package"
		r.packages++
		if o.id < 0 {
			o.id = 1<<20 + r.packages
		}
	case "Die":
		r.dies++
		o.id = r.dies
	case "NUMANode":
		err = r.node(a, &o)
	case "PU":
		err = r.cpu(&o)
	case "Core":
		o.id = -1 // named by its first PU: os_index repeats
	case "PCIDev", "Bridge":
		err = r.pci(a, &o)
	default:
		err = r.cache(a, &o)
	}
	if gp := a["gp_index"]; gp != "" && o.device >= 0 {
		r.deviceOf[gp] = o.device
	}
	r.stack = append(r.stack, o)
	return err
}

func (r *reader) node(a map[string]string, o *object) error {
	if o.id < 0 {
		o.id = len(r.nodes)
	}
	if o.id > numa.MaxNodeID {
		return r.bad("NUMANode os_index=%d is above %d", o.id, numa.MaxNodeID)
	}
	for _, n := range r.nodes {
		if n.id == o.id {
			return r.bad("NUMANode os_index=%d comes twice", o.id)
		}
	}
	cpus, err := r.cpus(a, "cpuset")
	if err != nil {
		return err
	}
	n := numa.Node{ID: o.id}
	bytes, err := r.number(a, "local_memory", 0)
	if err != nil {
		return err
	}
	if bytes > 0 {
		n.Memory = append(n.Memory, numa.Memory{Bytes: bytes})
	}
	switch a["subtype"] {
	case "HBM", "MCDRAM":
		n.Tier = numa.TierHBM
	case "NVM":
		n.Tier = numa.TierPersistent
	case "GPUMemory", "SPM", "CXL-DRAM", "CXL-NVM":
		n.Tier, n.Generic = numa.TierDevice, true
	}
	o.nodes = numa.MaskOf(o.id)
	r.nodeOf[a["gp_index"]] = len(r.m.Nodes)
	r.nodes = append(r.nodes, nodeSet{o.id, cpus})
	r.m.Nodes = append(r.m.Nodes, n)
	return nil
}

// pages reads a page size of the node at hand; the smallest, which comes
// first, is ordinary memory and counted in local_memory.
func (r *reader) pages(a map[string]string) error {
	size, err := r.number(a, "size", 0)
	if err != nil {
		return err
	}
	count, err := r.number(a, "count", 0)
	if err != nil {
		return err
	}
	if len(r.stack) == 0 || r.stack[len(r.stack)-1].kind != "NUMANode" || count == 0 || size <= 64<<10 {
		return nil
	}
	if count > (1<<53)/size {
		return r.bad("%d pages of %d bytes", count, size)
	}
	n := &r.m.Nodes[len(r.m.Nodes)-1]
	n.Memory = append(n.Memory, numa.Memory{PageSize: size, Bytes: size * count})
	return nil
}

func (r *reader) cpu(o *object) error {
	if o.id < 0 || o.id > numa.MaxCPUID {
		return r.bad("PU os_index=%d is outside 0..%d", o.id, numa.MaxCPUID)
	}
	c := numa.CPU{ID: o.id, Core: o.id, Node: -1}
	for i := range r.stack {
		up := &r.stack[i]
		switch up.kind {
		case "Package":
			c.Package = up.id
		case "Die":
			c.Die = up.id
		case "Core":
			if up.id < 0 {
				up.id = o.id
			}
			c.Core = up.id
		}
	}
	r.m.CPUs = append(r.m.CPUs, c)
	return nil
}

// cache reads "L3Cache" and version 1's "Cache"; other objects are passed by.
func (r *reader) cache(a map[string]string, o *object) error {
	if !strings.HasSuffix(o.kind, "Cache") || strings.HasPrefix(o.kind, "Mem") {
		return nil
	}
	level, err := r.number(a, "depth", 0)
	if err != nil {
		return err
	}
	cpus, err := r.cpus(a, "cpuset")
	if err != nil {
		return err
	}
	bytes, err := r.number(a, "cache_size", 0)
	if err != nil {
		return err
	}
	c := numa.Cache{ID: o.id, Level: int(min(level, 9)), Bytes: bytes, CPUs: cpus, Instruction: a["cache_type"] == "2"}
	if level > 0 {
		r.m.Caches = append(r.m.Caches, c)
	}
	return nil
}

// finish gives CPUs their nodes.
func (r *reader) finish() error {
	of := map[int]int{}
	for _, n := range r.nodes {
		for c := range n.cpus.All() {
			if old, ok := of[c]; !ok || n.id < old {
				of[c] = n.id
			}
		}
	}
	for i := range r.m.CPUs {
		if n, ok := of[r.m.CPUs[i].ID]; ok {
			r.m.CPUs[i].Node = n
		} else if len(r.nodes) == 0 {
			r.m.CPUs[i].Node = 0
		}
	}
	return nil
}
