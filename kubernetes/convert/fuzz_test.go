package convert

import (
	"encoding/json"
	"errors"
	"reflect"
	"testing"

	v1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"

	"github.com/berth-go/berth"
)

func FuzzPod(f *testing.F) {
	for _, seed := range []string{
		`{}`,
		`{"metadata":{"name":"p","namespace":"ns","labels":{"a":"b"},"ownerReferences":[{"kind":"ReplicaSet","apiVersion":"apps/v1","name":"x","controller":true}]}}`,
		`{"spec":{"containers":[{"name":"a","image":"x:1","ports":[{"hostPort":80}],"resources":{"requests":{"cpu":"1","memory":"1Gi","a.b/c":"2"}}}]}}`,
		`{"spec":{"containers":[{"resources":{"requests":{"cpu":"-1"}}},{"resources":{"requests":{"memory":"9e18"}}}],"overhead":{"cpu":"9223372036854775807"}}}`,
		`{"spec":{"initContainers":[{"restartPolicy":"Always","resources":{"requests":{"cpu":"50m"}}},{}],"containers":[{}],"resources":{"requests":{"cpu":"2"}}}}`,
		`{"spec":{"nodeName":"n","containers":[{"name":"a"}]},"status":{"containerStatuses":[{"name":"a","allocatedResources":{"cpu":"3"}}],"conditions":[{"type":"PodResizePending","reason":"Infeasible"}]}}`,
		`{"spec":{"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{"matchFields":[{"key":"metadata.name","operator":"In","values":["n"]}]}]}}}}}`,
		`{"spec":{"affinity":{"podAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"z","labelSelector":{},"namespaces":[""]}]},"podAntiAffinity":{}}}}`,
		`{"spec":{"topologySpreadConstraints":[{"maxSkew":-1,"labelSelector":{"matchExpressions":[{"operator":"?"}]},"matchLabelKeys":["a"]}]}}`,
		`{"spec":{"volumes":[{"persistentVolumeClaim":{}},{"image":{"reference":""}},{"csi":{}}],"schedulingGates":[{}],"resourceClaims":[{}],"schedulingGroup":{}}}`,
		`{"spec":{"hostNetwork":true,"hostUsers":false,"tolerations":[{"operator":"Lt"}],"preemptionPolicy":"Never"},"status":{"phase":"Failed"}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var p v1.Pod
		if json.Unmarshal(data, &p) != nil {
			return
		}
		before := p.DeepCopy()
		got, err := Pod(&p)
		checkRefusal(t, err, got != nil)
		if !apiequality.Semantic.DeepEqual(&p, before) {
			t.Errorf("changed to %+v\nfrom       %+v", p, before)
		}
		if got == nil {
			return
		}
		there, err := ToPod(got)
		if err != nil {
			return
		}
		back, err := Pod(there)
		if err != nil {
			t.Fatalf("back: %v\nvia %+v", err, there)
		}
		if !reflect.DeepEqual(drain(got), drain(back)) {
			t.Errorf("got  %+v\nback %+v", got, back)
		}
	})
}

func FuzzNode(f *testing.F) {
	for _, seed := range []string{
		`{}`,
		`{"metadata":{"name":"n","labels":{"":""}},"spec":{"taints":[{"key":"k","effect":"NoExecute","timeAdded":"2030-01-01T00:00:00Z"}],"unschedulable":true}}`,
		`{"status":{"allocatable":{"cpu":"1","memory":"1Ei","pods":"110","a.b/c":"1","x":"1"},"images":[{"names":["a","b:1"],"sizeBytes":-1}]}}`,
		`{"status":{"allocatable":{"cpu":"9223372036854775807","memory":"-0.5"}}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var n v1.Node
		if json.Unmarshal(data, &n) != nil {
			return
		}
		got, err := Node(&n)
		checkRefusal(t, err, got != nil)
		if got == nil {
			return
		}
		there, err := ToNode(got)
		if err != nil {
			t.Fatal(err)
		}
		back, err := Node(there)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(back, got) {
			t.Errorf("got  %+v\nback %+v", got, back)
		}
	})
}

// checkRefusal checks that an error names what it is about, and comes with an object unless a field is invalid.
func checkRefusal(t *testing.T, err error, object bool) {
	t.Helper()
	if invalid := errors.Is(err, berth.ErrInvalid); invalid == object {
		t.Fatalf("object beside the error: %v, error: %v", object, err)
	}
	if err == nil {
		return
	}
	var fields Errors
	if !errors.As(err, &fields) || len(fields) == 0 {
		t.Fatalf("%T", err)
	}
	for _, field := range fields {
		if field.Object == "" || field.Path == "" || field.Detail == "" || field.Err == nil {
			t.Errorf("incomplete: %+v", field)
		}
	}
}

// drain takes out of a pod what has no counterpart in the API: the difference between no value and an empty one.
func drain(p *berth.Pod) *berth.Pod {
	out := *p
	if p.Requests.Scalar != nil && len(p.Requests.Scalar) == 0 {
		out.Requests.Scalar = nil
	}
	return &out
}
