package sysfs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/berth-go/berth/numa"
)

const (
	cpuDir  = "sys/devices/system/cpu"
	nodeDir = "sys/devices/system/node"
)

// maxFile bounds the size of a file that is read; sysfs files are a page.
const maxFile = 1 << 20

// Read reads the machine. Errors of the content wrap numa.ErrSyntax and name
// file and line; errors of the file system come as they are, except that
// files may be missing or unreadable.
func Read(root fs.FS) (*numa.Machine, error) {
	r := &reader{root: root, m: &numa.Machine{}}
	for _, step := range []func() error{r.cpus, r.kinds, r.caches, r.nodes, r.pci, r.deviceMemory} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return r.m, nil
}

type reader struct {
	root   fs.FS
	m      *numa.Machine
	online numa.CPUSet
	nodeAt map[int]int // index of a node id in m.Nodes
}

// text returns the content of a file without white space around it, and
// whether it could be read. Recorded trees may end files with a NUL.
func (r *reader) text(name string) (string, bool) {
	f, err := r.root.Open(name)
	if err != nil {
		return "", false
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxFile))
	if err != nil {
		return "", false
	}
	return strings.Trim(string(b), " \t\r\n\x00"), true
}

func bad(file string, line int, format string, args ...any) error {
	return fmt.Errorf("%w: %s:%d: %s", numa.ErrSyntax, file, line, fmt.Sprintf(format, args...))
}

// number reads a file with one integer; a missing or empty one reads as def.
func (r *reader) number(name string, def int) (int, error) {
	s, ok := r.text(name)
	if !ok || s == "" {
		return def, nil
	}
	n, err := strconv.ParseInt(s, 0, 64)
	if err != nil || n < math.MinInt32 || n > math.MaxInt32 {
		return 0, bad(name, 1, "%q is not a number", s)
	}
	return int(n), nil
}

// cpuSet reads the first of the files that exists. Found is false if none
// does.
func (r *reader) cpuSet(names ...string) (set numa.CPUSet, found bool, err error) {
	for _, name := range names {
		s, ok := r.text(name)
		if !ok {
			continue
		}
		if isList(name) {
			set, err = numa.ParseCPUs(s)
		} else {
			set, err = numa.ParseCPUMask(s)
		}
		if err != nil {
			return set, true, fmt.Errorf("%s:1: %w", name, err)
		}
		return set, true, nil
	}
	return set, false, nil
}

// isList tells list format from hexadecimal masks by the kernel's names.
func isList(name string) bool {
	return strings.HasSuffix(name, "list") || strings.HasSuffix(name, "/online") || strings.HasSuffix(name, "/cpus") ||
		strings.HasSuffix(name, ".cpus") || strings.HasSuffix(name, ".effective")
}

// numbered lists the entries of a directory that are prefix and a number,
// ascending by number.
func (r *reader) numbered(dir, prefix string) []int {
	entries, err := fs.ReadDir(r.root, dir)
	if err != nil {
		return nil
	}
	var ids []int
	for _, e := range entries {
		rest, ok := strings.CutPrefix(e.Name(), prefix)
		if !ok {
			continue
		}
		if id, err := strconv.ParseUint(rest, 10, 31); err == nil && strconv.Itoa(int(id)) == rest {
			ids = append(ids, int(id))
		}
	}
	slices.Sort(ids)
	return ids
}

func (r *reader) cpus() error {
	ids := r.numbered(cpuDir, "cpu")
	if len(ids) == 0 {
		return fmt.Errorf("numa: %s: no CPU: %w", cpuDir, errors.Join(numa.ErrSyntax, fs.ErrNotExist))
	}
	listed, known, err := r.cpuSet(cpuDir + "/online")
	if err != nil {
		return err
	}
	for _, id := range ids {
		up, err := r.number(fmt.Sprintf("%s/cpu%d/online", cpuDir, id), 1)
		if err != nil {
			return err
		}
		if id > numa.MaxCPUID {
			return bad(cpuDir, 1, "cpu%d is above %d", id, numa.MaxCPUID)
		}
		if up != 0 && (!known || listed.Has(id)) {
			r.online.Add(id)
		}
	}
	dies := map[int]int{}
	packages := map[string]int{}
	for id := range r.online.All() {
		c, err := r.cpu(id, dies, packages)
		if err != nil {
			return err
		}
		r.m.CPUs = append(r.m.CPUs, c)
	}
	return nil
}

// cpu reads the topology of one CPU. The lowest CPU of a core names it, since
// core_id repeats from package to package. Dies are numbered as they come.
func (r *reader) cpu(id int, dies map[int]int, packages map[string]int) (numa.CPU, error) {
	dir := fmt.Sprintf("%s/cpu%d/topology/", cpuDir, id)
	c := numa.CPU{ID: id, Core: id, Node: -1}
	siblings, _, err := r.cpuSet(dir+"core_cpus", dir+"thread_siblings", dir+"core_cpus_list", dir+"thread_siblings_list")
	if err != nil {
		return c, err
	}
	if siblings = siblings.And(r.online); siblings.Has(id) {
		c.Core = siblings.Min()
	}
	if c.Package, err = r.number(dir+"physical_package_id", -1); err != nil {
		return c, err
	}
	same, found, err := r.cpuSet(dir+"package_cpus", dir+"core_siblings", dir+"package_cpus_list", dir+"core_siblings_list")
	if err != nil {
		return c, err
	}
	if c.Package < 0 {
		// Firmware without package ids: tell packages apart by their CPUs.
		key := ""
		if found {
			key = same.String()
		}
		if _, ok := packages[key]; !ok {
			packages[key] = len(packages)
		}
		c.Package = packages[key]
	}
	die, found, err := r.cpuSet(dir+"die_cpus", dir+"die_cpus_list")
	if err != nil {
		return c, err
	}
	first := die.And(r.online).Min()
	if !found || first < 0 {
		first = -1 - c.Package
	}
	if _, ok := dies[first]; !ok {
		dies[first] = len(dies)
	}
	c.Die = dies[first]
	return c, nil
}

// kinds ranks hybrid cores: by the perf units of Intel's two kinds, or by the
// capacity that arm64 kernels measure.
func (r *reader) kinds() error {
	fast, found, err := r.cpuSet("sys/devices/cpu_core/cpus")
	if err != nil {
		return err
	}
	capacity := make([]int, len(r.m.CPUs))
	for i, c := range r.m.CPUs {
		if found {
			if fast.Has(c.ID) {
				capacity[i] = 1
			}
			continue
		}
		if capacity[i], err = r.number(fmt.Sprintf("%s/cpu%d/cpu_capacity", cpuDir, c.ID), 0); err != nil {
			return err
		}
	}
	steps := slices.Clone(capacity)
	slices.Sort(steps)
	steps = slices.Compact(steps)
	for i := range r.m.CPUs {
		r.m.CPUs[i].Kind, _ = slices.BinarySearch(steps, capacity[i])
	}
	return nil
}

func (r *reader) caches() error {
	type key struct {
		level int
		kind  string
		cpus  string
	}
	seen := map[key]bool{}
	for id := range r.online.All() {
		base := fmt.Sprintf("%s/cpu%d/cache", cpuDir, id)
		for _, index := range r.numbered(base, "index") {
			dir := fmt.Sprintf("%s/index%d/", base, index)
			c := numa.Cache{}
			var err error
			if c.Level, err = r.number(dir+"level", 0); err != nil {
				return err
			}
			if c.ID, err = r.number(dir+"id", -1); err != nil {
				return err
			}
			if c.CPUs, _, err = r.cpuSet(dir+"shared_cpu_map", dir+"shared_cpu_list"); err != nil {
				return err
			}
			if c.Bytes, err = r.size(dir + "size"); err != nil {
				return err
			}
			kind, _ := r.text(dir + "type")
			c.Instruction = kind == "Instruction"
			c.CPUs = c.CPUs.And(r.online)
			k := key{c.Level, kind, c.CPUs.String()}
			if c.Level > 0 && c.CPUs.Has(id) && !seen[k] {
				seen[k] = true
				r.m.Caches = append(r.m.Caches, c)
			}
		}
	}
	return nil
}

// size reads a size such as "32K".
func (r *reader) size(name string) (int64, error) {
	s, ok := r.text(name)
	if !ok || s == "" {
		return 0, nil
	}
	digits := strings.TrimRight(s, "KMG")
	n, err := strconv.ParseInt(digits, 10, 40)
	if err != nil || n < 0 {
		return 0, bad(name, 1, "%q is not a size", s)
	}
	switch s[len(digits):] {
	case "":
	case "K":
		n <<= 10
	case "M":
		n <<= 20
	default:
		return 0, bad(name, 1, "%q is not a size", s)
	}
	return n, nil
}
