package affinity

import (
	"encoding/binary"
	"slices"

	"github.com/berth-go/berth"
)

// encoder writes the canonical form of specs: two specs that no rule can tell apart have the same bytes, as far as the
// order of map entries, of namespaces and of requirements goes. Its buffers are reused, so that finding the class of a
// pod allocates nothing.
//
// Every decision on a pod that was not prepared encodes it, in a scheduler that did other things before with code that is in no cache. So the
// elements are functions of their own: inlined in the dozens of places that call them they are some ten kilobytes.
type encoder struct {
	buf  []byte
	keys []string
	mem  [256]byte // what buf begins with: few specs need more, and it lies beside what else a decision reads
}

func (e *encoder) reset() { e.buf = e.buf[:0] }

//go:noinline
func (e *encoder) int(v int64) { e.buf = binary.AppendVarint(e.buf, v) }

//go:noinline
func (e *encoder) bool(b bool) {
	v := byte(0)
	if b {
		v = 1
	}
	e.buf = append(e.buf, v)
}

//go:noinline
func (e *encoder) string(s string) {
	e.int(int64(len(s)))
	e.buf = append(e.buf, s...)
}

func (e *encoder) strings(ss []string) {
	e.int(int64(len(ss)))
	for _, s := range ss {
		e.string(s)
	}
}

// sortedKeys returns the keys of m in order, valid until the next call.
func sortedKeys[V any](e *encoder, m map[string]V) []string {
	e.keys = e.keys[:0]
	for k := range m {
		e.keys = append(e.keys, k)
	}
	slices.Sort(e.keys)
	return e.keys
}

func (e *encoder) labels(m map[string]string) {
	e.int(int64(len(m)))
	if len(m) < 2 { // as most are: nothing to sort
		for k, v := range m {
			e.string(k)
			e.string(v)
		}
		return
	}
	for _, k := range sortedKeys(e, m) {
		e.string(k)
		e.string(m[k])
	}
}

func (e *encoder) amounts(m map[string]int64) {
	e.int(int64(len(m)))
	for _, k := range sortedKeys(e, m) {
		e.string(k)
		e.int(m[k])
	}
}

func (e *encoder) requirements(rs []berth.Requirement) {
	e.int(int64(len(rs)))
	for i := range rs {
		e.string(rs[i].Key)
		e.string(string(rs[i].Operator))
		e.strings(rs[i].Values)
	}
}

func (e *encoder) selector(s *berth.LabelSelector) {
	e.bool(s != nil)
	if s != nil {
		e.labels(s.MatchLabels)
		e.requirements(s.MatchExpressions)
	}
}

func (e *encoder) nodeTerm(t *berth.NodeSelectorTerm) {
	e.requirements(t.MatchExpressions)
	e.requirements(t.MatchFields)
}

// nodeMatch is all that decides which nodes a pod's node selector and required node affinity accept.
func (e *encoder) nodeMatch(p *berth.Pod) {
	e.labels(p.NodeSelector)
	var required *berth.NodeSelector
	if p.Affinity != nil && p.Affinity.NodeAffinity != nil {
		required = p.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	}
	e.bool(required != nil)
	if required != nil {
		e.int(int64(len(required.NodeSelectorTerms)))
		for i := range required.NodeSelectorTerms {
			e.nodeTerm(&required.NodeSelectorTerms[i])
		}
	}
}

func (e *encoder) preferredNodes(p *berth.Pod) {
	if p.Affinity == nil || p.Affinity.NodeAffinity == nil {
		e.int(0)
		return
	}
	terms := p.Affinity.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution
	e.int(int64(len(terms)))
	for i := range terms {
		e.int(int64(terms[i].Weight))
		e.nodeTerm(&terms[i].Preference)
	}
}

func (e *encoder) tolerations(ts []berth.Toleration) {
	e.int(int64(len(ts)))
	for i := range ts {
		e.string(ts[i].Key)
		e.string(string(ts[i].Operator))
		e.string(ts[i].Value)
		e.string(string(ts[i].Effect))
	}
}

func (e *encoder) taints(ts []berth.Taint) {
	e.int(int64(len(ts)))
	for i := range ts {
		e.string(ts[i].Key)
		e.string(ts[i].Value)
		e.string(string(ts[i].Effect))
	}
}

func (e *encoder) podTerm(t *berth.PodAffinityTerm) {
	e.selector(t.LabelSelector)
	e.strings(t.Namespaces)
	e.selector(t.NamespaceSelector)
	e.string(t.TopologyKey)
}

func (e *encoder) podTerms(required []berth.PodAffinityTerm, preferred []berth.WeightedPodAffinityTerm) {
	e.int(int64(len(required)))
	for i := range required {
		e.podTerm(&required[i])
	}
	e.int(int64(len(preferred)))
	for i := range preferred {
		e.int(int64(preferred[i].Weight))
		e.podTerm(&preferred[i].PodAffinityTerm)
	}
}

func (e *encoder) constraint(c *berth.TopologySpreadConstraint) {
	e.int(int64(c.MaxSkew))
	e.string(c.TopologyKey)
	e.string(string(c.WhenUnsatisfiable))
	e.selector(c.LabelSelector)
	min := int32(1)
	if c.MinDomains != nil {
		min = *c.MinDomains
	}
	e.int(int64(min))
	e.string(string(c.NodeAffinityPolicy))
	e.string(string(c.NodeTaintsPolicy))
}

// parts are the parts that few specs have: what is not there is neither written nor looked at again.
type parts uint16

const (
	partTerminating parts = 1 << iota
	partPreempted
	partPreemptNever
	partScalars
	partGPU
	partPorts
	partImages
	partNodeMatch
	partPreferredNodes
	partTolerations
	partAffinity
	partAntiAffinity
	partSpread
	partDefaultSpread
)

func partsOf(p *berth.Pod) parts {
	var s parts
	note := func(part parts, has bool) {
		if has {
			s |= part
		}
	}
	note(partTerminating, p.Terminating)
	note(partPreempted, p.Preempted)
	note(partPreemptNever, p.PreemptNever)
	note(partScalars, len(p.Requests.Scalar) > 0)
	note(partGPU, p.GPU.Count != 0 || p.GPU.Milli != 0 || len(p.GPU.Models) > 0)
	note(partPorts, len(p.HostPorts) > 0)
	note(partImages, len(p.Images) > 0)
	note(partNodeMatch, len(p.NodeSelector) > 0)
	if a := p.Affinity; a != nil {
		if n := a.NodeAffinity; n != nil {
			note(partNodeMatch, n.RequiredDuringSchedulingIgnoredDuringExecution != nil)
			note(partPreferredNodes, len(n.PreferredDuringSchedulingIgnoredDuringExecution) > 0)
		}
		if t := a.PodAffinity; t != nil {
			note(partAffinity, len(t.RequiredDuringSchedulingIgnoredDuringExecution)+len(t.PreferredDuringSchedulingIgnoredDuringExecution) > 0)
		}
		if t := a.PodAntiAffinity; t != nil {
			note(partAntiAffinity, len(t.RequiredDuringSchedulingIgnoredDuringExecution)+len(t.PreferredDuringSchedulingIgnoredDuringExecution) > 0)
		}
	}
	note(partTolerations, len(p.Tolerations) > 0)
	note(partSpread, len(p.TopologySpreadConstraints) > 0)
	note(partDefaultSpread, p.DefaultSpreadSelector != nil)
	return s
}

// class is all of a pod that any rule looks at: name, UID, start and nomination are what tells the pods of a class apart.
func (e *encoder) class(p *berth.Pod) {
	e.reset()
	has := partsOf(p)
	e.int(int64(has))
	e.string(p.Namespace)
	e.labels(p.Labels)
	e.int(int64(p.Priority))
	e.int(p.Requests.MilliCPU)
	e.int(p.Requests.Memory)
	e.int(p.Requests.EphemeralStorage)
	nz := p.ScoreRequests()
	e.int(nz.MilliCPU)
	e.int(nz.Memory)
	if has&partScalars != 0 {
		e.amounts(p.Requests.Scalar)
	}
	if has&partGPU != 0 {
		e.int(int64(p.GPU.Count))
		e.int(p.GPU.Milli)
		e.strings(p.GPU.Models)
	}
	if has&partPorts != 0 {
		e.ports(p.HostPorts)
	}
	if has&partImages != 0 {
		e.strings(p.Images)
	}
	if has&partNodeMatch != 0 {
		e.nodeMatch(p)
	}
	if has&partPreferredNodes != 0 {
		e.preferredNodes(p)
	}
	if has&partTolerations != 0 {
		e.tolerations(p.Tolerations)
	}
	if has&partAffinity != 0 {
		a := p.Affinity.PodAffinity
		e.podTerms(a.RequiredDuringSchedulingIgnoredDuringExecution, a.PreferredDuringSchedulingIgnoredDuringExecution)
	}
	if has&partAntiAffinity != 0 {
		a := p.Affinity.PodAntiAffinity
		e.podTerms(a.RequiredDuringSchedulingIgnoredDuringExecution, a.PreferredDuringSchedulingIgnoredDuringExecution)
	}
	if has&partSpread != 0 {
		e.int(int64(len(p.TopologySpreadConstraints)))
		for i := range p.TopologySpreadConstraints {
			e.constraint(&p.TopologySpreadConstraints[i])
		}
	}
	if has&partDefaultSpread != 0 {
		e.selector(p.DefaultSpreadSelector)
	}
}

func (e *encoder) ports(ports []berth.HostPort) {
	e.int(int64(len(ports)))
	for i := range ports {
		e.string(ports[i].HostIP)
		e.string(string(ports[i].Protocol))
		e.int(int64(ports[i].Port))
	}
}
