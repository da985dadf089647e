package affinity

import "github.com/berth-go/berth"

// PlaceRun places pods that are alike: each has the spec of pod and one of the names. It decides and binds one after the
// other, so that each sees those before it, and stops at the first that fits nowhere: the choices are those of as many
// calls of Best and Bind, for any rules. The spec is looked at once.
//
// The errors are a *berth.Fault, ErrPodExists or ErrDevices; the choices are those of the pods that were placed before.
// Cost: as Best and Bind for each pod, less the O(spec).
func (p *Profile) PlaceRun(pod *berth.Pod, names []string) ([]Choice, error) {
	choices := make([]Choice, 0, len(names))
	if len(names) == 0 {
		return nil, nil
	}
	next := *pod
	next.Name = names[0]
	cl, err := p.g.validClass(&next)
	if err != nil {
		return nil, err
	}
	p.g.use(cl) // so that it stays while the graph changes
	defer p.g.unuse(cl)
	for _, name := range names {
		if next.Name = name; name == "" {
			return choices, berth.ValidatePod(&next).Err()
		}
		var c Choice
		if !p.choose(&c, cl, &next, next.NodeName) {
			break
		}
		w := p.g.prepared(&next, cl)
		if err := p.g.bind(&w, c.Node); err != nil {
			return choices, err
		}
		choices = append(choices, c)
	}
	return choices, nil
}
