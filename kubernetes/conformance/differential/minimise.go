package differential

import (
	"encoding/json"
	"maps"
	"slices"
	"time"
)

// Minimise returns a script that still shows what the given one shows, and of which no list element, field or entry can be
// left out; or the best that was found by the deadline. The given script must show it. It works on the script's JSON, so
// that it knows of no kind of object.
func Minimise(s *Script, shows func(*Script) bool, deadline time.Time) *Script {
	tree, err := s.tree()
	if err != nil {
		return s
	}
	m := &minimiser{tree: tree, best: s, shows: shows, deadline: deadline}
	for again := true; again && !m.late(); {
		// Fewer steps make every further try cheaper, so they come first.
		again = m.shrink(m.tree["steps"], func(v any) { m.tree["steps"] = v })
		again = m.shrink(m.tree, nil) || again
	}
	return m.best
}

// tree returns the script as maps, lists and values, without what JSON adds to it.
func (s *Script) tree() (map[string]any, error) {
	data, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	var tree map[string]any
	if err := json.Unmarshal(data, &tree); err != nil {
		return nil, err
	}
	denoise(tree)
	return tree, nil
}

// denoise drops fields that are written although they say nothing.
func denoise(node any) {
	switch node := node.(type) {
	case []any:
		for _, v := range node {
			denoise(v)
		}
	case map[string]any:
		for _, key := range []string{"nodeInfo", "daemonEndpoints", "creationTimestamp"} {
			delete(node, key)
		}
		for key, v := range node {
			denoise(v)
			empty, isMap := v.(map[string]any)
			if isMap && len(empty) == 0 && (key == "spec" || key == "status" || key == "resources" || key == "metadata") {
				delete(node, key)
			}
		}
	}
}

type minimiser struct {
	tree     map[string]any // what best says
	best     *Script
	shows    func(*Script) bool
	deadline time.Time
}

func (m *minimiser) late() bool { return time.Now().After(m.deadline) }

// stillShows says whether the tree as it is now is a script that shows the difference, and takes it as the best if so.
func (m *minimiser) stillShows() bool {
	data, err := json.Marshal(m.tree)
	if err != nil {
		return false
	}
	var s Script
	if json.Unmarshal(data, &s) != nil || !s.valid() || !m.shows(&s) {
		return false
	}
	m.best = &s
	return true
}

// shrink leaves out what it can of a node of the tree; set puts another node in its place. It says whether it changed any.
func (m *minimiser) shrink(node any, set func(any)) bool {
	switch node := node.(type) {
	case []any:
		return m.shrinkList(node, set)
	case map[string]any:
		return m.shrinkMap(node)
	}
	return false
}

// shrinkList leaves out runs of elements, first long ones and then shorter ones, and then shrinks those that are left.
func (m *minimiser) shrinkList(list []any, set func(any)) bool {
	changed := false
	for run := len(list); run > 0 && !m.late(); run /= 2 {
		for i := 0; i < len(list) && !m.late(); {
			shorter := slices.Concat(list[:i], list[min(i+run, len(list)):])
			set(shorter)
			if m.stillShows() {
				list, changed = shorter, true
				continue
			}
			set(list)
			i += run
		}
	}
	for i := range list {
		changed = m.shrink(list[i], func(v any) { list[i] = v }) || changed
	}
	return changed
}

func (m *minimiser) shrinkMap(node map[string]any) bool {
	changed := false
	for _, key := range slices.Sorted(maps.Keys(node)) {
		if m.late() {
			break
		}
		value := node[key]
		delete(node, key)
		if m.stillShows() {
			changed = true
			continue
		}
		node[key] = value
		changed = m.shrink(value, func(v any) { node[key] = v }) || changed
	}
	return changed
}
