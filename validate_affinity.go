package berth

import "strconv"

const (
	required  = "requiredDuringSchedulingIgnoredDuringExecution"
	preferred = "preferredDuringSchedulingIgnoredDuringExecution"
)

func (v *validator) affinity(spec *fieldPath, pod *Pod) {
	a := pod.Affinity
	if a == nil {
		return
	}
	p := spec.field("affinity")
	v.nodeAffinity(&p, a.NodeAffinity)
	v.podAffinity(&p, "podAffinity", a.PodAffinity, pod.Labels)
	v.podAffinity(&p, "podAntiAffinity", (*PodAffinity)(a.PodAntiAffinity), pod.Labels)
}

func (v *validator) nodeAffinity(parent *fieldPath, a *NodeAffinity) {
	if a == nil {
		return
	}
	p := parent.field("nodeAffinity")
	if selector := a.RequiredDuringSchedulingIgnoredDuringExecution; selector != nil {
		p := p.field(required)
		v.nodeSelector(&p, selector)
	}
	terms := a.PreferredDuringSchedulingIgnoredDuringExecution
	list := p.field(preferred)
	if !v.within(&list, len(terms), MaxItems) {
		return
	}
	for i := range terms {
		e := list.at(i)
		preference := e.field("preference")
		// What is dropped is not parsed either.
		if !v.weight(&e, terms[i].Weight) {
			continue
		}
		if terms[i].Preference.empty() {
			v.add(soft, &preference, "", "is dropped: it has no requirements")
		}
		v.nodeSelectorTerm(&preference, &terms[i].Preference, hard)
	}
}

func (v *validator) nodeSelector(p *fieldPath, s *NodeSelector) {
	terms := p.field("nodeSelectorTerms")
	if !v.within(&terms, len(s.NodeSelectorTerms), MaxItems) {
		return
	}
	if len(s.NodeSelectorTerms) == 0 {
		v.add(soft, &terms, "", "no node matches without terms")
	}
	for i := range s.NodeSelectorTerms {
		t, e := &s.NodeSelectorTerms[i], terms.at(i)
		if t.empty() {
			v.add(soft, &e, "", "no node matches a term without requirements")
		}
		v.nodeSelectorTerm(&e, t, soft)
	}
}

// weight reports whether the term counts at all.
func (v *validator) weight(parent *fieldPath, weight int32) bool {
	if weight >= 1 && weight <= 100 {
		return true
	}
	p := parent.field("weight")
	if weight == 0 {
		v.add(soft, &p, "0", "has no effect; should be in 1..100")
		return false
	}
	v.add(hard, &p, strconv.Itoa(int(weight)), "must be in 1..100")
	return true
}

// podAffinity serves anti-affinity too: its terms are of the same form.
func (v *validator) podAffinity(parent *fieldPath, field string, a *PodAffinity, labels map[string]string) {
	if a == nil {
		return
	}
	p := parent.field(field)
	list, terms := p.field(required), a.RequiredDuringSchedulingIgnoredDuringExecution
	if v.within(&list, len(terms), MaxItems) {
		for i := range terms {
			e := list.at(i)
			v.podAffinityTerm(&e, &terms[i], labels)
		}
	}
	list, weighted := p.field(preferred), a.PreferredDuringSchedulingIgnoredDuringExecution
	if v.within(&list, len(weighted), MaxItems) {
		for i := range weighted {
			e := list.at(i)
			term := e.field("podAffinityTerm")
			v.weight(&e, weighted[i].Weight)
			v.podAffinityTerm(&term, &weighted[i].PodAffinityTerm, labels)
		}
	}
}

func (v *validator) podAffinityTerm(p *fieldPath, t *PodAffinityTerm, labels map[string]string) {
	namespaces := p.field("namespaces")
	v.selector(p, "labelSelector", t.LabelSelector, hard)
	v.names(&namespaces, t.Namespaces)
	v.selector(p, "namespaceSelector", t.NamespaceSelector, hard)
	v.topologyKey(p, t.TopologyKey)
	v.labelKeys(p, "matchLabelKeys", t.MatchLabelKeys, t.LabelSelector, In, labels)
	v.labelKeys(p, "mismatchLabelKeys", t.MismatchLabelKeys, t.LabelSelector, NotIn, labels)
}

func (v *validator) topologyKey(parent *fieldPath, key string) {
	p := parent.field("topologyKey")
	v.labelKey(&p, key, soft)
}

// labelKeys checks the keys of the pod's own labels that a selector is to be narrowed by.
func (v *validator) labelKeys(
	parent *fieldPath, field string, keys []string, selector *LabelSelector, op Operator, labels map[string]string,
) {
	p := parent.field(field)
	if len(keys) == 0 || !v.within(&p, len(keys), MaxLabels) {
		return
	}
	if selector == nil {
		v.add(soft, &p, cutList(keys), "has no effect without a labelSelector")
	}
	for i, key := range keys {
		e := p.at(i)
		v.labelKey(&e, key, soft)
		if value, found := labels[key]; key == "" {
			continue
		} else if !found {
			v.add(soft, &e, key, "has no effect: the pod has no such label")
		} else if selector != nil && !selector.requires(key, op, value) {
			v.add(soft, &e, key, "has no effect until it is merged into labelSelector; see Fold")
		}
	}
}

func (v *validator) spread(spec *fieldPath, pod *Pod) {
	p, constraints := spec.field("topologySpreadConstraints"), pod.TopologySpreadConstraints
	if !v.within(&p, len(constraints), MaxItems) {
		return
	}
	for i := range constraints {
		e := p.at(i)
		v.spreadConstraint(&e, &constraints[i], pod.Labels)
	}
	type identity struct {
		key    string
		action UnsatisfiableConstraintAction
	}
	for _, i := range repetitions(constraints, func(c *TopologySpreadConstraint) identity {
		return identity{c.TopologyKey, c.WhenUnsatisfiable}
	}) {
		e := p.at(i)
		v.add(soft, &e, constraints[i].TopologyKey, "topologyKey and whenUnsatisfiable are those of an earlier constraint; both count")
	}
}

func (v *validator) spreadConstraint(p *fieldPath, c *TopologySpreadConstraint, labels map[string]string) {
	maxSkew, minDomains, action := p.field("maxSkew"), p.field("minDomains"), p.field("whenUnsatisfiable")
	if c.MaxSkew < 1 {
		v.add(hard, &maxSkew, strconv.Itoa(int(c.MaxSkew)), "must be at least 1")
	}
	v.topologyKey(p, c.TopologyKey)
	if c.WhenUnsatisfiable != DoNotSchedule && c.WhenUnsatisfiable != ScheduleAnyway {
		v.add(hard, &action, string(c.WhenUnsatisfiable), "must be DoNotSchedule or ScheduleAnyway")
	}
	v.selector(p, "labelSelector", c.LabelSelector, hard)
	if c.MinDomains != nil && *c.MinDomains < 1 {
		v.add(hard, &minDomains, strconv.Itoa(int(*c.MinDomains)), "must be at least 1")
	}
	if c.MinDomains != nil && c.WhenUnsatisfiable == ScheduleAnyway {
		v.add(hard, &minDomains, strconv.Itoa(int(*c.MinDomains)), "must not be set with ScheduleAnyway")
	}
	v.inclusionPolicy(p, "nodeAffinityPolicy", c.NodeAffinityPolicy)
	v.inclusionPolicy(p, "nodeTaintsPolicy", c.NodeTaintsPolicy)
	v.labelKeys(p, "matchLabelKeys", c.MatchLabelKeys, c.LabelSelector, In, labels)
}

func (v *validator) inclusionPolicy(parent *fieldPath, field string, policy NodeInclusionPolicy) {
	switch policy {
	case "", Honor, Ignore:
	default:
		p := parent.field(field)
		v.add(hard, &p, string(policy), "must be Honor or Ignore")
	}
}
