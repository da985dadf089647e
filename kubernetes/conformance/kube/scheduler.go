package kube

import (
	"context"
	"errors"
	"fmt"
	"maps"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/scheduler"
	internalcache "k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/profile"

	"github.com/berth-go/berth/kubernetes/conformance"
)

// Scheduler is kube-scheduler with one cluster in its cache. Make one with [New] and close it after use.
type Scheduler struct {
	ctx       context.Context
	close     context.CancelFunc
	logger    klog.Logger
	inner     *scheduler.Scheduler
	framework framework.Framework
	snapshot  *internalcache.Snapshot
	informers informers.SharedInformerFactory
	// nodes and pods are the objects as last seen, by name and by namespace/name.
	nodes map[string]*v1.Node
	// nodesChanged says that a node came, changed or went since the last look.
	nodesChanged bool
	pods         map[string]*v1.Pod
	// assumed are the pods of which binding has not been confirmed.
	assumed map[string]*v1.Pod
	budgets []*policyv1.PodDisruptionBudget
	gates   map[string]bool
}

// Option changes how the scheduler decides.
type Option = scheduler.Option

// Sampled makes Place look for so many percent of the nodes only; 0 is kube-scheduler's default, which depends on the
// number of nodes. Without it all nodes are scored.
func Sampled(percent int32) Option { return scheduler.WithPercentageOfNodesToScore(&percent) }

// New returns a scheduler that has the cluster in its cache.
func New(c *conformance.Cluster, options ...Option) (*Scheduler, error) {
	silence()
	gates, err := setGates(c.Config.FeatureGates)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	s := &Scheduler{
		ctx: ctx, close: cancel, logger: klog.FromContext(ctx), gates: gates,
		snapshot: internalcache.NewEmptySnapshot(),
		nodes:    map[string]*v1.Node{}, pods: map[string]*v1.Pod{}, assumed: map[string]*v1.Pod{},
		budgets: c.Budgets,
	}
	if err := s.load(c, options); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// Close ends the scheduler's goroutines and gives the feature gates back their defaults.
func (s *Scheduler) Close() {
	s.close()
	_, _ = setGates(s.gates) // they were so before
}

func (s *Scheduler) load(c *conformance.Cluster, options []Option) error {
	profiles, err := profilesFor(&c.Config)
	if err != nil {
		return err
	}
	client := fake.NewClientset()
	s.informers = informers.NewSharedInformerFactory(client, 0)
	options = append([]Option{
		scheduler.WithProfiles(profiles...), scheduler.WithNodeInfoSnapshot(s.snapshot), Sampled(100),
	}, options...)
	events := profile.NewRecorderFactory(events.NewBroadcaster(&events.EventSinkImpl{}))
	if s.inner, err = scheduler.New(s.ctx, client, s.informers, nil, events, options...); err != nil {
		return err
	}
	s.framework = s.inner.Profiles[v1.DefaultSchedulerName]

	core, apps := s.informers.Core().V1(), s.informers.Apps().V1()
	if err := errors.Join(
		fill(core.Services().Informer(), c.Services),
		fill(core.ReplicationControllers().Informer(), c.ReplicationControllers),
		fill(apps.ReplicaSets().Informer(), c.ReplicaSets),
		fill(apps.StatefulSets().Informer(), c.StatefulSets),
	); err != nil {
		return err
	}
	return conformance.Load(s, c)
}

func fill[T any](informer cache.SharedIndexInformer, objects []T) error {
	for _, o := range objects {
		if err := informer.GetIndexer().Add(o); err != nil {
			return err
		}
	}
	return nil
}

// setGates sets feature gates and returns how they were.
func setGates(gates map[string]bool) (before map[string]bool, err error) {
	if len(gates) == 0 {
		return nil, nil
	}
	all := utilfeature.DefaultMutableFeatureGate.GetAll()
	before = maps.Clone(gates)
	for gate := range gates {
		spec, known := all[featureName(gate)]
		if !known {
			return nil, fmt.Errorf("kube: feature gate %q: unknown", gate)
		}
		before[gate] = utilfeature.DefaultFeatureGate.Enabled(featureName(gate))
		if spec.LockToDefault && before[gate] != gates[gate] {
			return nil, fmt.Errorf("kube: feature gate %q: locked to its default", gate)
		}
	}
	return before, utilfeature.DefaultMutableFeatureGate.SetFromMap(gates)
}

// silence keeps the scheduler from logging every decision.
func silence() {
	klog.SetLogger(klog.Logger{})
}
