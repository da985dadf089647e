package convert_test

import (
	"errors"
	"fmt"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/berth-go/berth/kubernetes/convert"
)

func ExamplePod() {
	always := v1.ContainerRestartPolicyAlways
	cpu := func(q string) v1.ResourceRequirements {
		return v1.ResourceRequirements{Requests: v1.ResourceList{v1.ResourceCPU: resource.MustParse(q)}}
	}
	pod, err := convert.Pod(&v1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web-0"},
		Spec: v1.PodSpec{
			InitContainers: []v1.Container{
				{Name: "proxy", RestartPolicy: &always, Resources: cpu("500m")},
				{Name: "migrate", Resources: cpu("3")},
			},
			Containers: []v1.Container{{Name: "web", Image: "shop/web", Resources: cpu("1")}},
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(pod.Key(), "needs", pod.Requests.MilliCPU, "milli CPU")
	// Output: shop/web-0 needs 3500 milli CPU
}

// A pod with a volume claim is refused unless the caller knows that the claim does not tie it to a node.
func ExamplePod_unsupported() {
	pod, err := convert.Pod(&v1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "db-0"},
		Spec: v1.PodSpec{
			NodeName: "n1",
			Volumes: []v1.Volume{{Name: "data", VolumeSource: v1.VolumeSource{
				PersistentVolumeClaim: &v1.PersistentVolumeClaimVolumeSource{ClaimName: "db-0"},
			}}},
		},
	})
	if errors.Is(err, convert.ErrUnsupported) && pod != nil {
		fmt.Println(err)
		fmt.Println(pod.Key(), "runs on", pod.NodeName)
	}
	// Output:
	// convert: pod shop/db-0: spec.volumes[0].persistentVolumeClaim: unsupported "data": the volume may tie the pod to nodes
	// shop/db-0 runs on n1
}

func ExampleOwners() {
	services := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
	if err := services.Add(&v1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"},
		Spec:       v1.ServiceSpec{Selector: map[string]string{"app": "web"}},
	}); err != nil {
		fmt.Println(err)
		return
	}
	owners := convert.Owners{Services: corelisters.NewServiceLister(services)}

	selector, err := owners.DefaultSpreadSelector(&v1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web-0", Labels: map[string]string{"app": "web"}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(selector.MatchLabels)
	// Output: map[app:web]
}
