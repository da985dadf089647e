package convert

import (
	"reflect"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	appslisters "k8s.io/client-go/listers/apps/v1"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/berth-go/berth"
)

// owners makes listers of objects. It fails the test for a kind that Owners does not know.
func owners(t *testing.T, objects ...any) *Owners {
	t.Helper()
	index := func() cache.Indexer {
		return cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
	}
	services, controllers, replicaSets, statefulSets := index(), index(), index(), index()
	for _, o := range objects {
		var err error
		switch o.(type) {
		case *v1.Service:
			err = services.Add(o)
		case *v1.ReplicationController:
			err = controllers.Add(o)
		case *appsv1.ReplicaSet:
			err = replicaSets.Add(o)
		case *appsv1.StatefulSet:
			err = statefulSets.Add(o)
		default:
			t.Fatalf("%T", o)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return &Owners{
		Services:               corelisters.NewServiceLister(services),
		ReplicationControllers: corelisters.NewReplicationControllerLister(controllers),
		ReplicaSets:            appslisters.NewReplicaSetLister(replicaSets),
		StatefulSets:           appslisters.NewStatefulSetLister(statefulSets),
	}
}

func TestDefaultSpreadSelector(t *testing.T) {
	meta := func(namespace, name string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Namespace: namespace, Name: name}
	}
	service := func(namespace, name string, selector map[string]string) *v1.Service {
		return &v1.Service{ObjectMeta: meta(namespace, name), Spec: v1.ServiceSpec{Selector: selector}}
	}
	replicaSet := func(s *metav1.LabelSelector) *appsv1.ReplicaSet {
		return &appsv1.ReplicaSet{ObjectMeta: meta("ns", "owner"), Spec: appsv1.ReplicaSetSpec{Selector: s}}
	}
	web := map[string]string{"app": "web"}
	exists := metav1.LabelSelectorRequirement{Key: "rev", Operator: metav1.LabelSelectorOpExists}
	tests := []struct {
		rule    string
		kind    string
		objects []any
		want    *berth.LabelSelector
	}{
		{rule: "no service and no controller: no selector"},
		{
			rule: "services that select the pod are merged",
			objects: []any{
				service("ns", "a", web), service("ns", "b", map[string]string{"tier": "front"}),
				service("ns", "other labels", map[string]string{"app": "db"}), service("elsewhere", "other namespace", web),
				service("ns", "no selector", nil),
			},
			want: &berth.LabelSelector{MatchLabels: map[string]string{"app": "web", "tier": "front"}},
		},
		{
			rule: "a service with an empty selector selects the pod and requires nothing", objects: []any{service("ns", "a", map[string]string{})},
		},
		{
			rule: "a ReplicaSet adds its selector", kind: "apps/v1 ReplicaSet",
			objects: []any{service("ns", "a", web), replicaSet(&metav1.LabelSelector{
				MatchLabels: map[string]string{"tier": "front"}, MatchExpressions: []metav1.LabelSelectorRequirement{exists},
			})},
			want: &berth.LabelSelector{
				MatchLabels:      map[string]string{"app": "web", "tier": "front"},
				MatchExpressions: []berth.Requirement{{Key: "rev", Operator: berth.Exists}},
			},
		},
		{
			rule: "where service and ReplicaSet differ both must hold", kind: "apps/v1 ReplicaSet",
			objects: []any{service("ns", "a", web), replicaSet(&metav1.LabelSelector{MatchLabels: map[string]string{"app": "x"}})},
			want: &berth.LabelSelector{
				MatchLabels: web, MatchExpressions: []berth.Requirement{{Key: "app", Operator: berth.In, Values: []string{"x"}}},
			},
		},
		{
			rule: "a selector that is invalid adds nothing", kind: "apps/v1 ReplicaSet",
			objects: []any{replicaSet(&metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a", Operator: "Near"}}})},
		},
		{
			rule: "a ReplicaSet without a selector adds nothing", kind: "apps/v1 ReplicaSet",
			objects: []any{replicaSet(nil)},
		},
		{
			rule: "a StatefulSet adds its selector", kind: "apps/v1 StatefulSet",
			objects: []any{&appsv1.StatefulSet{ObjectMeta: meta("ns", "owner"), Spec: appsv1.StatefulSetSpec{Selector: &metav1.LabelSelector{MatchLabels: web}}}},
			want:    &berth.LabelSelector{MatchLabels: web},
		},
		{
			rule: "a ReplicationController displaces the services' word for a label", kind: "v1 ReplicationController",
			objects: []any{service("ns", "a", web), &v1.ReplicationController{ObjectMeta: meta("ns", "owner"), Spec: v1.ReplicationControllerSpec{Selector: map[string]string{"app": "x"}}}},
			want:    &berth.LabelSelector{MatchLabels: map[string]string{"app": "x"}},
		},
		{
			rule: "a ReplicaSet of another API group is not one", kind: "extensions/v1beta1 ReplicaSet",
			objects: []any{replicaSet(&metav1.LabelSelector{MatchLabels: web})},
		},
	}
	for _, test := range tests {
		t.Run(test.rule, func(t *testing.T) {
			p := &v1.Pod{ObjectMeta: meta("ns", "p")}
			p.Labels = map[string]string{"app": "web", "tier": "front"}
			if test.kind != "" {
				yes, version, kind := true, "", ""
				for i := range test.kind {
					if test.kind[i] == ' ' {
						version, kind = test.kind[:i], test.kind[i+1:]
					}
				}
				p.OwnerReferences = []metav1.OwnerReference{{APIVersion: version, Kind: kind, Name: "owner", Controller: &yes}}
			}
			got, err := owners(t, test.objects...).DefaultSpreadSelector(p)
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got, test.want) {
				t.Errorf("got  %+v\nwant %+v", got, test.want)
			}
			if none, err := new(Owners).DefaultSpreadSelector(p); none != nil || err != nil {
				t.Errorf("without listers: %v, %v", none, err)
			}
		})
	}
}

func TestToOwnerGivesThePodItsSelector(t *testing.T) {
	want := &berth.LabelSelector{
		MatchLabels:      map[string]string{"app": "web"},
		MatchExpressions: []berth.Requirement{{Key: "rev", Operator: berth.NotIn, Values: []string{"1"}}},
	}
	for _, owner := range []berth.OwnerReference{{}, {Kind: "ReplicaSet", Name: "rs", UID: "u"}} {
		p := &berth.Pod{Namespace: "ns", Name: "p", Owner: owner, DefaultSpreadSelector: want}
		there, err := ToPod(p)
		if err != nil {
			t.Fatal(err)
		}
		got, err := owners(t, ToOwner(p)).DefaultSpreadSelector(there)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("owner %v: got %+v", owner, got)
		}
	}
	if ToOwner(&berth.Pod{}) != nil {
		t.Error("an owner for a pod that needs none")
	}
	_, err := ToPod(&berth.Pod{Namespace: "ns", Name: "p", Owner: berth.OwnerReference{Kind: "Job"}, DefaultSpreadSelector: want})
	checkError(t, err, ErrUnsupported, "pod ns/p", "DefaultSpreadSelector")
	_, err = ToPod(&berth.Pod{Namespace: "ns", Name: "p", Owner: berth.OwnerReference{Kind: "Rollout"}})
	checkError(t, err, ErrUnsupported, "pod ns/p", "Owner.Kind")
}
