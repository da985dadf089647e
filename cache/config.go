package cache

import (
	"context"
	"fmt"
	"runtime/pprof"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/affinity"
)

// Config configures a Cache. The zero value is ready to use.
type Config struct {
	// Graph configures the affinity graphs of replicas and snapshots.
	Graph affinity.Config
	// ShardKey is the topology key whose values divide the nodes among shards. "" means topology.kubernetes.io/zone.
	ShardKey string
	// MaxShards bounds the shards, in 1..4096; the values beyond that share them. 0 means 64.
	MaxShards int
	// History is how many events are kept for replicas, snapshots and logs to follow, in 1..2^24. Who is further behind starts
	// from the whole state. 0 means 16,384.
	History int
	// ProfilerLabels puts the label "berth" on a goroutine while it commits or publishes, for runtime/pprof. Afterwards the
	// goroutine has no labels, whatever it had before.
	ProfilerLabels bool
}

func (cfg Config) withDefaults() (Config, error) {
	if cfg.ShardKey == "" {
		cfg.ShardKey = berth.LabelZone
	}
	if cfg.MaxShards == 0 {
		cfg.MaxShards = 64
	}
	if cfg.History == 0 {
		cfg.History = 1 << 14
	}
	if cfg.MaxShards < 1 || cfg.MaxShards > 4096 {
		return cfg, fmt.Errorf("%w: MaxShards is %d, not in 1..4096", ErrConfig, cfg.MaxShards)
	}
	if cfg.History < 1 || cfg.History > 1<<24 {
		return cfg, fmt.Errorf("%w: History is %d, not in 1..2^24", ErrConfig, cfg.History)
	}
	_, err := affinity.New(cfg.Graph)
	return cfg, err
}

// labelled labels the goroutine until the function that it returns is called.
func (c *Cache) labelled(what string) func() {
	if !c.cfg.ProfilerLabels {
		return func() {}
	}
	pprof.SetGoroutineLabels(pprof.WithLabels(context.Background(), pprof.Labels("berth", what)))
	return func() { pprof.SetGoroutineLabels(context.Background()) }
}
