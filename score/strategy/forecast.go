package strategy

import (
	"github.com/berth-go/berth"
	"github.com/berth-go/berth/score"
	"github.com/berth-go/berth/topology"
)

// Forecaster predicts the use of nodes: a model of the caller's, or a HoltWinters.
type Forecaster interface {
	// Peak returns the highest use of a node that is predicted over the model's horizon, in 0..2^50 of the resource's
	// unit, and false if the model knows nothing of the node. It changes nothing, and several goroutines may call it at a
	// time.
	Peak(node string) (use float64, ok bool)
}

// ForecastConfig configures a Forecast.
type ForecastConfig struct {
	// Model predicts. It must not be nil.
	Model Forecaster
	// Resource is what the model predicts the use of, in the units of Graph.Amount: milli CPU, bytes. "" means CPU.
	Resource string
	// Use returns what a pod is expected to use, in 0..2^50. It must follow from the pod's spec; several goroutines may call it
	// at a time. Nil means what the pod requests.
	Use func(*berth.Pod) float64
}

// Forecast prefers the node whose predicted peak of utilisation is the lowest. Make one with NewForecast.
//
//	score = 100 * (1 - (peak + placed + pod) / allocatable), cut to 0..100
//
// peak is the model's, pod what the pod is expected to use, placed what pods are that Reserve was told of since Settle. On a
// node that the model does not know, what its pods request takes the place of peak + placed. A node that offers none of the
// resource scores 0.
//
// It is kube-scheduler's least-allocated formula (plugins/noderesources/least_allocated.go) on a predicted peak in place of
// requests. That pods placed since the last measurement count too is from kubernetes-sigs/scheduler-plugins
// (pkg/trimaran/targetloadpacking).
//
// It is not Local, as the model changes without the node: its column is computed for each decision. As a score.Reserver it
// takes note of the pods that are placed. Settle must not be called, nor the model changed, during a decision.
type Forecast struct {
	cfg    ForecastConfig
	placed placed
}

// NewForecast returns a Forecast. The error wraps score.ErrConfig.
func NewForecast(cfg ForecastConfig) (*Forecast, error) {
	if cfg.Model == nil {
		return nil, misconfigured("Forecast: Model is nil")
	}
	if cfg.Resource == "" {
		cfg.Resource = berth.ResourceCPU
	}
	if cfg.Use == nil {
		resource := cfg.Resource
		cfg.Use = func(p *berth.Pod) float64 { return float64(p.Requests.Get(resource)) }
	}
	return &Forecast{cfg: cfg}, nil
}

// Name returns "Forecast".
func (*Forecast) Name() string { return "Forecast" }

// Concurrent promises that Score may be called by several goroutines at a time.
func (*Forecast) Concurrent() {}

// Score asks the model once a node. The error wraps ErrData if the model or Use returns what is no amount.
func (f *Forecast) Score(in *score.Input, nodes []topology.NodeID, column []int64) error {
	use, err := f.use(in.Pod)
	if err != nil {
		return err
	}
	x := in.Graph.Topology()
	for _, n := range nodes {
		name := x.Name(n)
		allocatable, requested := in.Graph.Amount(n, f.cfg.Resource)
		total := float64(requested)
		if peak, ok := f.cfg.Model.Peak(name); ok {
			if !amount(peak) {
				return badData("Forecast: Model.Peak(%q) is %v, want 0..2^50", name, peak)
			}
			total = peak + f.placed.on(name)
		}
		column[n] = 0
		if allocatable > 0 {
			column[n] = percent(1 - (total+use)/float64(allocatable))
		}
	}
	return nil
}

func (f *Forecast) use(p *berth.Pod) (float64, error) {
	use := f.cfg.Use(p)
	if !amount(use) {
		return 0, badData("Forecast: Use of pod %v is %v, want 0..2^50", p.Key(), use)
	}
	return use, nil
}

// Reserve adds the pod's expected use to the node's.
func (f *Forecast) Reserve(in *score.Input, n topology.NodeID) error {
	use, err := f.use(in.Pod)
	if err == nil {
		f.placed.add(in.Graph.Topology().Name(n), in.Pod.Key(), use)
	}
	return err
}

// Unreserve takes it away again.
func (f *Forecast) Unreserve(in *score.Input, n topology.NodeID) {
	f.placed.remove(in.Graph.Topology().Name(n), in.Pod.Key())
}

// Settle tells that the model's samples of the node have the pods in them that were placed there.
func (f *Forecast) Settle(node string) { f.placed.settle(node) }
