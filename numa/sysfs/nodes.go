package sysfs

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/berth-go/berth/numa"
)

func (r *reader) nodes() error {
	ids := r.numbered(nodeDir, "node")
	listed, err := r.onlineNodes()
	if err != nil {
		return err
	}
	if listed != nil {
		kept := ids[:0]
		for _, id := range ids {
			if id <= numa.MaxNodeID && listed.Has(id) {
				kept = append(kept, id)
			}
		}
		ids = kept
	}
	if len(ids) == 0 {
		return r.oneNode()
	}
	at := map[int]int{}
	for i, c := range r.m.CPUs {
		at[c.ID] = i
	}
	r.nodeAt = map[int]int{}
	same := map[string]int{} // first node with a list of CPUs
	kept := ids[:0:0]
	for _, id := range ids {
		if id > numa.MaxNodeID {
			return bad(nodeDir, 1, "node%d is above %d", id, numa.MaxNodeID)
		}
		n, cpus, err := r.node(id)
		if err != nil {
			return err
		}
		if first, ok := same[cpus.String()]; ok && !cpus.IsEmpty() {
			// Firmware has been seen to list all CPUs for every node: these
			// are one node, as far as anyone can tell.
			merge(&r.m.Nodes[r.nodeAt[first]], n.Memory)
			continue
		}
		same[cpus.String()] = id
		kept = append(kept, id)
		r.nodeAt[id] = len(r.m.Nodes)
		r.m.Nodes = append(r.m.Nodes, n)
		for c := range cpus.All() {
			// Where lists overlap, a CPU belongs to the first.
			if i, ok := at[c]; ok && r.m.CPUs[i].Node < 0 {
				r.m.CPUs[i].Node = id
			}
		}
	}
	return r.distances(ids, kept)
}

func merge(n *numa.Node, more []numa.Memory) {
	for _, m := range more {
		found := false
		for i := range n.Memory {
			if n.Memory[i].PageSize == m.PageSize {
				n.Memory[i].Bytes += m.Bytes
				found = true
			}
		}
		if !found {
			n.Memory = append(n.Memory, m)
		}
	}
}

// onlineNodes is nil if the kernel does not list them.
func (r *reader) onlineNodes() (*numa.Mask, error) {
	const name = nodeDir + "/online"
	s, ok := r.text(name)
	if !ok {
		return nil, nil
	}
	m, err := numa.ParseNodes(s)
	if err != nil {
		return nil, fmt.Errorf("%s:1: %w", name, err)
	}
	return &m, nil
}

// oneNode makes a machine without NUMA one node.
func (r *reader) oneNode() error {
	for i := range r.m.CPUs {
		r.m.CPUs[i].Node = 0
	}
	n := numa.Node{ID: 0}
	bytes, err := r.memTotal("proc/meminfo", "MemTotal:")
	if err != nil {
		return err
	}
	pools, err := r.hugePages("sys/kernel/mm/hugepages")
	if err != nil {
		return err
	}
	if bytes > 0 {
		n.Memory = append(n.Memory, numa.Memory{Bytes: bytes})
	}
	n.Memory = append(n.Memory, pools...)
	r.m.Nodes = []numa.Node{n}
	r.nodeAt = map[int]int{0: 0}
	return nil
}

func (r *reader) node(id int) (numa.Node, numa.CPUSet, error) {
	dir := fmt.Sprintf("%s/node%d", nodeDir, id)
	n := numa.Node{ID: id}
	cpus, _, err := r.cpuSet(dir+"/cpumap", dir+"/cpulist")
	if err != nil {
		return n, cpus, err
	}
	bytes, err := r.memTotal(dir+"/meminfo", "MemTotal:")
	if err != nil {
		return n, cpus, err
	}
	if bytes > 0 {
		n.Memory = append(n.Memory, numa.Memory{Bytes: bytes})
	}
	pools, err := r.hugePages(dir + "/hugepages")
	if err != nil {
		return n, cpus, err
	}
	n.Memory = append(n.Memory, pools...)
	bandwidth, err := r.number(dir+"/access0/initiators/read_bandwidth", 0)
	n.Bandwidth = int64(bandwidth)
	return n, cpus, err
}

// memTotal finds "<field> <n> kB" in a meminfo file, in bytes.
func (r *reader) memTotal(name, field string) (int64, error) {
	s, ok := r.text(name)
	if !ok {
		return 0, nil
	}
	line := 0
	for text := range strings.SplitSeq(s, "\n") {
		line++
		words := strings.Fields(text)
		for i, w := range words {
			if w != field {
				continue
			}
			if i+1 < len(words) {
				if n, err := strconv.ParseInt(words[i+1], 10, 50); err == nil && n >= 0 {
					return n << 10, nil
				}
			}
			return 0, bad(name, line, "%q has no number of kB", text)
		}
	}
	return 0, nil
}

// hugePages reads the pools of a hugepages directory.
func (r *reader) hugePages(dir string) ([]numa.Memory, error) {
	var list []numa.Memory
	for _, kb := range r.poolSizes(dir) {
		name := fmt.Sprintf("%s/hugepages-%dkB/nr_hugepages", dir, kb)
		pages, err := r.number(name, 0)
		if err != nil {
			return nil, err
		}
		if pages < 0 || int64(pages) > (1<<53)/kb {
			return nil, bad(name, 1, "%d pages of %d kB", pages, kb)
		}
		if pages > 0 {
			list = append(list, numa.Memory{PageSize: kb << 10, Bytes: int64(pages) * kb << 10})
		}
	}
	return list, nil
}

func (r *reader) poolSizes(dir string) []int64 {
	var sizes []int64
	for _, e := range r.list(dir) {
		kb, ok := strings.CutPrefix(e, "hugepages-")
		kb, ok2 := strings.CutSuffix(kb, "kB")
		if n, err := strconv.ParseInt(kb, 10, 40); ok && ok2 && err == nil && n > 0 && strconv.FormatInt(n, 10) == kb {
			sizes = append(sizes, n)
		}
	}
	return sizes
}

// distances reads the rows of the SLIT for the kept nodes. A row has a value
// for each online node; one that is longer has one for each id, offline nodes
// included.
func (r *reader) distances(online, kept []int) error {
	rows := make([][]int, len(kept))
	known := false
	for i, id := range kept {
		name := fmt.Sprintf("%s/node%d/distance", nodeDir, id)
		s, ok := r.text(name)
		if !ok {
			continue
		}
		words := strings.Fields(s)
		rows[i] = make([]int, len(kept))
		for j, other := range kept {
			k := other
			if len(words) <= len(online) {
				k, _ = slices.BinarySearch(online, other)
			}
			if k >= len(words) {
				continue
			}
			d, err := strconv.ParseUint(words[k], 10, 16)
			if err != nil {
				return bad(name, 1, "distance %q is not a number", words[k])
			}
			rows[i][j] = int(d)
			known = true
		}
	}
	if known {
		r.m.Distances = rows
	}
	return nil
}
