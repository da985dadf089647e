package conformance

import (
	"errors"

	v1 "k8s.io/api/core/v1"
	appslisters "k8s.io/client-go/listers/apps/v1"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/kubernetes/convert"
)

// Converter converts the pods of a cluster to berth, with the selectors of their services and controllers.
type Converter struct{ owners convert.Owners }

// NewConverter returns a converter for the pods of the cluster.
func NewConverter(c *Cluster) (*Converter, error) {
	services, err1 := index(c.Services)
	controllers, err2 := index(c.ReplicationControllers)
	replicaSets, err3 := index(c.ReplicaSets)
	statefulSets, err4 := index(c.StatefulSets)
	return &Converter{convert.Owners{
		Services:               corelisters.NewServiceLister(services),
		ReplicationControllers: corelisters.NewReplicationControllerLister(controllers),
		ReplicaSets:            appslisters.NewReplicaSetLister(replicaSets),
		StatefulSets:           appslisters.NewStatefulSetLister(statefulSets),
	}}, errors.Join(err1, err2, err3, err4)
}

// Pod converts a pod. Unsupported fields are errors.
func (c *Converter) Pod(p *v1.Pod) (*berth.Pod, error) {
	pod, err := convert.Pod(p)
	if err != nil {
		return nil, err
	}
	pod.DefaultSpreadSelector, err = c.owners.DefaultSpreadSelector(p)
	return pod, err
}

// Requested is what pods request together; "pods" is their number.
func Requested(pods []*berth.Pod) map[v1.ResourceName]int64 {
	requested := map[v1.ResourceName]int64{v1.ResourcePods: int64(len(pods))}
	for _, p := range pods {
		requested[v1.ResourceCPU] += p.Requests.MilliCPU
		requested[v1.ResourceMemory] += p.Requests.Memory
		requested[v1.ResourceEphemeralStorage] += p.Requests.EphemeralStorage
		for name, q := range p.Requests.Scalar {
			requested[v1.ResourceName(name)] += q
		}
	}
	return requested
}

func index[T any](objects []T) (cache.Indexer, error) {
	indexer := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
	var errs []error
	for _, o := range objects {
		errs = append(errs, indexer.Add(o))
	}
	return indexer, errors.Join(errs...)
}
