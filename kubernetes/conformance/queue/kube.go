package queue

import (
	"context"
	"fmt"
	"slices"
	"time"
	_ "unsafe" // for go:linkname

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/latest"
	kubequeue "k8s.io/kubernetes/pkg/scheduler/backend/queue"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/queuesort"
	"k8s.io/kubernetes/pkg/scheduler/metrics"
	"k8s.io/kubernetes/pkg/scheduler/profile"
	clocktesting "k8s.io/utils/clock/testing"
)

// The flushes are due by timers of goroutines that a test can't wait for.
//
//go:linkname flushBackoff k8s.io/kubernetes/pkg/scheduler/backend/queue.(*PriorityQueue).flushBackoffQCompleted
func flushBackoff(*kubequeue.PriorityQueue, klog.Logger)

//go:linkname flushUnschedulable k8s.io/kubernetes/pkg/scheduler/backend/queue.(*PriorityQueue).flushUnschedulableEntitiesLeftover
func flushUnschedulable(*kubequeue.PriorityQueue, klog.Logger)

// Kube is kube-scheduler's queue.
type Kube struct {
	queue    *kubequeue.PriorityQueue
	clock    *clocktesting.FakeClock
	log      klog.Logger
	ctx      context.Context
	stop     context.CancelFunc
	inFlight map[string]*framework.QueuedPodInfo
}

// NewKube returns the queue of a scheduler with the default plugins and what may help the pods that they refuse. Close it.
func NewKube() (*Kube, error) {
	k := newKube()
	client := fake.NewClientset()
	config, err := latest.Default()
	if err != nil {
		return nil, err
	}
	recorder := profile.NewRecorderFactory(events.NewBroadcaster(&events.EventSinkImpl{}))
	s, err := scheduler.New(k.ctx, client, informers.NewSharedInformerFactory(client, 0), nil, recorder,
		scheduler.WithProfiles(config.Profiles...), scheduler.WithClock(k.clock),
		scheduler.WithPodInitialBackoffSeconds(config.PodInitialBackoffSeconds), scheduler.WithPodMaxBackoffSeconds(config.PodMaxBackoffSeconds))
	if err != nil {
		k.stop()
		return nil, err
	}
	queue, ok := s.SchedulingQueue.(*kubequeue.PriorityQueue)
	if !ok {
		k.stop()
		return nil, fmt.Errorf("queue: the scheduler has a %T", s.SchedulingQueue)
	}
	k.queue = queue
	return k, nil
}

// newKubeWith returns a queue with other hints and gates than the default plugins'.
func newKubeWith(hints kubequeue.QueueingHintMap, gates map[string]fwk.PreEnqueuePlugin) *Kube {
	k := newKube()
	metrics.Register()
	k.queue = kubequeue.NewPriorityQueue(new(queuesort.PrioritySort).Less, informers.NewSharedInformerFactory(fake.NewClientset(), 0),
		kubequeue.WithClock(k.clock),
		kubequeue.WithMetricsRecorder(metrics.NewMetricsAsyncRecorder(1000, time.Hour, k.ctx.Done())),
		kubequeue.WithQueueingHintMapPerProfile(kubequeue.QueueingHintMapPerProfile{v1.DefaultSchedulerName: hints}),
		kubequeue.WithPreEnqueuePluginMap(map[string]map[string]fwk.PreEnqueuePlugin{v1.DefaultSchedulerName: gates}))
	return k
}

func newKube() *Kube {
	ctx, stop := context.WithCancel(context.Background())
	return &Kube{
		clock: clocktesting.NewFakeClock(start()), log: klog.FromContext(ctx), ctx: ctx, stop: stop,
		inFlight: map[string]*framework.QueuedPodInfo{},
	}
}

// Close ends what the queue runs in the background.
func (k *Kube) Close() { k.stop() }

// Add implements Queue.
func (k *Kube) Add(pod *v1.Pod) error {
	k.queue.Add(k.ctx, pod)
	k.clock.Step(betweenAdds)
	return nil
}

// Pop implements Queue. kube-scheduler's waits for ever if there is nothing to pop, and pods that back off after an internal
// error are that, though they are counted.
func (k *Kube) Pop() (string, bool, error) {
	flushBackoff(k.queue, k.log)
	if len(k.queue.PodsInActiveQ()) == 0 && !k.backsOffAfterRefusal() {
		return "", false, nil
	}
	entity, err := k.queue.Pop(k.log)
	if err != nil {
		return "", false, err
	}
	info, ok := entity.(*framework.QueuedPodInfo)
	if !ok {
		return "", false, fmt.Errorf("queue: popped a %T", entity)
	}
	k.inFlight[info.Pod.Name] = info
	return info.Pod.Name, true, nil
}

func (k *Kube) backsOffAfterRefusal() bool {
	return slices.ContainsFunc(k.queue.PodsInBackoffQ(), func(p *v1.Pod) bool {
		info, ok := k.queue.GetPod(p.Name, p.Namespace, nil)
		return ok && info.UnschedulablePlugins.Len()+info.PendingPlugins.Len() > 0
	})
}

// Fail implements Queue.
func (k *Kube) Fail(f Failure) error {
	info, ok := k.inFlight[f.Pod]
	if !ok {
		return fmt.Errorf("queue: pod %q is not in flight", f.Pod)
	}
	delete(k.inFlight, f.Pod)
	info.UnschedulablePlugins, info.PendingPlugins = sets.New(f.Plugins...), sets.New(f.Pending...)
	return k.queue.AddUnschedulablePodIfNotPresent(k.log, info, k.queue.SchedulingCycle())
}

// Event implements Queue.
func (k *Kube) Event(e Event) error {
	for _, event := range e.kinds() {
		old, current := e.objects()
		k.queue.MoveAllToActiveOrBackoffQueue(k.log, event, old, current, nil)
	}
	return nil
}

// Advance implements Queue.
func (k *Kube) Advance(by time.Duration) error {
	k.clock.Step(by)
	flushBackoff(k.queue, k.log)
	flushUnschedulable(k.queue, k.log)
	return nil
}

// Pods implements Queue.
func (k *Kube) Pods(part Part) []string {
	list := [...]func() []*v1.Pod{Active: k.queue.PodsInActiveQ, Backoff: k.queue.PodsInBackoffQ, Unschedulable: k.queue.UnschedulablePods}
	var names []string
	for _, p := range list[part]() {
		names = append(names, p.Name)
	}
	slices.Sort(names)
	return names
}
