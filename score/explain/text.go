package explain

import (
	"fmt"
	"strings"

	"github.com/berth-go/berth"
)

// tree is a text and what belongs to it.
type tree struct {
	text     string
	children []*tree
}

// add enters a child and returns it.
func (t *tree) add(format string, args ...any) *tree {
	child := &tree{text: fmt.Sprintf(format, args...)}
	t.children = append(t.children, child)
	return child
}

func (t *tree) write(b *strings.Builder, first, rest string) {
	b.WriteString(first)
	b.WriteString(t.text)
	b.WriteByte('\n')
	for i, c := range t.children {
		if i < len(t.children)-1 {
			c.write(b, rest+"├─ ", rest+"│  ")
		} else {
			c.write(b, rest+"└─ ", rest+"   ")
		}
	}
}

func (t *tree) String() string {
	var b strings.Builder
	t.write(&b, "", "")
	return b.String()
}

// String is the explanation as a tree of text, several lines.
func (e *Explanation) String() string {
	root := &tree{text: fmt.Sprintf("pod %v fits no node", e.Pod)}
	switch {
	case e.Feasible > 0 && len(e.Top) > 0:
		root.text = fmt.Sprintf("pod %v goes to %s", e.Pod, e.Chosen())
	case e.Feasible > 0:
		root.text = fmt.Sprintf("pod %v fits", e.Pod)
	}
	nodes := root.add("%d nodes evaluated, %d feasible", e.Evaluated, e.Feasible)
	for _, c := range e.Refused {
		nodes.add("%d refused by %s", c.Nodes, c.name())
	}
	if len(e.Top) > 0 {
		scores := root.add("best scores")
		for i := range e.Top {
			e.Top[i].addTo(scores)
		}
	}
	if e.RunnerUp != nil {
		e.RunnerUp.addTo(root)
	}
	if len(e.Refusals) > 0 {
		refused := root.add("refused nodes")
		for i := range e.Refusals {
			e.Refusals[i].addTo(refused)
		}
		if e.Omitted > 0 {
			refused.add("and %d more", e.Omitted)
		}
	}
	return root.String()
}

// String is the placement as a tree of text, several lines.
func (p *Placement) String() string {
	root := &tree{text: fmt.Sprintf("pod %v on %s", p.Pod, p.Node)}
	if p.Refusal != nil {
		root.text += " is refused"
		p.Refusal.addTo(root)
	}
	if p.Candidate != nil {
		root.text += fmt.Sprintf(" would be number %d of %d feasible nodes", p.Candidate.Rank, p.Feasible)
		p.Candidate.addTo(root)
	}
	if p.Chosen != nil {
		p.Chosen.addTo(root)
	}
	return root.String()
}

func (c *Count) name() string {
	if c.Own {
		return "plugin " + c.Rule
	}
	return c.Rule
}

func (c *Candidate) addTo(t *tree) {
	var terms []string
	for _, term := range c.Terms {
		if term.Points == 0 && !term.Late {
			continue
		}
		text := fmt.Sprintf("%s %d", term.Plugin, term.Score)
		if term.Weight != 1 {
			text = fmt.Sprintf("%s %d*%d", term.Plugin, term.Weight, term.Score)
		}
		if term.Late {
			text += " (no answer)"
		}
		terms = append(terms, text)
	}
	t.add("%d. %s %d = %s", c.Rank, c.Node, c.Total, orNothing(strings.Join(terms, " + ")))
}

func orNothing(s string) string {
	if s == "" {
		return "nothing"
	}
	return s
}

func (c *Comparison) addTo(t *tree) {
	if c.Margin == 0 {
		t.add("%s before %s by the order of names at equal score%s", c.Winner, c.Loser, c.differences(": "))
		return
	}
	t.add("%s before %s by %d%s", c.Winner, c.Loser, c.Margin, c.differences(": "))
}

func (c *Comparison) differences(before string) string {
	var parts []string
	for _, d := range c.Differences {
		parts = append(parts, fmt.Sprintf("%s %+d", d.Plugin, d.Points))
	}
	if len(parts) == 0 {
		return ""
	}
	return before + strings.Join(parts, ", ")
}

func (r *Refusal) addTo(t *tree) {
	by := r.Rule
	if r.Own {
		by = "plugin " + by
	}
	node := t.add("%s: %s: %s", r.Node, by, strings.Join(r.Reasons, ", "))
	for i := range r.Obstacles {
		node.add("%s", r.Obstacles[i].String())
	}
	if r.Suggestion == nil {
		return
	}
	changes := r.Suggestion.Changes
	if len(changes) == 1 {
		node.add("feasible if: %s", changes[0].String())
		return
	}
	all := node.add("feasible if all of:")
	for i := range changes {
		all.add("%s", changes[i].String())
	}
}

// String says the obstacle in one line.
func (o *Obstacle) String() string {
	switch {
	case o.Rule == "NodeUnschedulable":
		return "the node is cordoned"
	case o.Rule == "NodeName":
		return "the pod asks for node " + o.Value
	case o.Taint != nil:
		return "taint " + taintText(o.Taint) + " is not tolerated"
	case o.Unmet != nil:
		return o.unmet()
	case o.Port != nil:
		return fmt.Sprintf("port %d/%s on %s is held by %s", o.Port.Port, o.Port.Protocol, o.Port.HostIP, o.pods())
	case o.Shortfall != nil && o.Shortfall.Resource == berth.ResourcePods:
		return fmt.Sprintf("no room for one more pod: %d of %d are there", o.Shortfall.Used, o.Shortfall.Allocatable)
	case o.Shortfall != nil:
		f := o.Shortfall
		return fmt.Sprintf("%s missing: requested %s, used %s of %s", amountText(f.Resource, f.Missing), bare(f.Resource, f.Requested),
			bare(f.Resource, f.Used), bare(f.Resource, f.Allocatable))
	case o.GPU != nil:
		return o.gpu()
	case o.Missing:
		return fmt.Sprintf("%s: the node lacks label %s", o.term(), o.Key)
	case o.Skew != nil:
		return o.skew()
	case o.Side == "affinity":
		return fmt.Sprintf("%s: no such pod in %s=%s", o.term(), o.Key, o.Value)
	}
	return fmt.Sprintf("%s in %s=%s: %s", o.term(), o.Key, o.Value, o.pods())
}

// term is what a rule is about.
func (o *Obstacle) term() string {
	switch o.Side {
	case "affinity":
		return "affinity to " + o.Selects
	case "antiAffinity":
		return "anti-affinity to " + o.Selects
	case "existingAntiAffinity":
		return "anti-affinity of placed pods to " + o.Selects
	}
	return "spread of " + o.Selects
}

func (o *Obstacle) unmet() string {
	switch {
	case o.Unmet.Key == "":
		return "no node can meet the required node affinity"
	case o.ByField:
		return "the node's name does not meet " + requirementText(o.Unmet)
	}
	return "the node's labels do not meet " + requirementText(o.Unmet)
}

func (o *Obstacle) gpu() string {
	g := o.GPU
	if g.Devices > 0 && g.WrongModel {
		return fmt.Sprintf("the node's GPUs are of model %s", g.Model)
	}
	if g.Milli < berth.GPUMilli {
		return fmt.Sprintf("%d milli of a GPU requested, %d of %d have room", g.Milli, g.Room, g.Devices)
	}
	return fmt.Sprintf("%s requested, %d of %d free", gpusText(int64(g.Count)), g.Room, g.Devices)
}

// skew says how many may come after how many came elsewhere.
func (o *Obstacle) skew() string {
	s := o.Skew
	text := fmt.Sprintf("%s: %s=%s has %d, the least is %d, maxSkew %d", o.term(), o.Key, o.Value, s.Count, s.Min, s.MaxSkew)
	if len(s.Below) == 0 {
		return text
	}
	var after []string
	for i, b := range s.Below {
		if i == 3 {
			after = append(after, fmt.Sprintf("and in %d more", len(s.Below)-i))
			break
		}
		after = append(after, fmt.Sprintf("%d more in %s", b.Lacks, b.Value))
	}
	return fmt.Sprintf("%s: %s may take 1 more after %s", text, o.Value, strings.Join(after, ", "))
}

// pods lists the pods in the way.
func (o *Obstacle) pods() string {
	var parts []string
	for _, p := range o.Pods {
		s := p.PodKey.String()
		if p.Nominated {
			s += " (nominated to " + p.Node + ")"
		} else {
			s += " (on " + p.Node + ")"
		}
		parts = append(parts, s)
	}
	if more := o.PodCount - len(o.Pods); more > 0 {
		parts = append(parts, fmt.Sprintf("%d more", more))
	}
	return strings.Join(parts, ", ")
}

// bare is an amount without the name of the resource.
func bare(resource string, amount int64) string {
	return strings.TrimSuffix(amountText(resource, amount), " "+resource)
}

// Table is the explanation as a plain table for logs, a line a node: the best nodes by rank, then the refused ones.
func (e *Explanation) Table() string {
	rows := [][]string{{"NODE", "RANK", "SCORE", "REFUSED BY", "WHY", "FEASIBLE IF"}}
	for _, c := range e.Top {
		rows = append(rows, []string{c.Node, fmt.Sprint(c.Rank), fmt.Sprint(c.Total), "-", "-", "-"})
	}
	for i := range e.Refusals {
		r := &e.Refusals[i]
		why := "-"
		if len(r.Obstacles) > 0 {
			var all []string
			for k := range r.Obstacles {
				all = append(all, r.Obstacles[k].String())
			}
			why = strings.Join(all, "; ")
		}
		then := "-"
		if r.Suggestion != nil {
			then = r.Suggestion.String()
		}
		rows = append(rows, []string{r.Node, "-", "-", r.Rule, why, then})
	}
	return align(rows)
}

// align writes rows in columns two blanks apart.
func align(rows [][]string) string {
	width := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			width[i] = max(width[i], len(cell))
		}
	}
	var b strings.Builder
	for _, row := range rows {
		var line strings.Builder
		for i, cell := range row {
			fmt.Fprintf(&line, "%-*s  ", width[i], cell)
		}
		b.WriteString(strings.TrimRight(line.String(), " "))
		b.WriteByte('\n')
	}
	return b.String()
}
