package reference_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/internal/reference"
)

const gib = int64(1) << 30

// node is a node of 4 cores and 8 GiB; labels are key=value.
func node(name string, labels ...string) berth.Node {
	return berth.Node{Name: name, Labels: pairs(labels), Allocatable: berth.Resources{MilliCPU: 4000, Memory: 8 * gib, Pods: 110}}
}

func pairs(labels []string) map[string]string {
	m := map[string]string{}
	for _, l := range labels {
		k, v, _ := strings.Cut(l, "=")
		m[k] = v
	}
	return m
}

// pod is a pod in namespace default, on a node or, with "", to be placed.
func pod(name, on string, milli int64, labels ...string) berth.Pod {
	return berth.Pod{
		Namespace: "default", Name: name, NodeName: on, Labels: pairs(labels), Requests: berth.Resources{MilliCPU: milli},
	}
}

// with returns the pod after some changes.
func with(p berth.Pod, changes ...func(*berth.Pod)) berth.Pod {
	for _, change := range changes {
		change(&p)
	}
	return p
}

func priority(n int32) func(*berth.Pod) { return func(p *berth.Pod) { p.Priority = n } }

// started at an hour of the day.
func started(hour int) func(*berth.Pod) {
	return func(p *berth.Pod) { p.StartTime = time.Date(2030, 1, 1, hour, 0, 0, 0, time.UTC) }
}

func in(namespace string) func(*berth.Pod) { return func(p *berth.Pod) { p.Namespace = namespace } }

func terminating(p *berth.Pod) { p.Terminating = true }

func selector(labels ...string) *berth.LabelSelector {
	return &berth.LabelSelector{MatchLabels: pairs(labels)}
}

func term(key string, labels ...string) berth.PodAffinityTerm {
	return berth.PodAffinityTerm{TopologyKey: key, LabelSelector: selector(labels...)}
}

func near(terms ...berth.PodAffinityTerm) func(*berth.Pod) {
	return func(p *berth.Pod) {
		p.Affinity = &berth.Affinity{PodAffinity: &berth.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: terms}}
	}
}

func apart(terms ...berth.PodAffinityTerm) func(*berth.Pod) {
	return func(p *berth.Pod) {
		p.Affinity = &berth.Affinity{PodAntiAffinity: &berth.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: terms}}
	}
}

func spread(c berth.TopologySpreadConstraint) func(*berth.Pod) {
	if c.MaxSkew == 0 {
		c.MaxSkew = 1
	}
	if c.WhenUnsatisfiable == "" {
		c.WhenUnsatisfiable = berth.DoNotSchedule
	}
	return func(p *berth.Pod) { p.TopologySpreadConstraints = append(p.TopologySpreadConstraints, c) }
}

// verdicts writes down what the filters say: "n1 ok, n2 InterPodAffinity, n3 NodeResourcesFit*", with a star where
// preemption could help.
func verdicts(c *reference.Cluster, p berth.Pod) string {
	var out []string
	for i, r := range c.Filter(&p) {
		verdict := r.Plugin
		if verdict == "" {
			verdict = "ok"
		}
		if r.Resolvable {
			verdict += "*"
		}
		out = append(out, c.Nodes[i].Name+" "+verdict)
	}
	return strings.Join(out, ", ")
}

// scores returns the normalised scores of one plugin over the feasible nodes.
func scores(t *testing.T, c *reference.Cluster, p berth.Pod, plugin string) string {
	t.Helper()
	s, err := c.Score(&p, c.Feasible(&p))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Trim(fmt.Sprint(s.ByPlugin[plugin]), "[]")
}
