// Package strategy holds scorers, and some filters, for what requests and labels alone do not say: how load will develop,
// bandwidth, the inside of machines, prices, neighbours, traffic, isolation. All are plugins of package score, made from a
// config, and scale to 0..100, where 100 is best, so that weights mean the same for each.
//
//	strategy      prefers                        score                                             source
//	Forecast      the lowest predicted peak      100 * (1 - (peak + placed + pod)/allocatable)     kube-scheduler's least allocated, on a prediction
//	HoltWinters   (the model of peaks)           level + h*trend + season                          Winters 1960; Hyndman and Athanasopoulos, 8.3
//	Bandwidth     the most memory bandwidth left 100 * (1 - (used + placed + pod)/capacity)        kube-scheduler's least allocated
//	NUMA          a close fit in the machine     100 * weighted mean of package numa's scores      the kubelet's placement; package numa
//	Spot          the lowest expected cost       100 - 100 * (price*share + reclaims*lost)/highest mean of a constant rate; Ghodsi et al. 2011 for share
//	Interference  harmless neighbours            100 / (1 + sum of slow-downs, both ways)          Mars et al. 2011; Delimitrou and Kozyrakis 2013
//	Peers         short ways to its peers        100 * (1 - sum(rate*distance)/(levels*sum(rate))) Meng et al. 2010; topology.Tree
//	Isolation     its runtime, security domain   100 on nodes of the class, else 0                 Kubernetes' RuntimeClass
//
// [Isolation] and [NUMA] are filters too; [Forecast], [Bandwidth] and [NUMA] are reservers too, so that pods that were placed
// since the last measurement count. All are score.Concurrent.
//
// # Data of the caller's, and kept columns
//
// What depends on pod and node alone is score.Local, and its columns are kept: [Interference], [Spot], [Isolation]. Their
// tables are fixed; a new table is a new strategy, in a new pipeline or as a new version in a score.Registry. Where the caller
// hands in data as time goes on, or pods elsewhere matter, the strategy is not Local and is asked for each decision:
// [Forecast], [Bandwidth], [NUMA] (which keeps scores of its own until a state is set again), [Peers] (which keeps counts of
// its own and follows the graph).
//
// # The caller's duties
//
// A strategy belongs to one pipeline and its owner: its methods that take in data must not run during a decision. Data is kept
// by the name of a node until it is forgotten; a node that comes back under its name finds it. Functions in a config must
// follow from the pod's spec, without its name, so that a class of pods has one score.
//
// # Guarantees
//
// The same calls give the same scores: there is no clock and no randomness, and sums are added up in a fixed order. A config
// that makes no sense is refused with score.ErrConfig, bad data later with [ErrData]; both name field and value, and nothing
// has happened. What it means that a node has no data is said at each strategy. What is passed in is not kept, but for
// functions, models and machine states.
package strategy
