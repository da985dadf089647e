package berth

import "strconv"

func (v *validator) taints(taints []Taint) {
	spec := fieldPath{name: "spec"}
	p := spec.field("taints")
	if !v.within(&p, len(taints), MaxItems) {
		return
	}
	for i := range taints {
		e := p.at(i)
		key, value, effect := e.field("key"), e.field("value"), e.field("effect")
		v.labelKey(&key, taints[i].Key, soft)
		v.labelValue(&value, taints[i].Value, soft)
		v.effect(&effect, taints[i].Effect)
	}
	// PreferNoSchedule taints are counted one by one, so that even an exact repetition has an effect on the score.
	for _, i := range repetitions(taints, func(t *Taint) Taint { return Taint{Key: t.Key, Effect: t.Effect} }) {
		e := p.at(i)
		v.add(soft, &e, taints[i].Key, "key and effect are those of an earlier taint; both count")
	}
}

func (v *validator) effect(p *fieldPath, effect TaintEffect) {
	switch effect {
	case NoSchedule, PreferNoSchedule, NoExecute:
	default:
		v.add(hard, p, string(effect), "must be NoSchedule, PreferNoSchedule or NoExecute")
	}
}

func (v *validator) gpus(status *fieldPath, g *GPUs) {
	p := status.field("gpus")
	if g.Count < 0 || g.Count > maxGPUs {
		count := p.field("count")
		v.add(hard, &count, strconv.Itoa(g.Count), "must be in 0..64")
	}
}

func (v *validator) nodeImages(status *fieldPath, images []ContainerImage) {
	p := status.field("images")
	if !v.within(&p, len(images), MaxItems) {
		return
	}
	for i := range images {
		e := p.at(i)
		size, names := e.field("sizeBytes"), e.field("names")
		v.amount(&size, images[i].SizeBytes, "")
		v.imageNames(&names, images[i].Names)
		if len(images[i].Names) == 0 {
			v.add(soft, &names, "", "no pod can ask for an image without a name")
		}
	}
}

// imageNames serves nodes and pods. An image without a name matches nothing, which kube-scheduler accepts.
func (v *validator) imageNames(p *fieldPath, names []string) {
	if !v.within(p, len(names), MaxItems) {
		return
	}
	for i, name := range names {
		if name == "" {
			e := p.at(i)
			v.add(soft, &e, name, "an image without a name has no effect")
		}
	}
}

// repetitions returns the indices of the elements whose key an earlier element has. It allocates if there are some, or for
// the map that a long list needs to stay linear.
func repetitions[T any, K comparable](list []T, key func(*T) K) []int {
	const short = 32
	var indices []int
	if len(list) <= short {
		for i := range list {
			for j := range i {
				if key(&list[j]) == key(&list[i]) {
					indices = append(indices, i)
					break
				}
			}
		}
		return indices
	}
	seen := make(map[K]bool, len(list))
	for i := range list {
		k := key(&list[i])
		if seen[k] {
			indices = append(indices, i)
		}
		seen[k] = true
	}
	return indices
}
