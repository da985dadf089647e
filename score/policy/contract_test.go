package policy_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berth-go/berth/score"
	"github.com/berth-go/berth/score/policy"
	"github.com/berth-go/berth/score/scoretest"
)

func TestFiltersKeepTheContract(t *testing.T) {
	for _, source := range []string{
		`cpu >= 2 * podRequest("cpu") || unschedulable()`,
		`!matchesTaint("dedicated") && memory > 0`,
		`count(cpu > 1) > 10 && present(podLabel("app"))`,
	} {
		t.Run(source, func(t *testing.T) {
			e, err := policy.Parse(source, policy.Config{})
			require.NoError(t, err)
			scoretest.Suite{}.Filter(t, func() score.Filter {
				f, err := policy.NewFilter("rule", e)
				require.NoError(t, err)
				return f
			})
		})
	}
}

func TestScorersKeepTheContract(t *testing.T) {
	for _, source := range []string{
		`100 * (cpu - podRequest("cpu")) / allocatable("cpu")`,
		`8Pi * podsWithLabel("app") - memory`,
		`count(cpu > 1) - requested("pods")`,
	} {
		t.Run(source, func(t *testing.T) {
			e, err := policy.Parse(source, policy.Config{})
			require.NoError(t, err)
			scoretest.Suite{}.Scorer(t, func() score.Scorer {
				s, err := policy.NewScorer("rule", e)
				require.NoError(t, err)
				return s
			})
		})
	}
}
