package berth_test

import (
	"errors"
	"fmt"

	"github.com/berth-go/berth"
)

func ExampleValidatePod() {
	pod := &berth.Pod{
		Namespace: "default",
		Name:      "web-1",
		Requests:  berth.Resources{MilliCPU: -500},
		Tolerations: []berth.Toleration{
			{Key: "dedicated", Operator: "Is", Value: "web"},
			{Key: "slow", Operator: berth.TolerationExists, Value: "yes"},
		},
	}

	faults := berth.ValidatePod(pod)
	for _, fault := range faults {
		fmt.Println(fault.Path, fault.Value, "soft:", fault.Soft)
	}
	// Only the hard faults make an error.
	err := faults.Err()
	fmt.Println(errors.Is(err, berth.ErrInvalid))
	fmt.Println(err)
	// Output:
	// spec.resources.requests[cpu] -500m soft: false
	// spec.tolerations[0].operator Is soft: false
	// spec.tolerations[1].value yes soft: true
	// true
	// berth: pod "default/web-1": spec.resources.requests[cpu]: invalid "-500m": must not be negative
	// berth: pod "default/web-1": spec.tolerations[0].operator: invalid "Is": must be Equal or Exists
}

func ExampleValidateNode() {
	node := &berth.Node{
		Name:        "node-1",
		Taints:      []berth.Taint{{Key: "dedicated", Value: "gpu"}},
		Allocatable: berth.Resources{MilliCPU: 16_000, Memory: 64 << 30, Pods: 110},
	}
	fmt.Println(berth.ValidateNode(node).Err())
	// Output:
	// berth: node "node-1": spec.taints[0].effect: invalid "": must be NoSchedule, PreferNoSchedule or NoExecute
}

// Each revision of a deployment spreads by itself, because the pods carry the revision as a label.
func ExampleFold() {
	pod := &berth.Pod{
		Namespace: "default",
		Name:      "web-1",
		Labels:    map[string]string{"app": "web", "pod-template-hash": "5d4f"},
		TopologySpreadConstraints: []berth.TopologySpreadConstraint{{
			MaxSkew:           1,
			TopologyKey:       berth.LabelZone,
			WhenUnsatisfiable: berth.DoNotSchedule,
			LabelSelector:     &berth.LabelSelector{MatchLabels: map[string]string{"app": "web"}},
			MatchLabelKeys:    []string{"pod-template-hash"},
		}},
	}
	fmt.Println(berth.ValidatePod(pod)[0].Detail)

	folded := berth.Fold(pod)
	fmt.Println(folded.TopologySpreadConstraints[0].LabelSelector.MatchExpressions)
	fmt.Println(berth.ValidatePod(folded).Err(), berth.Fold(folded) == folded)
	// Output:
	// has no effect until it is merged into labelSelector; see Fold
	// [{pod-template-hash In [5d4f]}]
	// <nil> true
}

func ExampleNodeSelectorTerm_Parses() {
	term := berth.NodeSelectorTerm{MatchExpressions: []berth.Requirement{
		{Key: "cores", Operator: berth.Gt, Values: []string{"15.5"}},
	}}
	fmt.Println(term.Parses())
	// Output:
	// false
}
