package affinity

import (
	"slices"

	"github.com/berth-go/berth"
)

// taintSet is a list of taints, shared by all nodes that carry the same.
type taintSet struct {
	key    string
	refs   int
	taints []berth.Taint
}

func (g *Graph) acquireTaints(ts []berth.Taint) int32 {
	g.enc.reset()
	g.enc.taints(ts)
	id, ok := g.taintByKey[string(g.enc.buf)]
	if !ok {
		set := taintSet{key: string(g.enc.buf), taints: slices.Clone(ts)}
		if f := len(g.freeTaints); f > 0 {
			id, g.freeTaints = g.freeTaints[f-1], g.freeTaints[:f-1]
			g.taintSets[id] = set
		} else {
			id = int32(len(g.taintSets))
			g.taintSets = append(g.taintSets, set)
		}
		g.taintByKey[set.key] = id
	}
	g.taintSets[id].refs++
	return id
}

func (g *Graph) releaseTaints(id int32) {
	set := &g.taintSets[id]
	if set.refs--; set.refs > 0 {
		return
	}
	delete(g.taintByKey, set.key)
	*set = taintSet{}
	g.freeTaints = append(g.freeTaints, id)
	for _, t := range g.tolerators {
		t.forget(id)
	}
}

// tolerator is a list of tolerations, shared by all classes that have the same, and its answer for each taint set.
// Source: component-helpers/scheduling/corev1/helpers.go, plugins/tainttoleration.
type tolerator struct {
	key         string
	refs        int
	tolerations []berth.Toleration
	// unschedulable is whether cordoned nodes are tolerated.
	unschedulable bool
	answers       []tolerance // by taint set
}

type tolerance struct {
	known bool
	// refused: a NoSchedule or NoExecute taint is not tolerated.
	refused bool
	// prefer is the number of PreferNoSchedule taints that are not tolerated.
	prefer int32
}

func (g *Graph) acquireTolerator(ts []berth.Toleration) *tolerator {
	g.enc.reset()
	g.enc.tolerations(ts)
	t, ok := g.tolerators[string(g.enc.buf)]
	if !ok {
		t = &tolerator{key: string(g.enc.buf), tolerations: slices.Clone(ts)}
		t.unschedulable = t.tolerates(&berth.Taint{Key: berth.TaintNodeUnschedulable, Effect: berth.NoSchedule})
		g.tolerators[t.key] = t
	}
	t.refs++
	return t
}

func (g *Graph) releaseTolerator(t *tolerator) {
	if t == nil {
		return
	}
	if t.refs--; t.refs == 0 {
		delete(g.tolerators, t.key)
	}
}

func (t *tolerator) forget(id int32) {
	if int(id) < len(t.answers) {
		t.answers[id] = tolerance{}
	}
}

// of returns the answer for taint set id of g. O(1) once known.
func (t *tolerator) of(g *Graph, id int32) tolerance {
	if int(id) >= len(t.answers) {
		t.answers = append(t.answers, make([]tolerance, len(g.taintSets)-len(t.answers))...)
	}
	a := &t.answers[id]
	if !a.known {
		a.known = true
		for i := range g.taintSets[id].taints {
			taint := &g.taintSets[id].taints[i]
			if t.tolerates(taint) {
				continue
			}
			if taint.Effect == berth.PreferNoSchedule {
				a.prefer++
			} else {
				a.refused = true
			}
		}
	}
	return *a
}

func (t *tolerator) tolerates(taint *berth.Taint) bool {
	return slices.ContainsFunc(t.tolerations, func(o berth.Toleration) bool {
		if o.Effect != "" && o.Effect != taint.Effect || o.Key != "" && o.Key != taint.Key {
			return false
		}
		switch o.Operator {
		case "", berth.TolerationEqual:
			return o.Value == taint.Value
		case berth.TolerationExists:
			return true
		}
		return false
	})
}
