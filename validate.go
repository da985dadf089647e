package berth

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
)

// Limits of a spec. Kubernetes has none of its own but the size of a stored object, 1.5 MiB; these keep sums in range and
// the work for one spec bounded.
const (
	// MaxAmount is the most of one resource, and the size of the largest image, that a spec may name: 1 PiB, or 2^50 of
	// any other unit. The amounts of 8,191 pods, or nodes, can be added up in an int64 whatever they are.
	MaxAmount int64 = 1 << 50
	// MaxLabels is how many entries a map may have: labels, a node selector, matchLabels, scalar resources.
	MaxLabels = 1000
	// MaxItems is how many elements a list may have.
	MaxItems = 10_000
)

// maxGPUs is how many shareable GPUs a node may have: sets of them are words of 64 bits.
const maxGPUs = 64

// ValidateNode returns all the faults of a node.
//
// Hard are: an empty name or key; an amount that is negative or above [MaxAmount]; a scalar resource that has a field of
// its own; an unknown taint effect; a number of GPUs out of range; a map or list that is too long. Soft are: labels and
// taints that the Kubernetes API server would not store (kube-scheduler does not look at their syntax), and what has no
// effect.
func ValidateNode(n *Node) Faults {
	var v validator
	metadata, status := fieldPath{name: "metadata"}, fieldPath{name: "status"}
	v.name(&metadata, "name", n.Name)
	v.labels(&metadata, "labels", n.Labels, soft)
	v.taints(n.Taints)
	v.resources(&status, "allocatable", &n.Allocatable)
	v.gpus(&status, &n.GPUs)
	v.nodeImages(&status, n.Images)
	return v.report("node", "", n.Name)
}

// ValidateNamespace returns all the faults of a namespace: hard for an empty name or label key and for more than
// [MaxLabels] labels, soft for labels that the Kubernetes API server would not store.
func ValidateNamespace(n *Namespace) Faults {
	var v validator
	metadata := fieldPath{name: "metadata"}
	v.name(&metadata, "name", n.Name)
	v.labels(&metadata, "labels", n.Labels, soft)
	return v.report("namespace", "", n.Name)
}

// ValidateBudget returns all the faults of a disruption budget. Hard are: an empty name or namespace; a negative number of
// allowed disruptions; a selector with an unknown operator or with values that do not suit it. Soft is a selector that
// selects no pod.
func ValidateBudget(b *PodDisruptionBudget) Faults {
	var v validator
	metadata, spec, status := fieldPath{name: "metadata"}, fieldPath{name: "spec"}, fieldPath{name: "status"}
	v.name(&metadata, "namespace", b.Namespace)
	v.name(&metadata, "name", b.Name)
	if s := b.Selector; s == nil || len(s.MatchLabels)+len(s.MatchExpressions) == 0 {
		p := spec.field("selector")
		v.add(soft, &p, "", "nothing is selected without requirements")
	}
	v.selector(&spec, "selector", b.Selector, hard)
	if b.DisruptionsAllowed < 0 {
		p := status.field("disruptionsAllowed")
		v.add(hard, &p, strconv.Itoa(int(b.DisruptionsAllowed)), "must not be negative")
	}
	disrupted := status.field("disruptedPods")
	v.names(&disrupted, b.DisruptedPods)
	return v.report("budget", b.Namespace, b.Name)
}

// severity tells what is refused from what is accepted and reported.
type severity int

const (
	hard severity = iota
	soft
)

// maxFaults is how many hard faults, and how many soft ones, are listed; the last of them says how many more there are.
const maxFaults = 200

// validator gathers the faults of one spec.
type validator struct {
	faults Faults
	// By severity: how many are listed, the last of them, and how many were left out after it.
	listed  [2]int
	last    [2]*Fault
	omitted [2]int
}

func (v *validator) add(s severity, p *fieldPath, value, detail string) {
	if v.listed[s] == maxFaults {
		v.omitted[s]++
		return
	}
	v.listed[s]++
	v.last[s] = &Fault{Path: p.String(), Value: cut(value), Detail: detail, Soft: s == soft}
	v.faults = append(v.faults, v.last[s])
}

// report ends the validation. Only here, and only if there are faults, is the object's name put together.
func (v *validator) report(kind, namespace, name string) Faults {
	if v.faults == nil {
		return nil
	}
	if namespace != "" {
		name = PodKey{namespace, name}.String()
	}
	object := kind + " " + strconv.Quote(cut(name))
	for _, f := range v.faults {
		f.Object = object
	}
	for s, n := range v.omitted {
		if n > 0 {
			v.last[s].Detail += fmt.Sprintf(" (and %d more faults)", n)
		}
	}
	return v.faults
}

// within reports whether a map or list is short enough to be looked at.
func (v *validator) within(p *fieldPath, n, most int) bool {
	if n <= most {
		return true
	}
	v.add(hard, p, strconv.Itoa(n)+" entries", "must have at most "+strconv.Itoa(most))
	return false
}

func (v *validator) name(parent *fieldPath, field, name string) {
	if name == "" {
		p := parent.field(field)
		v.add(hard, &p, name, "must not be empty")
	}
}

// names checks a list whose elements must not be empty.
func (v *validator) names(p *fieldPath, names []string) {
	if !v.within(p, len(names), MaxItems) {
		return
	}
	for i, name := range names {
		if name == "" {
			e := p.at(i)
			v.add(hard, &e, name, "must not be empty")
		}
	}
}

// labels checks a map of labels. An empty key is hard in any case; the severity is that of the syntax.
func (v *validator) labels(parent *fieldPath, field string, labels map[string]string, syntax severity) {
	p := parent.field(field)
	if !v.within(&p, len(labels), MaxLabels) || wellFormed(labels) {
		return
	}
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		e := p.key(key)
		v.labelKey(&e, key, syntax)
		v.labelValue(&e, labels[key], syntax)
	}
}

// wellFormed spares good labels the sorting that a report in a fixed order needs.
func wellFormed(labels map[string]string) bool {
	for key, value := range labels {
		if labelKeyFault(key) != "" || labelValueFault(value) != "" {
			return false
		}
	}
	return true
}

func (v *validator) labelKey(p *fieldPath, key string, syntax severity) {
	if fault := labelKeyFault(key); fault != "" {
		if key == "" {
			syntax = hard
		}
		v.add(syntax, p, key, fault)
	}
}

func (v *validator) labelValue(p *fieldPath, value string, syntax severity) {
	if fault := labelValueFault(value); fault != "" {
		v.add(syntax, p, value, fault)
	}
}

func (v *validator) resources(parent *fieldPath, field string, r *Resources) {
	p := parent.field(field)
	for _, fixed := range [...]struct {
		name   string
		amount int64
		unit   string
	}{
		{ResourceCPU, r.MilliCPU, "m"},
		{ResourceMemory, r.Memory, ""},
		{ResourceEphemeralStorage, r.EphemeralStorage, ""},
		{ResourcePods, r.Pods, ""},
	} {
		e := p.key(fixed.name)
		v.amount(&e, fixed.amount, fixed.unit)
	}
	if !v.within(&p, len(r.Scalar), MaxLabels) || goodScalars(r.Scalar) {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(r.Scalar)) {
		e := p.key(name)
		v.amount(&e, r.Scalar[name], "")
		if fault := scalarNameFault(name); fault != "" {
			v.add(hard, &e, name, fault)
		}
	}
}

func goodScalars(scalars map[string]int64) bool {
	for name, amount := range scalars {
		if amount < 0 || amount > MaxAmount || scalarNameFault(name) != "" {
			return false
		}
	}
	return true
}

func scalarNameFault(name string) string {
	switch name {
	case "":
		return "the resource must have a name"
	case ResourceCPU, ResourceMemory, ResourceEphemeralStorage, ResourcePods:
		return "the resource has a field of its own, and would be ignored here"
	}
	return ""
}

func (v *validator) amount(p *fieldPath, amount int64, unit string) {
	if amount < 0 {
		v.add(hard, p, strconv.FormatInt(amount, 10)+unit, "must not be negative")
	} else if amount > MaxAmount {
		v.add(hard, p, strconv.FormatInt(amount, 10)+unit, "must be at most 2^50, so that sums cannot overflow")
	}
}
