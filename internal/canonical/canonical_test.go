package canonical

import (
	"encoding/json"
	"errors"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/internal/gen"
)

func TestAppendAppends(t *testing.T) {
	b, err := Append([]byte("pod "), &berth.Pod{Namespace: "default", Name: "web", Labels: map[string]string{"b": "<", "a": "\ufffd \\ufffd"}})
	require.NoError(t, err)
	require.Equal(t, `pod {"namespace":"default","name":"web","labels":{"a":"`+"\ufffd"+` \\ufffd","b":"\u003c"}}`, string(b))
}

func TestRandomSpecsComeBack(t *testing.T) {
	for seed := range uint64(20) {
		g := gen.New(rand.New(rand.NewPCG(seed, 1)), gen.Everything())
		c := g.Cluster()
		for i := range c.Nodes {
			comesBack(t, &c.Nodes[i])
		}
		for i := range c.Pods {
			require.Same(t, &c.Pods[i], Pod(&c.Pods[i]))
			comesBack(t, &c.Pods[i])
		}
		for i := range c.Namespaces {
			comesBack(t, &c.Namespaces[i])
		}
	}
}

func comesBack[T any](t *testing.T, spec *T) {
	t.Helper()
	b, err := Append(nil, spec)
	require.NoError(t, err)
	got := new(T)
	require.NoError(t, json.Unmarshal(b, got))
	if !reflect.DeepEqual(spec, got) {
		t.Fatalf("%s\ncame back as\n%+v", b, got)
	}
}

func TestWhatJSONCannotCarryIsNamed(t *testing.T) {
	long := strings.Repeat("x", 100) + "\xff"
	for name, test := range map[string]struct {
		spec        any
		path, value string
	}{
		"text":         {&berth.Node{Name: "n\xff"}, "name", "n\xff"},
		"label value":  {&berth.Node{Labels: map[string]string{"a": "fine", "b": "\xff"}}, "labels[b]", "\xff"},
		"label key":    {&berth.Node{Labels: map[string]string{"\xff": ""}}, "labels[\xff]", "\xff"},
		"list element": {&berth.Node{Images: []berth.ContainerImage{{}, {Names: []string{"a", "\xff"}}}}, "images[1].names[1]", "\xff"},
		"typed text":   {&berth.Pod{Tolerations: []berth.Toleration{{Effect: "\xff"}}}, "tolerations[0].effect", "\xff"},
		"behind a pointer": {&berth.Pod{DefaultSpreadSelector: &berth.LabelSelector{MatchLabels: map[string]string{"a": "\xff"}}},
			"defaultSpreadSelector.matchLabels[a]", "\xff"},
		"long text": {&berth.Namespace{Name: long}, "name", long[:80] + "..."},
		"year":      {&berth.Pod{StartTime: time.Date(10_000, 1, 1, 0, 0, 0, 0, time.UTC)}, "startTime", "10000-01-01 00:00:00 +0000 UTC"},
	} {
		t.Run(name, func(t *testing.T) {
			b, err := Append([]byte("before"), test.spec)
			var fault *berth.Fault
			require.True(t, errors.As(err, &fault), "%v", err)
			require.Equal(t, []string{test.path, test.value, "before"}, []string{fault.Path, fault.Value, string(b)})
		})
	}
}

func TestOneInstantHasOneForm(t *testing.T) {
	there := time.Date(2030, 1, 1, 0, 0, 0, 1, time.FixedZone("Amsterdam", 1172)) // an offset that JSON would round
	b, err := Append(nil, Pod(&berth.Pod{StartTime: there}))
	require.NoError(t, err)
	var got berth.Pod
	require.NoError(t, json.Unmarshal(b, &got))
	require.True(t, got.StartTime.Equal(there))
	again, err := Append(nil, Pod(&berth.Pod{StartTime: there.UTC()}))
	require.NoError(t, err)
	require.Equal(t, b, again)
	require.Nil(t, Pod(nil))
}

func TestAppendAllTellsApart(t *testing.T) {
	specs := []any{
		&berth.Pod{Name: "\xff"}, &berth.Pod{Name: "\xfe"}, &berth.Pod{Name: "\ufffd"}, &berth.Pod{Name: `\xff`},
		&berth.Pod{Namespace: "\xff"}, &berth.Pod{Name: "\xff", Labels: map[string]string{}},
		&berth.Pod{Name: "\xff", Labels: map[string]string{"": ""}}, &berth.Pod{Name: "\xff", Terminating: true},
		&berth.Pod{Name: "\xff", Priority: 1}, &berth.Pod{Name: "\xff", Images: []string{}},
		&berth.Pod{Name: "\xff", Images: []string{""}}, &berth.Pod{Name: "\xff", DefaultSpreadSelector: &berth.LabelSelector{}},
		&berth.Pod{Name: "\xff", StartTime: time.Unix(0, 1)}, &berth.Pod{Name: "\xff", StartTime: time.Unix(1, 0)},
		&berth.Pod{StartTime: time.Unix(1<<40, 0)}, &berth.Pod{StartTime: time.Unix(1<<40, 1)},
		&struct {
			Name    string `json:"name"`
			Version uint64 `json:"version"`
		}{"\xff", 1},
	}
	seen := make(map[string]int)
	for i, spec := range specs {
		bytes := string(AppendAll(nil, spec))
		if earlier, found := seen[bytes]; found {
			t.Errorf("%d and %d are both %q", earlier, i, bytes)
		}
		seen[bytes] = i
		require.Equal(t, bytes, string(AppendAll(nil, spec)))
	}
}
