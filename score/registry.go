package score

import (
	"errors"
	"fmt"
	"slices"

	"github.com/berth-go/berth"
)

// Plugin is one version of a strategy as a Registry holds it: any of a filter, a scorer and a reserver, which are used
// together for the pods that the version serves.
type Plugin struct {
	// Name and Version identify the plugin. Neither may be empty.
	Name, Version string
	Filter        Filter
	Scorer        Scorer
	// Weight multiplies the score, in 1..2^20. 0 means 1.
	Weight   int64
	Reserver Reserver
	// Share is the part of the pods that this version serves, in 0..1. The first version of a name serves those that are
	// left, whatever its own share.
	Share float64
	// Close is called by Registry.Close. It may be nil.
	Close func() error
}

// PluginID identifies a Plugin.
type PluginID struct{ Name, Version string }

// Registry holds plugins by name and version. The zero value is empty and ready to use. It belongs to the owner of the
// pipelines that use it (Config.Registry): no method may run during a decision.
//
// Which version of a name serves a pod follows from the shares and from a hash of the name and the pod's UID, or its key if
// it has no UID. The same pod gets the same version as long as shares stay, and pods that a version serves stay with it
// when its share grows and those of the versions before it do not change.
type Registry struct {
	names  []*versions
	closed bool
}

// versions are the versions of one name, in the order in which they came.
type versions struct {
	name string
	all  []*registered
}

type registered struct {
	Plugin
	scorer *scorer // nil without Scorer
}

// Register adds a plugin. The error wraps ErrConfig.
func (r *Registry) Register(p Plugin) error {
	at := fmt.Sprintf("plugin %q, version %q", p.Name, p.Version)
	switch {
	case r.closed:
		return fmt.Errorf("%w: %s: the registry is closed", ErrConfig, at)
	case p.Name == "" || p.Version == "":
		return fmt.Errorf("%w: %s: name or version is empty", ErrConfig, at)
	case p.Filter == nil && p.Scorer == nil && p.Reserver == nil:
		return fmt.Errorf("%w: %s: it has no filter, no scorer and no reserver", ErrConfig, at)
	case p.Weight < 0 || p.Weight > maxWeight:
		return fmt.Errorf("%w: %s: weight %d is not in 0..%d", ErrConfig, at, p.Weight, maxWeight)
	}
	if _, err := r.find(p.Name, p.Version); err == nil {
		return fmt.Errorf("%w: %s: it is registered", ErrConfig, at)
	}
	i := slices.IndexFunc(r.names, func(v *versions) bool { return v.name == p.Name })
	if i < 0 {
		if err := checkShares(at, p.Share); err != nil {
			return err
		}
		i = len(r.names)
		r.names = append(r.names, &versions{name: p.Name})
	} else if err := checkShares(at, append(r.names[i].shares(nil), p.Share)...); err != nil {
		return err
	}
	v := &registered{Plugin: p}
	if p.Scorer != nil {
		v.scorer = newScorer(Weighted{p.Scorer, max(p.Weight, 1)})
		v.scorer.column = "plugin " + p.Name + "@" + p.Version
	}
	r.names[i].all = append(r.names[i].all, v)
	return nil
}

// shares returns the shares of the versions that have one: all but the first, and but one that is left out.
func (v *versions) shares(but *registered) []float64 {
	var shares []float64
	for _, w := range v.all[1:] {
		if w != but {
			shares = append(shares, w.Share)
		}
	}
	return shares
}

func checkShares(at string, shares ...float64) error {
	var sum float64
	for _, s := range shares {
		if !(s >= 0 && s <= 1) {
			return fmt.Errorf("%w: %s: share %v is not in 0..1", ErrConfig, at, s)
		}
		sum += s
	}
	if sum > 1 {
		return fmt.Errorf("%w: %s: the shares add up to %v, more than 1", ErrConfig, at, sum)
	}
	return nil
}

func (r *Registry) find(name, version string) (*registered, error) {
	for _, v := range r.names {
		for _, w := range v.all {
			if w.Name == name && w.Version == version {
				return w, nil
			}
		}
	}
	return nil, fmt.Errorf("%w: plugin %q, version %q: it is not registered", ErrConfig, name, version)
}

// SetWeight changes the weight of a plugin's score. The error wraps ErrConfig.
func (r *Registry) SetWeight(name, version string, weight int64) error {
	w, err := r.find(name, version)
	switch {
	case err != nil:
		return err
	case w.scorer == nil:
		return fmt.Errorf("%w: plugin %q, version %q: it has no scorer", ErrConfig, name, version)
	case weight < 1 || weight > maxWeight:
		return fmt.Errorf("%w: plugin %q, version %q: weight %d is not in 1..%d", ErrConfig, name, version, weight, maxWeight)
	}
	w.Weight, w.scorer.weight = weight, weight
	return nil
}

// SetShare changes the part of the pods that a version serves: 0 ends a canary, 1 makes it serve all. The error wraps
// ErrConfig; the first version of a name has what the others leave.
func (r *Registry) SetShare(name, version string, share float64) error {
	w, err := r.find(name, version)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(r.names, func(v *versions) bool { return v.name == name })
	at := fmt.Sprintf("plugin %q, version %q", name, version)
	if w == r.names[i].all[0] {
		return fmt.Errorf("%w: %s: the first version has what the others leave", ErrConfig, at)
	}
	if err := checkShares(at, append(r.names[i].shares(w), share)...); err != nil {
		return err
	}
	w.Share = share
	return nil
}

// Plugins returns what serves a pod: a version for each name, in the order in which the names came.
func (r *Registry) Plugins(pod *berth.Pod) []PluginID {
	ids := make([]PluginID, len(r.names))
	for i, v := range r.names {
		w := v.serving(pod)
		ids[i] = PluginID{w.Name, w.Version}
	}
	return ids
}

// Close calls Close of all plugins, the last one first, and returns their errors joined. Afterwards there is no plugin.
// A second Close does nothing.
func (r *Registry) Close() error {
	var errs []error
	for _, v := range slices.Backward(r.names) {
		for _, w := range slices.Backward(v.all) {
			if w.Close == nil {
				continue
			}
			if err := w.Close(); err != nil {
				errs = append(errs, fmt.Errorf("score: plugin %q, version %q: %w", w.Name, w.Version, err))
			}
		}
	}
	r.names, r.closed = nil, true
	return errors.Join(errs...)
}

// serving returns the version for a pod: the shares are laid side by side from 0 to 1, and the pod is a point there.
func (v *versions) serving(pod *berth.Pod) *registered {
	if len(v.all) > 1 {
		at := point(v.name, pod)
		for _, w := range v.all[1:] {
			if at -= w.Share; at < 0 {
				return w
			}
		}
	}
	return v.all[0]
}

// point is a pod's place in [0, 1) for the versions of a name: by FNV-1a and the finaliser of splitmix64, as FNV alone
// leaves the high bits of short strings that differ at the end alike.
func point(name string, pod *berth.Pod) float64 {
	const offset, prime = 14695981039346656037, 1099511628211
	h := uint64(offset)
	add := func(s string) {
		for i := range len(s) {
			h = (h ^ uint64(s[i])) * prime
		}
		h = (h ^ 0xff) * prime // no byte of UTF-8, so that strings don't run together
	}
	add(name)
	if pod.UID != "" {
		add(pod.UID)
	} else {
		add(pod.Namespace)
		add(pod.Name)
	}
	h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>27) * 0x94d049bb133111eb
	h ^= h >> 31
	return float64(h>>11) / (1 << 53)
}

// with are the plugins of one decision: those of the Config, and of the Registry those that serve the pod.
type with struct {
	filters   []Filter
	scorers   []*scorer
	reservers []Reserver
}

// take makes w the plugins for a pod that ids serve.
func (w *with) take(p *Pipeline, ids []PluginID) {
	w.filters = append(w.filters[:0], p.filters...)
	w.scorers = append(w.scorers[:0], p.scorers...)
	w.reservers = append(w.reservers[:0], p.reservers...)
	for _, id := range ids {
		v, err := p.registry.find(id.Name, id.Version)
		if err != nil {
			continue // gone since
		}
		if v.Filter != nil {
			w.filters = append(w.filters, v.Filter)
		}
		if v.scorer != nil {
			w.scorers = append(w.scorers, v.scorer)
		}
		if v.Reserver != nil {
			w.reservers = append(w.reservers, v.Reserver)
		}
	}
}
