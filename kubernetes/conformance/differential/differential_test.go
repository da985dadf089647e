package differential

import (
	"flag"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/berth-go/berth/kubernetes/conformance"
	"github.com/berth-go/berth/kubernetes/conformance/schedulers"
)

var seed = flag.Uint64("berth.seed", 1, "seed of the differential test")

func named(t *testing.T, name string) conformance.Open {
	t.Helper()
	open, err := schedulers.Named(name)
	if err != nil {
		t.Fatal(err)
	}
	return open
}

// TestDifferential compares a little; the command of the same name compares as much as you like.
func TestDifferential(t *testing.T) {
	for _, who := range []string{schedulers.Berth, schedulers.Transactions, schedulers.Reference} {
		t.Run(who, func(t *testing.T) {
			c := Comparison{
				Ours: named(t, who), Judge: named(t, schedulers.Kube), Seed: *seed,
				Nodes: 60, Verdicts: 5000, Scores: 5000, Time: time.Minute, Workers: 2,
			}
			_, total := c.Run(func(f Finding) bool {
				t.Errorf("seed %d, script %d: %+v, %v", c.Seed, f.Number, f.Difference, f.Err)
				return false
			})
			if total.Questions == 0 || total.Changes == 0 {
				t.Errorf("nothing compared: %+v", total)
			}
		})
	}
}

func TestScriptsHaveEveryFeature(t *testing.T) {
	var total Counts
	features := map[string]bool{}
	for i := range uint64(60) {
		s := Generate(1, i, 20)
		for _, p := range s.Cluster.Pods {
			features["sidecar or init container"] = features["sidecar or init container"] || len(p.Spec.InitContainers) > 0
			features["overhead"] = features["overhead"] || len(p.Spec.Overhead) > 0
			features["pod-level resources"] = features["pod-level resources"] || p.Spec.Resources != nil
			features["resize"] = features["resize"] || len(p.Status.ContainerStatuses) > 0
			features["terminating"] = features["terminating"] || p.DeletionTimestamp != nil
			features["nominated"] = features["nominated"] || p.Spec.NodeName == "" && p.Status.NominatedNodeName != ""
			features["affinity"] = features["affinity"] || p.Spec.Affinity != nil && p.Spec.Affinity.PodAffinity != nil
			features["anti-affinity"] = features["anti-affinity"] || p.Spec.Affinity != nil && p.Spec.Affinity.PodAntiAffinity != nil
			features["node affinity"] = features["node affinity"] || p.Spec.Affinity != nil && p.Spec.Affinity.NodeAffinity != nil
			features["spread"] = features["spread"] || len(p.Spec.TopologySpreadConstraints) > 0
			features["tolerations"] = features["tolerations"] || len(p.Spec.Tolerations) > 0
			features["owner"] = features["owner"] || len(p.OwnerReferences) > 0
		}
		features["services"] = features["services"] || len(s.Cluster.Services) > 0
		features["budgets"] = features["budgets"] || len(s.Cluster.Budgets) > 0
		features["configuration"] = features["configuration"] || s.Cluster.Config.ScoringStrategy != nil
		for _, step := range s.Steps {
			if step.Change != nil {
				features[strings.Join(strings.Fields(step.Change.String())[:2], " ")] = true
				total.Changes++
			}
		}
	}
	for _, feature := range []string{
		"sidecar or init container", "overhead", "pod-level resources", "resize", "terminating", "nominated", "affinity",
		"anti-affinity", "node affinity", "spread", "tolerations", "owner", "services", "budgets", "configuration",
		"add node", "update node", "delete node", "add pod", "update pod", "delete pod", "assume pod", "forget pod", "set namespace",
	} {
		if !features[feature] {
			t.Errorf("no %s in 60 scripts", feature)
		}
	}
}

func TestGenerateIsReproducible(t *testing.T) {
	a, b := Generate(3, 4, MaxNodes), Generate(3, 4, MaxNodes)
	if !reflect.DeepEqual(a, b) {
		t.Error("the same seed drew two scripts")
	}
	if reflect.DeepEqual(a, Generate(3, 5, MaxNodes)) {
		t.Error("two numbers drew the same script")
	}
	if !a.valid() {
		t.Error("invalid script")
	}
}

// picky is a scheduler that refuses pods with some label that others don't.
type picky struct {
	conformance.Scheduler
	label string
}

func (p picky) Evaluate(pod *v1.Pod) (*conformance.Evaluation, error) {
	e, err := p.Scheduler.Evaluate(pod)
	if err == nil && pod.Labels["app"] == p.label {
		for node := range e.Totals {
			e.Refusals[node] = conformance.Refusal{Plugin: "Picky"}
		}
		clear(e.Totals)
	}
	return e, err
}

func TestADifferenceIsMinimisedAndReplayed(t *testing.T) {
	reference := named(t, schedulers.Reference)
	c := Comparison{
		Judge: reference, Seed: 1, Nodes: 20, Verdicts: 1_000_000, Scores: 1_000_000, Time: time.Minute,
		Ours: func(cluster *conformance.Cluster) (conformance.Scheduler, func(), error) {
			s, closing, err := reference(cluster)
			return picky{s, "b"}, closing, err
		},
	}
	var found Finding
	c.Run(func(f Finding) bool {
		found = f
		return false
	})
	if found.Difference == nil || !strings.Contains(found.Difference.Kind(), "Picky") {
		t.Fatalf("found %+v, %v", found.Difference, found.Err)
	}
	small, difference := c.Minimise(found, time.Minute)
	if difference.Kind() != found.Difference.Kind() {
		t.Errorf("minimised to %q, of another kind than %q", difference.Lines, found.Difference.Lines)
	}
	if len(small.Cluster.Nodes) != 1 || len(small.Cluster.Pods) != 0 || len(small.Steps) != 1 {
		t.Errorf("minimised to %d nodes, %d pods and %d steps", len(small.Cluster.Nodes), len(small.Cluster.Pods), len(small.Steps))
	}
	if pod := small.Steps[0].Ask; pod == nil || !reflect.DeepEqual(pod.Labels, map[string]string{"app": "b"}) || pod.Spec.Affinity != nil {
		t.Errorf("minimised to the question %+v", pod)
	}

	path := filepath.Join(t.TempDir(), "script.yaml")
	if err := small.File(path, difference.Lines); err != nil {
		t.Fatal(err)
	}
	again, err := Read(path)
	if err != nil {
		t.Fatal(err)
	}
	_, replayed, err := again.Run(c.Ours, c.Judge)
	if err != nil || replayed == nil || !slices.Equal(replayed.Lines, difference.Lines) {
		t.Errorf("replayed %+v, %v; want %q", replayed, err, difference.Lines)
	}
}

func TestMinimiseKeepsWhatIsThereAtTheDeadline(t *testing.T) {
	s := Generate(1, 1, 10)
	if got := Minimise(s, func(*Script) bool { return true }, time.Now().Add(-time.Second)); got != s {
		t.Error("changed the script after the deadline")
	}
}

func TestReadRefusesUnknownFields(t *testing.T) {
	path := filepath.Join(t.TempDir(), "script.yaml")
	s := &Script{}
	if err := s.File(path, []string{"two\nlines"}); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(path); err != nil {
		t.Errorf("empty script: %v", err)
	}
	if _, err := Read(filepath.Join(t.TempDir(), "none.yaml")); err == nil {
		t.Error("no error for a missing file")
	}
}
