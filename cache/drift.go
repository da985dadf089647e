package cache

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/berth-go/berth"
)

// Observed is what a fresh list of the control plane says. Of two objects with one name the later counts. Pods that name
// no node are not placed, and left out.
type Observed struct {
	Namespaces []*berth.Namespace
	Nodes      []*berth.Node
	Pods       []*berth.Pod
	// Time is when the list was made, by the clock of the control plane, and StateTime the same moment by the clock of
	// those who give the cache its deadlines and call Advance. Either may be zero: then the clocks are not compared, and
	// without StateTime nothing is known of the age of assumed pods.
	Time, StateTime time.Time
}

// DriftConfig says what Diff lets pass. The zero value is ready to use.
type DriftConfig struct {
	// MaxClockDrift is how far the two clocks may be apart. 0 means 1 second.
	MaxClockDrift time.Duration
	// MaxAssumed is how long a pod may be assumed before it is extra if it was not observed. 0 means 15 minutes.
	MaxAssumed time.Duration
	// AssumedAt tells when a pod was assumed, by the clock of StateTime; the zero time if that is not known. Where it is
	// not known, or if AssumedAt is nil, a pod is not extra before its deadline, and without one never.
	AssumedAt func(berth.PodKey) time.Time
}

func (cfg DriftConfig) withDefaults() DriftConfig {
	if cfg.MaxClockDrift == 0 {
		cfg.MaxClockDrift = time.Second
	}
	if cfg.MaxAssumed == 0 {
		cfg.MaxAssumed = 15 * time.Minute
	}
	return cfg
}

// DriftKind is a way in which a state differs from what is observed.
type DriftKind uint8

// The kinds of drift.
const (
	// Missing: the object was observed, and is not in the state.
	Missing DriftKind = iota + 1
	// Stale: the state has another spec of the object, or only assumes the pod.
	Stale
	// ResourceMismatch: the amounts differ that the node offers or the pod requests, whatever else does.
	ResourceMismatch
	// Extra: the object is in the state, and was not observed.
	Extra
	// ClockDrift: the clocks are too far apart.
	ClockDrift
)

// String returns the name of the kind.
func (k DriftKind) String() string {
	names := [...]string{
		Missing: "missing", Stale: "stale", ResourceMismatch: "resource mismatch", Extra: "extra", ClockDrift: "clock drift",
	}
	if int(k) < len(names) && names[k] != "" {
		return names[k]
	}
	return fmt.Sprintf("DriftKind(%d)", uint8(k))
}

// Drift is one difference between a state and what is observed.
type Drift struct {
	Kind DriftKind
	// One of them says which object it is: the observed one, or that of the state if it is extra.
	Namespace *berth.Namespace
	Node      *berth.Node
	Pod       *berth.Pod
	// Assumed is true if the state only assumes the pod.
	Assumed bool
	// Fields are the fields that differ, by their names in JSON, for Stale and ResourceMismatch.
	Fields []string
	// Amounts are the amounts that differ, for ResourceMismatch.
	Amounts []Amount
	// Clock is how far the clock of the control plane is ahead, for ClockDrift; negative if it is behind.
	Clock time.Duration
}

// Amount is an amount of a resource that differs: what a node offers or a pod requests.
type Amount struct {
	// Resource is the resource by its name, "cpu" in thousandths. "gpus" is the number of shareable GPUs of a node, and "gpu"
	// what a pod requests of them, in thousandths of one.
	Resource        string
	State, Observed int64
}

// String tells the difference in one line.
func (d *Drift) String() string {
	if d.Kind == ClockDrift {
		return fmt.Sprintf("%v: the control plane's clock is ahead by %v", d.Kind, d.Clock)
	}
	var b strings.Builder
	switch {
	case d.Namespace != nil:
		fmt.Fprintf(&b, "namespace %s: %v", d.Namespace.Name, d.Kind)
	case d.Node != nil:
		fmt.Fprintf(&b, "node %s: %v", d.Node.Name, d.Kind)
	case d.Pod != nil:
		fmt.Fprintf(&b, "pod %v on %s: %v", d.Pod.Key(), d.Pod.NodeName, d.Kind)
	}
	if d.Assumed {
		b.WriteString(", assumed")
	}
	if len(d.Fields) > 0 {
		fmt.Fprintf(&b, ", differs in %s", strings.Join(d.Fields, ", "))
	}
	for _, a := range d.Amounts {
		fmt.Fprintf(&b, "; %s is %d, not %d", a.Resource, a.Observed, a.State)
	}
	return b.String()
}

// Diff lists how a snapshot differs from what is observed: first the clocks, then namespaces, nodes and pods, by name. Each
// object is listed once. GPUs that the cache gave to a pod which does not name any are no difference. Promises of room
// are not compared. O(n log n) for n objects.
//
// The snapshot should be of the moment of the list: what was in flight between the two is drift, too.
func Diff(s *Snapshot, observed Observed, cfg DriftConfig) []Drift {
	cfg = cfg.withDefaults()
	var drifts []Drift
	if ahead := observed.Time.Sub(observed.StateTime); !observed.Time.IsZero() && !observed.StateTime.IsZero() &&
		(ahead > cfg.MaxClockDrift || ahead < -cfg.MaxClockDrift) {
		drifts = append(drifts, Drift{Kind: ClockDrift, Clock: ahead})
	}
	drifts = append(drifts, diffNamespaces(s, observed.Namespaces)...)
	drifts = append(drifts, diffNodes(s, observed.Nodes)...)
	return append(drifts, diffPods(s, &observed, &cfg)...)
}

func diffNamespaces(s *Snapshot, observed []*berth.Namespace) []Drift {
	state, list := make(map[string]*berth.Namespace), make(map[string]*berth.Namespace)
	for ns := range s.Namespaces() {
		state[ns.Name] = ns
	}
	for _, ns := range observed {
		list[ns.Name] = ns
	}
	var drifts []Drift
	for _, name := range union(state, list, cmp.Compare[string]) {
		switch have, want := state[name], list[name]; {
		case have == nil:
			drifts = append(drifts, Drift{Kind: Missing, Namespace: want})
		case want == nil:
			drifts = append(drifts, Drift{Kind: Extra, Namespace: have})
		default:
			if fields := differing(have, want); fields != nil {
				drifts = append(drifts, Drift{Kind: Stale, Namespace: want, Fields: fields})
			}
		}
	}
	return drifts
}

func diffNodes(s *Snapshot, observed []*berth.Node) []Drift {
	state, list := make(map[string]*berth.Node), make(map[string]*berth.Node)
	for n := range s.Nodes() {
		state[n.Name] = n
	}
	for _, n := range observed {
		list[n.Name] = n
	}
	var drifts []Drift
	for _, name := range union(state, list, cmp.Compare[string]) {
		switch have, want := state[name], list[name]; {
		case have == nil:
			drifts = append(drifts, Drift{Kind: Missing, Node: want})
		case want == nil:
			drifts = append(drifts, Drift{Kind: Extra, Node: have})
		default:
			if fields := differing(have, want); fields != nil {
				d := Drift{Kind: Stale, Node: want, Fields: fields, Amounts: nodeAmounts(have, want)}
				drifts = append(drifts, d.classified())
			}
		}
	}
	return drifts
}

func diffPods(s *Snapshot, observed *Observed, cfg *DriftConfig) []Drift {
	state, list := make(map[berth.PodKey]PodState), make(map[berth.PodKey]*berth.Pod)
	for p := range s.AllPods() {
		state[p.Spec.Key()] = p
	}
	for _, p := range observed.Pods {
		if key := p.Key(); p.NodeName != "" {
			list[key] = p
		} else {
			delete(list, key)
		}
	}
	var drifts []Drift
	for _, key := range union(state, list, berth.PodKey.Compare) {
		switch have, want := state[key], list[key]; {
		case have.Spec == nil:
			drifts = append(drifts, Drift{Kind: Missing, Pod: want})
		case want == nil:
			if !have.Assumed || cfg.overdue(&have, observed.StateTime) {
				drifts = append(drifts, Drift{Kind: Extra, Pod: have.Spec, Assumed: have.Assumed})
			}
		default:
			fields := differingPods(have.Spec, want)
			if have.Assumed {
				fields = append(fields, "assumed")
			}
			if fields != nil {
				d := Drift{Kind: Stale, Pod: want, Assumed: have.Assumed, Fields: fields, Amounts: podAmounts(have.Spec, want)}
				drifts = append(drifts, d.classified())
			}
		}
	}
	return drifts
}

// overdue tells whether a pod has been assumed for too long.
func (cfg *DriftConfig) overdue(p *PodState, now time.Time) bool {
	if now.IsZero() {
		return false
	}
	if cfg.AssumedAt != nil {
		if at := cfg.AssumedAt(p.Spec.Key()); !at.IsZero() {
			return now.Sub(at) > cfg.MaxAssumed
		}
	}
	return !p.Deadline.IsZero() && !now.Before(p.Deadline)
}

// classified makes a stale object one whose resources differ, if they do.
func (d Drift) classified() Drift {
	if len(d.Amounts) > 0 {
		d.Kind = ResourceMismatch
	}
	return d
}

// union returns the keys of both maps in order.
func union[K comparable, A, B any](a map[K]A, b map[K]B, compare func(K, K) int) []K {
	keys := slices.AppendSeq(slices.Collect(maps.Keys(a)), maps.Keys(b))
	slices.SortFunc(keys, compare)
	return slices.Compact(keys)
}
