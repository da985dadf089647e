package score_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/berth-go/berth/score"
)

func TestPluginsAreListedWithTheirWeights(t *testing.T) {
	cfg := score.Config{Scorers: []score.Weighted{{Scorer: byName{"a": 1}}, {Scorer: score.BestFit{}, Weight: 3}}}
	p, err := score.New(three(t), cfg)
	require.NoError(t, err)
	cfg.Scorers[0].Weight = 1 // which 0 means
	assert.Equal(t, cfg.Scorers, p.Scorers())
	assert.Empty(t, p.Filters())
}
