package cache

import (
	"math/big"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/internal/gen"
)

func number(d Digest) *big.Int {
	n, ok := new(big.Int).SetString(d.String(), 16)
	if !ok {
		panic(d.String())
	}
	return n
}

func TestDigestsAddModulo2To256(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	modulus := new(big.Int).Lsh(big.NewInt(1), 256)
	draw := func() (d Digest) {
		for i := range d.words {
			d.words[i] = []uint64{0, 1, 1 << 63, ^uint64(0), rng.Uint64()}[rng.IntN(5)]
		}
		return d
	}
	for range 1000 {
		a, b := draw(), draw()
		sum, difference := new(big.Int).Add(number(a), number(b)), new(big.Int).Sub(number(a), number(b))
		require.Equal(t, sum.Mod(sum, modulus), number(a.Add(b)))
		require.Equal(t, difference.Mod(difference, modulus), number(a.Sub(b)))
		require.Equal(t, a, a.Add(b).Sub(b))
		require.Equal(t, a.Add(b), b.Add(a))
	}
}

// TestDigestsArePinned: they are compared between processes, and kept in logs.
func TestDigestsArePinned(t *testing.T) {
	pod := &berth.Pod{Namespace: "default", Name: "web", NodeName: "n1", Requests: berth.Resources{MilliCPU: 100}}
	for _, test := range []struct {
		name, want string
		got        Digest
	}{
		// printf 'node\n{"name":"n1"}' | sha256sum, and so on
		{"node", "5a3335f53daef499adebed700d19cdfc1073cff0230d93d3102898fb38692a76", digestNode(&berth.Node{Name: "n1"})},
		{"namespace", "7ef64bcdd28748831c03c251f6adb1346e0b9aa6afedb68d0629f12f959bf4d2", digestNamespace(&berth.Namespace{Name: "n1"})},
		{"pod", "9a60385cb0643f3bda6a2468e39543366b8e6fad9f0f5a1c929de2ad7be08b84", digestPod(PodState{Spec: pod, Assumed: true, Deadline: time.Unix(0, 0)})},
		{"nomination", "8b193c493141b6697a54e14e97d87f4e48a40be43dda8a8560bacce03b20b21d", digestNomination(Nomination{pod, "n1"})},
	} {
		t.Run(test.name, func(t *testing.T) { require.Equal(t, test.want, test.got.String()) })
	}
}

func TestDigestsTellApart(t *testing.T) {
	pod := &berth.Pod{Namespace: "default", Name: "web", NodeName: "n1"}
	selective := *pod
	selective.DefaultSpreadSelector = &berth.LabelSelector{}
	seen := make(map[Digest]int)
	for i, d := range []Digest{
		{},
		digestNode(&berth.Node{Name: "n1"}),
		digestNamespace(&berth.Namespace{Name: "n1"}),
		digestNode(&berth.Node{Name: "n1", Labels: map[string]string{}}),
		digestNode(&berth.Node{Name: "n1", Labels: map[string]string{"a": "\xff"}}),
		digestNode(&berth.Node{Name: "n1", Labels: map[string]string{"a": "\xfe"}}),
		digestNode(&berth.Node{Name: "n1", Labels: map[string]string{"a": "\ufffd"}}),
		digestPod(PodState{Spec: pod}),
		digestPod(PodState{Spec: &selective}),
		digestPod(PodState{Spec: pod, Assumed: true}),
		digestPod(PodState{Spec: pod, Assumed: true, Deadline: time.Unix(1, 0)}),
		digestPod(PodState{Spec: pod, Assumed: true, Deadline: time.Unix(1, 1)}),
		digestNomination(Nomination{pod, "n1"}),
		digestNomination(Nomination{pod, "n2"}),
		digestNomination(Nomination{pod, ""}),
	} {
		if earlier, found := seen[d]; found {
			t.Errorf("%d and %d have digest %v", earlier, i, d)
		}
		seen[d] = i
	}
}

func TestWhatIsTheSameHasOneDigest(t *testing.T) {
	there := time.Date(2030, 1, 1, 12, 0, 0, 0, time.FixedZone("there", 3600))
	a, b := &berth.Pod{Name: "web", StartTime: there}, &berth.Pod{Name: "web", StartTime: there.UTC()}
	require.Equal(t, digestPod(PodState{Spec: a, Deadline: there}), digestPod(PodState{Spec: b, Deadline: there.UTC()}))
	// That it is hidden follows from the nodes.
	require.Equal(t, digestPod(PodState{Spec: a, Hidden: true}), digestPod(PodState{Spec: a}))
}

func BenchmarkDigest(b *testing.B) {
	g := gen.New(rand.New(rand.NewPCG(1, 2)), gen.Everything())
	node, pod := g.Node(), g.Pod()
	b.Run("node", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			digestNode(&node)
		}
	})
	b.Run("pod", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			digestPod(PodState{Spec: &pod})
		}
	})
}
