package berth

import (
	"net/netip"
	"strconv"
)

// ValidatePod returns all the faults of a pod, at most 200 hard and 200 soft ones, in the order of its fields. It does not
// allocate if there are none (but for a map, if a list of ports, constraints or devices has more than 32 elements), and
// costs O(size of the spec).
//
// Hard is what kube-scheduler fails on, and what is a mistake on any cluster, which the API server refuses:
//   - an empty name, namespace or key; an amount that is negative or above [MaxAmount]; a map or list that is too long
//   - an unknown operator of a toleration, taint effect, protocol, whenUnsatisfiable or node inclusion policy
//   - a weight out of 1..100 (but 0), maxSkew or minDomains below 1, minDomains with ScheduleAnyway, an empty topologyKey, a
//     port out of 1..65535, GPU requests out of range
//   - a label selector, or a preferred node selector term, that does not parse: an unknown operator, values that do not
//     suit it, a key or value not in the syntax of labels
//
// Soft is what kube-scheduler accepts: it has a defined effect, or none, and may not be what was meant:
//   - labels, tolerations and topology keys that are not in Kubernetes' syntax, which only the API server looks at
//   - a required node selector term that does not parse (see [NodeSelectorTerm.Parses]) or has no requirements, and a node
//     selector without terms
//   - preferred terms of weight 0 or without requirements, tolerations that can never match, repeated ports and constraints
//   - matchLabelKeys that are not merged yet (see [Fold]) or that the pod does not carry
//
// Fields that Kubernetes does not have are spelled in its manner: "spec.gpu.milli", "spec.hostPorts[0].port".
func ValidatePod(pod *Pod) Faults {
	var v validator
	metadata, spec := fieldPath{name: "metadata"}, fieldPath{name: "spec"}
	v.name(&metadata, "namespace", pod.Namespace)
	v.name(&metadata, "name", pod.Name)
	v.labels(&metadata, "labels", pod.Labels, soft)
	v.requests(&spec, pod)
	v.gpuRequest(&spec, pod)
	v.hostPorts(&spec, pod.HostPorts)
	images := spec.field("images")
	v.imageNames(&images, pod.Images)
	v.labels(&spec, "nodeSelector", pod.NodeSelector, soft)
	v.affinity(&spec, pod)
	v.tolerations(&spec, pod.Tolerations)
	v.spread(&spec, pod)
	v.defaultSpreadSelector(&spec, pod.DefaultSpreadSelector)
	return v.report("pod", pod.Namespace, pod.Name)
}

func (v *validator) requests(spec *fieldPath, pod *Pod) {
	resources := spec.field("resources")
	v.resources(&resources, "requests", &pod.Requests)
	if pod.Requests.Pods != 0 {
		requests := resources.field("requests")
		p := requests.key(ResourcePods)
		v.add(soft, &p, strconv.FormatInt(pod.Requests.Pods, 10), "has no effect: every pod counts as one")
	}
	if pod.NonZeroRequests != nil {
		p := spec.field("nonZeroRequests")
		cpu, memory := p.field("milliCPU"), p.field("memory")
		v.amount(&cpu, pod.NonZeroRequests.MilliCPU, "m")
		v.amount(&memory, pod.NonZeroRequests.Memory, "")
	}
}

func (v *validator) gpuRequest(spec *fieldPath, pod *Pod) {
	g, p := &pod.GPU, spec.field("gpu")
	count, milli, models, devices := p.field("count"), p.field("milli"), p.field("models"), p.field("devices")
	if g.Count < 0 || g.Count > maxGPUs {
		v.add(hard, &count, strconv.Itoa(g.Count), "must be in 0..64")
	}
	switch {
	case g.Count <= 0 && g.Milli != 0:
		v.add(hard, &milli, strconv.FormatInt(g.Milli, 10), "must be 0 if count is 0")
	case g.Count == 1 && (g.Milli < 1 || g.Milli > GPUMilli):
		v.add(hard, &milli, strconv.FormatInt(g.Milli, 10), "must be in 1..1000")
	case g.Count > 1 && g.Milli != GPUMilli:
		v.add(hard, &milli, strconv.FormatInt(g.Milli, 10), "must be 1000 if count is more than 1")
	}
	v.names(&models, g.Models)
	v.devices(&devices, pod)
}

func (v *validator) devices(p *fieldPath, pod *Pod) {
	devices := pod.GPU.Devices
	if len(devices) == 0 || !v.within(p, len(devices), MaxItems) {
		return
	}
	if len(devices) != pod.GPU.Count {
		v.add(hard, p, strconv.Itoa(len(devices))+" entries", "must be as many as count, or none")
	}
	for i, device := range devices {
		if device < 0 || device >= maxGPUs {
			e := p.at(i)
			v.add(hard, &e, strconv.Itoa(device), "must be in 0..63")
		}
	}
	for _, i := range repetitions(devices, func(device *int) int { return *device }) {
		e := p.at(i)
		v.add(hard, &e, strconv.Itoa(devices[i]), "must not be listed twice")
	}
	if pod.NodeName == "" {
		v.add(soft, p, strconv.Itoa(len(devices))+" entries", "has no effect until the pod has a nodeName")
	}
}

func (v *validator) hostPorts(spec *fieldPath, ports []HostPort) {
	p := spec.field("hostPorts")
	if !v.within(&p, len(ports), MaxItems) {
		return
	}
	for i := range ports {
		e := p.at(i)
		if port := ports[i].Port; port < 1 || port > 65535 {
			p := e.field("port")
			v.add(hard, &p, strconv.Itoa(int(port)), "must be in 1..65535")
		}
		switch protocol := ports[i].Protocol; protocol {
		case "", TCP, UDP, SCTP:
		default:
			p := e.field("protocol")
			v.add(hard, &p, string(protocol), "must be TCP, UDP or SCTP")
		}
		if ip := ports[i].HostIP; ip != "" {
			if _, err := netip.ParseAddr(ip); err != nil {
				p := e.field("hostIP")
				v.add(soft, &p, ip, "is not an IP address; it is compared as text")
			}
		}
	}
	for _, i := range repetitions(ports, func(port *HostPort) HostPort { return *port }) {
		e := p.at(i)
		v.add(soft, &e, strconv.Itoa(int(ports[i].Port)), "is listed twice")
	}
}

func (v *validator) tolerations(spec *fieldPath, tolerations []Toleration) {
	p := spec.field("tolerations")
	if !v.within(&p, len(tolerations), MaxItems) {
		return
	}
	for i := range tolerations {
		e := p.at(i)
		v.toleration(&e, &tolerations[i])
	}
}

func (v *validator) toleration(p *fieldPath, t *Toleration) {
	key, operator, value, effect := p.field("key"), p.field("operator"), p.field("value"), p.field("effect")
	if t.Key != "" {
		v.labelKey(&key, t.Key, soft)
	}
	switch t.Operator {
	case "", TolerationEqual:
		v.labelValue(&value, t.Value, soft)
		if t.Key == "" {
			v.add(soft, &operator, string(t.Operator), "should be Exists if key is empty; it matches taints of every key that have the value")
		}
	case TolerationExists:
		if t.Value != "" {
			v.add(soft, &value, t.Value, "has no effect with operator Exists")
		}
	case "Lt", "Gt":
		// Known to Kubernetes, behind the alpha gate TaintTolerationComparisonOperators, which is off.
		v.add(soft, &operator, string(t.Operator), "never matches; use Equal or Exists")
	default:
		v.add(hard, &operator, string(t.Operator), "must be Equal or Exists")
	}
	if t.Effect != "" {
		v.effect(&effect, t.Effect)
	}
}

// defaultSpreadSelector differs from other selectors in that the labels of a service's selector are compared as they are,
// never parsed.
func (v *validator) defaultSpreadSelector(spec *fieldPath, s *LabelSelector) {
	if s == nil {
		return
	}
	p := spec.field("defaultSpreadSelector")
	v.labels(&p, "matchLabels", s.MatchLabels, soft)
	v.requirements(&p, "matchExpressions", s.MatchExpressions, ofLabels, hard)
}
