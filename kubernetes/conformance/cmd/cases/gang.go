package main

import (
	"cmp"
	"fmt"
	"slices"

	v1 "k8s.io/api/core/v1"

	"github.com/berth-go/berth/kubernetes/conformance/casefile"
	"github.com/berth-go/berth/kubernetes/conformance/fast"
)

// gangCase checks a case of kind gang: the groups are tried one after the other, by the priority of their pods and then in the order in
// which their first pods arrive; pods of no group are groups of one.
func gangCase(c *casefile.Case) (failures []string) {
	cluster, err := c.Cluster()
	if err != nil {
		return []string{err.Error()}
	}
	gangs, err := gangsOf(c)
	if err != nil {
		return []string{err.Error()}
	}
	scheduler, err := fast.New(cluster)
	if err != nil {
		return []string{err.Error()}
	}
	placed := map[string]bool{}
	for _, g := range gangs {
		ok, err := scheduler.PlaceGroup(g.pods, g.min)
		if err != nil {
			return []string{fmt.Sprintf("group %s: %v", g.name, err)}
		}
		placed[g.name] = ok
	}
	for i, e := range c.Expect {
		for _, g := range c.Groups {
			want, asked := e.Groups[g.Name]
			if asked && placed[g.Name] != want {
				failures = append(failures, fmt.Sprintf("expect[%d] group %s: placed: expected %v, got %v", i, g.Name, want, placed[g.Name]))
			}
		}
	}
	return failures
}

type gang struct {
	name string
	min  int
	pods []*v1.Pod
}

func gangsOf(c *casefile.Case) ([]*gang, error) {
	var gangs []*gang
	byName := map[string]*gang{}
	for _, g := range c.Groups {
		byName[g.Name] = &gang{name: g.Name, min: g.MinCount}
	}
	for i := range c.Incoming {
		pods, err := c.Incoming[i].Expand()
		if err != nil {
			return nil, err
		}
		name := c.Incoming[i].Group
		g := byName[name]
		switch {
		case name == "":
			for _, p := range pods {
				gangs = append(gangs, &gang{name: "pod " + p.Name, min: 1, pods: []*v1.Pod{p}})
			}
			continue
		case g == nil:
			return nil, fmt.Errorf("pod %s is of group %q, which is not there", c.Incoming[i].Name, name)
		case len(g.pods) == 0:
			gangs = append(gangs, g)
		}
		g.pods = append(g.pods, pods...)
	}
	slices.SortStableFunc(gangs, func(a, b *gang) int { return cmp.Compare(priority(b), priority(a)) })
	return gangs, nil
}

// priority is the highest of a group.
func priority(g *gang) int32 {
	var highest int32
	for i, p := range g.pods {
		if v := p.Spec.Priority; v != nil && (i == 0 || *v > highest) {
			highest = *v
		}
	}
	return highest
}
