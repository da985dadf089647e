package nvidiasmi

import (
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/berth-go/berth/numa"
)

// Read reads the text file called name in fsys. Errors of the content wrap
// numa.ErrSyntax and name file and line.
func Read(fsys fs.FS, name string) (*numa.Machine, error) {
	data, err := fs.ReadFile(fsys, name)
	if err != nil {
		return nil, err
	}
	r := &reader{name: name, m: &numa.Machine{}, at: map[string]int{}}
	escapes, err := regexp.Compile("\x1b\\[[0-9;]*m")
	if err != nil {
		return nil, err
	}
	return r.m, r.read(escapes.ReplaceAllString(string(data), ""))
}

const (
	cpuColumn  = "CPU Affinity"
	nodeColumn = "NUMA Affinity"
	gpuColumn  = "GPU NUMA ID"
)

type reader struct {
	name    string
	line    int
	m       *numa.Machine
	columns []string
	at      map[string]int // device by its name in the matrix
	cpus    []numa.CPUSet  // by device
	numa    bool
}

func (r *reader) bad(format string, args ...any) error {
	return fmt.Errorf("%w: %s:%d: %s", numa.ErrSyntax, r.name, r.line, fmt.Sprintf(format, args...))
}

func (r *reader) read(text string) error {
	legend := false
	for line := range strings.SplitSeq(text, "\n") {
		r.line++
		line = strings.TrimRight(line, " \r")
		var err error
		switch {
		case strings.TrimSpace(line) == "":
		case strings.HasPrefix(line, "Legend:"), strings.HasPrefix(line, "NIC Legend:"):
			legend = true
		case legend:
			err = r.rename(line)
		case r.columns == nil:
			err = r.header(line)
		default:
			err = r.row(line)
		}
		if err != nil {
			return err
		}
	}
	if r.columns == nil {
		return r.bad("no table")
	}
	return r.place()
}

// header makes a device of each column up to the affinities.
func (r *reader) header(line string) error {
	for _, c := range strings.Split(line, "\t")[1:] {
		r.columns = append(r.columns, strings.TrimSpace(c))
	}
	for _, c := range r.columns {
		switch c {
		case cpuColumn, gpuColumn, "":
			continue
		case nodeColumn:
			r.numa = true
			continue
		}
		if _, ok := r.at[c]; ok {
			return r.bad("column %q comes twice", c)
		}
		d := numa.Device{Name: c, Kind: numa.DeviceNIC}
		if strings.HasPrefix(c, "GPU") {
			d.Kind = numa.DeviceGPU
		}
		r.at[c] = len(r.m.Devices)
		r.m.Devices = append(r.m.Devices, d)
	}
	if len(r.m.Devices) == 0 {
		return r.bad("the header names no device")
	}
	r.cpus = make([]numa.CPUSet, len(r.m.Devices))
	return nil
}

func (r *reader) row(line string) error {
	cells := strings.Split(line, "\t")
	from, ok := r.at[strings.TrimSpace(cells[0])]
	if !ok {
		return r.bad("row %q is not in the header", cells[0])
	}
	cells = cells[1:]
	if last := len(r.columns) - 1; len(cells) == last+2 && strings.TrimSpace(cells[last]) == "" {
		cells = slices.Delete(cells, last, last+1) // some drivers put two tabs before the last column
	}
	for i, cell := range cells {
		cell = strings.TrimSpace(cell)
		if i >= len(r.columns) {
			if cell != "" {
				return r.bad("cell %q is beyond the last column", cell)
			}
			continue
		}
		if err := r.cell(from, r.columns[i], cell); err != nil {
			return err
		}
	}
	return nil
}

func (r *reader) cell(from int, column, cell string) error {
	if cell == "" || cell == "N/A" {
		return nil
	}
	d := &r.m.Devices[from]
	switch column {
	case cpuColumn:
		cpus, err := numa.ParseCPUs(cell)
		if err != nil {
			return r.bad("column %q: %v", column, err)
		}
		r.cpus[from] = cpus
	case nodeColumn:
		nodes, err := numa.ParseNodes(cell)
		if err != nil {
			return r.bad("column %q: %v", column, err)
		}
		d.Nodes = nodes
	case gpuColumn:
		id, err := strconv.ParseUint(cell, 10, 31)
		if err != nil || id > numa.MaxNodeID {
			return r.bad("column %q: %q is no node", column, cell)
		}
		if r.addNode(int(id)) {
			n := &r.m.Nodes[len(r.m.Nodes)-1]
			n.Tier, n.Generic = numa.TierDevice, true
		}
	default:
		to, ok := r.at[column]
		if !ok {
			return r.bad("cell %q is in no column", cell)
		}
		return r.link(from, to, cell)
	}
	return nil
}

// link reads one cell of the matrix. Each pair comes twice, once below the
// diagonal, unless the NICs' rows are left out.
func (r *reader) link(from, to int, cell string) error {
	if cell == "X" {
		return nil
	}
	l := numa.Link{A: min(from, to), B: max(from, to)}
	if rest, ok := strings.CutPrefix(cell, "NV"); ok {
		n, err := strconv.ParseUint(rest, 10, 10)
		if err != nil {
			return r.bad("%q is no link", cell)
		}
		l.Kind, l.Count = numa.LinkNV, int(n)
	} else {
		for k := numa.LinkSYS; k < numa.LinkNV; k++ {
			if k.String() == cell {
				l.Kind = k
			}
		}
	}
	if l.Kind == numa.LinkUnknown || from == to {
		return r.bad("%q is no link between %q and %q", cell, r.m.Devices[from].Name, r.m.Devices[to].Name)
	}
	if !slices.ContainsFunc(r.m.Links, func(o numa.Link) bool { return o.A == l.A && o.B == l.B }) {
		r.m.Links = append(r.m.Links, l)
	}
	return nil
}

// rename reads "NIC0: mlx5_0"; other lines of a legend explain words.
func (r *reader) rename(line string) error {
	short, long, ok := strings.Cut(strings.TrimSpace(line), ": ")
	if !ok {
		return nil
	}
	i, known := r.at[strings.TrimSpace(short)]
	long = strings.TrimSpace(long)
	if !known || long == "" {
		return nil
	}
	for j := range r.m.Devices {
		if j != i && r.m.Devices[j].Name == long {
			return r.bad("two devices are called %q", long)
		}
	}
	r.m.Devices[i].Name = long
	return nil
}

func (r *reader) addNode(id int) bool {
	if slices.ContainsFunc(r.m.Nodes, func(n numa.Node) bool { return n.ID == id }) {
		return false
	}
	r.m.Nodes = append(r.m.Nodes, numa.Node{ID: id})
	return true
}

// place makes nodes and CPUs of the affinities.
func (r *reader) place() error {
	if !r.numa {
		r.guessNodes()
	}
	seen := numa.CPUSet{}
	for i := range r.m.Devices {
		d := &r.m.Devices[i]
		first := -1
		for id := range d.Nodes.All() {
			r.addNode(id)
			if first < 0 {
				first = id
			}
		}
		for c := range r.cpus[i].Minus(seen).All() {
			r.m.CPUs = append(r.m.CPUs, numa.CPU{ID: c, Core: c, Package: max(0, first), Node: first})
			seen.Add(c)
		}
	}
	return nil
}

func (r *reader) guessNodes() {
	var sets []numa.CPUSet
	for _, s := range r.cpus {
		if !s.IsEmpty() && !slices.ContainsFunc(sets, s.Equal) {
			sets = append(sets, s)
		}
	}
	slices.SortFunc(sets, func(a, b numa.CPUSet) int { return a.Min() - b.Min() })
	for i := range r.cpus {
		if k := slices.IndexFunc(sets, r.cpus[i].Equal); k >= 0 && k <= numa.MaxNodeID {
			r.m.Devices[i].Nodes = numa.MaskOf(k)
		}
	}
}
