package affinity

import (
	"encoding/binary"
	"slices"

	"github.com/berth-go/berth"
)

// encoder writes the canonical form of specs: two specs that no rule can tell apart have the same bytes, as far as the
// order of map entries, of namespaces and of requirements goes. Its buffers are reused, so that finding the class of a
// pod allocates nothing.
type encoder struct {
	buf  []byte
	keys []string
}

func (e *encoder) reset() { e.buf = e.buf[:0] }

func (e *encoder) int(v int64) { e.buf = binary.AppendVarint(e.buf, v) }

func (e *encoder) bool(b bool) {
	if b {
		e.buf = append(e.buf, 1)
	} else {
		e.buf = append(e.buf, 0)
	}
}

func (e *encoder) string(s string) {
	e.buf = binary.AppendUvarint(e.buf, uint64(len(s)))
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

// class is all of a pod that any rule looks at: name, UID, start and nomination are what tells the pods of a class apart.
func (e *encoder) class(p *berth.Pod) {
	e.reset()
	e.string(p.Namespace)
	e.labels(p.Labels)
	e.bool(p.Terminating)
	e.bool(p.Preempted)
	e.int(int64(p.Priority))
	e.bool(p.PreemptNever)
	e.resources(p)
	e.int(int64(p.GPU.Count))
	e.int(p.GPU.Milli)
	e.strings(p.GPU.Models)
	e.int(int64(len(p.HostPorts)))
	for i := range p.HostPorts {
		e.string(p.HostPorts[i].HostIP)
		e.string(string(p.HostPorts[i].Protocol))
		e.int(int64(p.HostPorts[i].Port))
	}
	e.strings(p.Images)
	e.nodeMatch(p)
	e.preferredNodes(p)
	e.tolerations(p.Tolerations)
	if a := p.Affinity; a != nil && a.PodAffinity != nil {
		e.podTerms(a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution, a.PodAffinity.PreferredDuringSchedulingIgnoredDuringExecution)
	} else {
		e.podTerms(nil, nil)
	}
	if a := p.Affinity; a != nil && a.PodAntiAffinity != nil {
		e.podTerms(a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution, a.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution)
	} else {
		e.podTerms(nil, nil)
	}
	e.int(int64(len(p.TopologySpreadConstraints)))
	for i := range p.TopologySpreadConstraints {
		e.constraint(&p.TopologySpreadConstraints[i])
	}
	e.selector(p.DefaultSpreadSelector)
}

func (e *encoder) resources(p *berth.Pod) {
	e.int(p.Requests.MilliCPU)
	e.int(p.Requests.Memory)
	e.int(p.Requests.EphemeralStorage)
	e.amounts(p.Requests.Scalar)
	nz := p.ScoreRequests()
	e.int(nz.MilliCPU)
	e.int(nz.Memory)
}
