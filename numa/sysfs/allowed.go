package sysfs

import (
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/berth-go/berth/numa"
)

// Allowed returns the CPUs and nodes that the cgroup of the reading process
// may use, of those that m has: a container's share of the machine. Where the
// tree names no cgroup that restricts them, all of them are allowed. Errors
// are those of [Read].
func Allowed(root fs.FS, m *numa.Machine) (numa.CPUSet, numa.Mask, error) {
	r := &reader{root: root}
	var cpus numa.CPUSet
	var nodes numa.Mask
	for _, c := range m.CPUs {
		cpus.Add(c.ID)
	}
	for _, n := range m.Nodes {
		nodes.Add(n.ID)
	}
	group := r.group()
	if group == "" {
		return cpus, nodes, nil
	}
	own, found, err := r.cpuSet(group+"/cpuset.cpus.effective", group+"/cpuset.cpus", group+"/cpus")
	if err != nil {
		return cpus, nodes, err
	}
	if found {
		cpus = cpus.And(own)
	}
	for _, name := range []string{"/cpuset.mems.effective", "/cpuset.mems", "/mems"} {
		s, ok := r.text(group + name)
		if !ok {
			continue
		}
		own, err := numa.ParseNodes(s)
		if err != nil {
			return cpus, nodes, fmt.Errorf("%s:1: %w", group+name, err)
		}
		return cpus, nodes.And(own), nil
	}
	return cpus, nodes, nil
}

// group is the directory of the process's cgroup in the cpuset hierarchy of
// version 1 or the unified one of version 2, relative to the root; "" if
// there is none.
func (r *reader) group() string {
	mounts, _ := r.text("proc/mounts")
	var v1, v2 string
	for line := range strings.SplitSeq(mounts, "\n") {
		f := strings.Fields(line)
		if len(f) < 4 {
			continue
		}
		switch {
		case f[2] == "cpuset", f[2] == "cgroup" && strings.Contains(","+f[3]+",", ",cpuset,"):
			v1 = f[1]
		case f[2] == "cgroup2":
			v2 = f[1]
		}
	}
	mount := v1
	if mount == "" {
		mount = v2
	}
	own, ok := r.text("proc/self/cpuset")
	if !ok {
		own, ok = r.unified()
	}
	if mount == "" || !ok {
		return ""
	}
	// A missing directory allows everything, as a mount that is not recorded.
	return strings.TrimPrefix(path.Join("/", mount, own), "/")
}

// unified finds the "0::/path" line of proc/self/cgroup.
func (r *reader) unified() (string, bool) {
	s, _ := r.text("proc/self/cgroup")
	for line := range strings.SplitSeq(s, "\n") {
		if p, ok := strings.CutPrefix(line, "0::"); ok {
			return p, true
		}
	}
	return "", false
}
