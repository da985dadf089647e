package strategy

import (
	"maps"
	"math"
	"slices"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/score"
	"github.com/berth-go/berth/topology"
)

// Price is what a node costs, in any currency, the same for all.
type Price struct {
	// Hourly is the price of the whole node for an hour, in 0..10^6.
	Hourly float64
	// Reclaims is how often the node is expected to be taken away in an hour, in 0..3600: 0.05 is once in twenty hours. 0 is a
	// node that stays.
	Reclaims float64
}

// Offer is the price of the nodes that carry all of the labels: an instance type, a capacity type, a zone.
type Offer struct {
	// Labels of nodes; empty means all nodes.
	Labels map[string]string
	Price  Price
}

// SpotConfig configures a Spot.
type SpotConfig struct {
	// Offers are tried in their order; a node has the price of the first that it matches.
	Offers []Offer
	// Nodes are prices of single nodes, by name, which go before Offers.
	Nodes map[string]Price
	// Lost returns what one reclaim costs a pod: the work that has to be done again, the time to start, the penalty, in
	// 0..10^6 of the currency. With checkpoints it is about what half an interval between two costs (Young, "A First Order
	// Approximation to the Optimum Checkpoint Interval", CACM 17(9), 1974). It must follow from the pod's spec; several
	// goroutines may call it at a time. Nil means that nothing is lost.
	Lost func(*berth.Pod) float64
	// Whole counts the whole node's price, for pods that get nodes for themselves, in place of the pod's share of it.
	Whole bool
}

// Spot prefers the node where an hour of the pod is expected to cost least. Make one with NewSpot.
//
//	cost  = Hourly * share + Reclaims * Lost(pod)
//	score = 100 - 100 * cost / (highest cost of the feasible nodes)
//
// share is the largest part of the node's CPU, memory and GPUs that the pod requests (its dominant share: Ghodsi et al.,
// "Dominant Resource Fairness", NSDI 2011), at most 1; CPU and memory as in resource scores (Pod.ScoreRequests), so that a pod
// without requests has a price too. A node that neither Nodes nor Offers tell of has the highest
// Hourly and the highest Reclaims of all: nothing says that it is cheap.
//
// The cost is the mean for reclaims that come at a constant rate. The scale is that of kube-scheduler's reverse
// DefaultNormalizeScore (plugins/helper/normalize_score.go); before it, scores are the negative cost in millionths, where
// a cost of more than 10^6 counts as that.
//
// Prices are fixed, so that the column is kept. New prices are a new Spot: in a new Pipeline, or as a new version in a
// score.Registry.
type Spot struct {
	offers  []offer
	nodes   map[string]Price
	unknown Price
	lost    func(*berth.Pod) float64
	whole   bool
}

type offer struct {
	labels labels
	price  Price
}

// NewSpot returns a Spot. The error wraps score.ErrConfig.
func NewSpot(cfg SpotConfig) (*Spot, error) {
	if len(cfg.Offers) > berth.MaxItems {
		return nil, misconfigured("Spot: there are %d Offers, want at most %d", len(cfg.Offers), berth.MaxItems)
	}
	s := &Spot{nodes: maps.Clone(cfg.Nodes), lost: cfg.Lost, whole: cfg.Whole}
	for i, o := range cfg.Offers {
		if field, v, ok := o.Price.fault(); ok {
			return nil, misconfigured("Spot: Offers[%d].Price.%s is %v, out of range", i, field, v)
		}
		s.offers = append(s.offers, offer{labelsOf(o.Labels), o.Price})
		s.unknown = s.unknown.highest(o.Price)
	}
	for _, name := range slices.Sorted(maps.Keys(cfg.Nodes)) {
		p := cfg.Nodes[name]
		if field, v, ok := p.fault(); ok {
			return nil, misconfigured("Spot: Nodes[%q].%s is %v, out of range", name, field, v)
		}
		s.unknown = s.unknown.highest(p)
	}
	return s, nil
}

// fault returns the first field that is out of range, if there is one.
func (p Price) fault() (field string, value float64, ok bool) {
	switch {
	case !(p.Hourly >= 0 && p.Hourly <= 1e6):
		return "Hourly", p.Hourly, true
	case !(p.Reclaims >= 0 && p.Reclaims <= 3600):
		return "Reclaims", p.Reclaims, true
	}
	return "", 0, false
}

func (p Price) highest(o Price) Price {
	return Price{max(p.Hourly, o.Hourly), max(p.Reclaims, o.Reclaims)}
}

// Name returns "Spot".
func (*Spot) Name() string { return "Spot" }

// Local promises that a score depends on pod class and node alone.
func (*Spot) Local() {}

// Concurrent promises that Score may be called by several goroutines at a time.
func (*Spot) Concurrent() {}

// Score takes O(offers * labels + nodes * offers * labels). The error wraps ErrData if Lost returns what is out of range.
func (s *Spot) Score(in *score.Input, nodes []topology.NodeID, column []int64) error {
	var lost float64
	if s.lost != nil {
		if lost = s.lost(in.Pod); !(lost >= 0 && lost <= 1e6) {
			return badData("Spot: Lost of pod %v is %v, want 0..10^6", in.Pod.Key(), lost)
		}
	}
	matchers := s.matchers(in.Graph.Topology())
	for _, n := range nodes {
		price := s.price(in.Graph.Topology(), n, matchers)
		share := 1.0
		if !s.whole {
			share = dominantShare(in, n)
		}
		cost := float64(price.Hourly*share) + float64(price.Reclaims*lost)
		column[n] = -int64(math.Round(1e6 * min(cost, 1e6)))
	}
	return nil
}

// matcher is an offer on a graph: the labels as domains.
type matcher struct {
	domains []topology.Domain
	price   Price
}

// matchers returns the offers that some node may match.
func (s *Spot) matchers(x *topology.Index) []matcher {
	list := make([]matcher, 0, len(s.offers))
	for _, o := range s.offers {
		if domains, ok := o.labels.domains(x); ok {
			list = append(list, matcher{domains, o.price})
		}
	}
	return list
}

func (s *Spot) price(x *topology.Index, n topology.NodeID, matchers []matcher) Price {
	if len(s.nodes) > 0 {
		if price, ok := s.nodes[x.Name(n)]; ok {
			return price
		}
	}
	for i := range matchers {
		other := func(d topology.Domain) bool { return x.Value(n, d.Key) != d.Value }
		if !slices.ContainsFunc(matchers[i].domains, other) {
			return matchers[i].price
		}
	}
	return s.unknown
}

// dominantShare is the largest part of what the node offers that the pod requests, at most 1.
func dominantShare(in *score.Input, n topology.NodeID) float64 {
	var share float64
	of := func(request, offered int64) {
		switch {
		case request <= 0:
		case request >= offered:
			share = 1
		default:
			share = max(share, float64(request)/float64(offered))
		}
	}
	cpu, _ := in.Graph.Amount(n, berth.ResourceCPU)
	memory, _ := in.Graph.Amount(n, berth.ResourceMemory)
	requests := in.Pod.ScoreRequests()
	of(requests.MilliCPU, cpu)
	of(requests.Memory, memory)
	of(in.Pod.GPU.Total(), int64(len(in.Graph.GPUFree(n)))*berth.GPUMilli)
	return share
}

// Normalize turns costs into 0..100.
func (s *Spot) Normalize(_ *score.Input, feasible []topology.NodeID, column []int64) error {
	var highest int64
	for _, n := range feasible {
		highest = max(highest, -column[n])
	}
	for _, n := range feasible {
		if highest == 0 {
			column[n] = 100
			continue
		}
		column[n] = 100 - 100*-column[n]/highest
	}
	return nil
}
