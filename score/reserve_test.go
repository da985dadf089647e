package score_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/berth-go/berth/affinity"
	"github.com/berth-go/berth/score"
	"github.com/berth-go/berth/topology"
)

// reserver writes down what it is asked, and fails if it is told to.
type reserver struct {
	name  string
	fails error
	panic bool
	log   *[]string
}

func (r *reserver) Name() string { return r.name }

func (r *reserver) Reserve(in *score.Input, n topology.NodeID) error {
	if r.panic {
		panic("lost")
	}
	if r.fails == nil {
		*r.log = append(*r.log, "reserve "+r.name+" "+in.Pod.Name+" "+in.Graph.Topology().Name(n))
	}
	return r.fails
}

func (r *reserver) Unreserve(in *score.Input, n topology.NodeID) {
	*r.log = append(*r.log, "unreserve "+r.name+" "+in.Pod.Name+" "+in.Graph.Topology().Name(n))
	if r.panic {
		panic("lost")
	}
}

func TestReserversAreAllOrNothing(t *testing.T) {
	for _, c := range []struct {
		name string
		bad  func(x, y, z *reserver, g *affinity.Graph)
		is   error
		log  []string
	}{
		{"all", func(x, y, z *reserver, g *affinity.Graph) {}, nil, []string{"reserve x p a", "reserve y p a", "reserve z p a"}},
		{"one refuses", func(x, y, z *reserver, g *affinity.Graph) { z.fails = errBroken }, errBroken,
			[]string{"reserve x p a", "reserve y p a", "unreserve y p a", "unreserve x p a"}},
		{"one panics", func(x, y, z *reserver, g *affinity.Graph) { z.panic = true }, score.ErrPlugin,
			[]string{"reserve x p a", "reserve y p a", "unreserve y p a", "unreserve x p a"}},
		{"binding fails", func(x, y, z *reserver, g *affinity.Graph) { require.NoError(t, g.Bind(plainPod("p"), "c")) }, affinity.ErrPodExists,
			[]string{"reserve x p a", "reserve y p a", "reserve z p a", "unreserve z p a", "unreserve y p a", "unreserve x p a"}},
	} {
		for kind, scorers := range map[string][]score.Weighted{"built-in scores": nil, "scorers": {{Scorer: constant{}}}} {
			t.Run(c.name+", "+kind, func(t *testing.T) {
				var log []string
				x, y, z := &reserver{name: "x", log: &log}, &reserver{name: "y", log: &log}, &reserver{name: "z", log: &log}
				g := three(t)
				p, err := score.New(g, score.Config{Scorers: scorers, Reservers: []score.Reserver{x, y, z}})
				require.NoError(t, err)
				c.bad(x, y, z, g)
				before := g.Pods()
				_, err = p.Place(plainPod("p"))
				if c.is == nil {
					require.NoError(t, err)
					assert.Equal(t, before+1, g.Pods())
				} else {
					require.ErrorIs(t, err, c.is)
					assert.Equal(t, before, g.Pods())
				}
				assert.Equal(t, c.log, log)
			})
		}
	}
}

func TestUnplace(t *testing.T) {
	var log []string
	x, y := &reserver{name: "x", log: &log}, &reserver{name: "y", log: &log}
	g := three(t)
	p, err := score.New(g, score.Config{Reservers: []score.Reserver{x, y}})
	require.NoError(t, err)
	pod := plainPod("p")
	d, err := p.Place(pod)
	require.NoError(t, err)

	require.ErrorIs(t, p.Unplace(plainPod("q"), d), affinity.ErrUnknownPod)
	require.ErrorIs(t, p.Unplace(pod, score.Decision{Node: "b"}), score.ErrConfig)
	assert.Equal(t, 1, g.Pods())
	log = nil
	y.panic = true
	require.ErrorIs(t, p.Unplace(pod, d), score.ErrPlugin)
	assert.Equal(t, []string{"unreserve y p a", "unreserve x p a"}, log, "the others are asked all the same")
	assert.Zero(t, g.Pods())
}

// remembering is a scorer and reserver that finds in Reserve what it put away in Score, and the context.
type remembering struct {
	constant
	slot score.Slot[string]
}

type contextKey struct{}

func (r *remembering) Prepare(in *score.Input, _ []topology.NodeID) error {
	r.slot.Put(in, in.Pod.Name)
	return nil
}

func (r *remembering) Reserve(in *score.Input, _ topology.NodeID) error {
	if v, ok := r.slot.Get(in); !ok || v != in.Pod.Name {
		return errors.New("the slot is empty")
	}
	if in.Context().Value(contextKey{}) != "v" {
		return errors.New("the context is another")
	}
	return nil
}

func (r *remembering) Unreserve(*score.Input, topology.NodeID) {}

func TestReserversSeeTheDecisionsSlotsAndContext(t *testing.T) {
	r := &remembering{}
	cfg := score.Only(r)
	cfg.Reservers = []score.Reserver{r}
	p, err := score.New(three(t), cfg)
	require.NoError(t, err)
	for _, name := range []string{"p", "q"} {
		_, err = p.PlaceContext(context.WithValue(t.Context(), contextKey{}, "v"), plainPod(name))
		require.NoError(t, err)
	}
}
