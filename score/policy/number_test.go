package policy

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestNumbersAreExactRoundedTowardsZeroAndSaturated(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	draw := func() Number {
		n := Number(rng.Uint64()) >> rng.IntN(64)
		switch rng.IntN(12) {
		case 0:
			return maxNumber - n&3
		case 1:
			return minNumber + n&3
		case 2:
			return n % 3
		}
		return n
	}
	for range 4_000 {
		x, y := draw(), draw()
		for k := add; k <= modulo; k++ {
			want := naiveArithmetic(k, exact(x), exact(y))
			z, ok := k.compute(x, y)
			require.Equal(t, want != nil, ok, "%v %v %v", x, k, y)
			if ok {
				require.Zero(t, want.Cmp(exact(z)), "%v %v %v is %v, want %v", x, k, y, z, want)
			}
		}
		require.Zero(t, rounded(exact(x).Neg(exact(x))).Cmp(exact(x.negate())), x)
		require.Zero(t, whole(int64(x)).Cmp(exact(Whole(int64(x)))), x)
	}
}

func TestComparisonsOfBlocksAreThoseOfNumbers(t *testing.T) {
	var x, y block
	for i := range x {
		x[i] = []Number{minNumber, -1, 0, 1, maxNumber}[i%5]
		y[i] = []Number{minNumber, -1, 0, 1, maxNumber}[i/5%5]
	}
	for k := equal; k <= greaterEqual; k++ {
		mask := k.compareBlock(&x, &y)
		for i := range x {
			require.Equal(t, k.compares(x[i], y[i]), mask>>i&1 == 1, "%v %v %v", x[i], k, y[i])
		}
	}
}

func TestNumbersAreReadWithUnits(t *testing.T) {
	for _, test := range []struct {
		text  string
		milli int64
		ok    bool
	}{
		{"0", 0, true},
		{"4", 4000, true},
		{"500m", 500, true},
		{"0.5", 500, true},
		{"1.234", 1234, true},
		{"1.2340000000000000000000000", 1234, true},
		{"1.2345", 0, false},
		{"1.5m", 0, false},
		{"0.0015k", 1500, true},
		{"2k", 2_000_000, true},
		{"2K", 0, false},
		{"2Ki", 2048 * 1000, true},
		{"2M", 2_000_000_000, true},
		{"1.5Gi", 3 << 29 * 1000, true},
		{"0.1Ki", 102_400, true},
		{"0.01Ki", 10_240, true},
		{"1T", 1_000_000_000_000_000, true},
		{"1Ti", 1 << 40 * 1000, true},
		{"8Pi", 8 << 50 * 1000, true},
		{"9P", 9_000_000_000_000_000_000, true},
		{"9Pi", 0, false},
		{"9223372036854775.807", math.MaxInt64, true},
		{"9223372036854775.808", 0, false},
		{"18446744073709551616", 0, false},
		{"1Ei", 0, false},
		{"1e3", 0, false},
		{"1n", 0, false},
		{".5", 0, false},
		{"5.", 0, false},
		{"", 0, false},
		{"m", 0, false},
	} {
		n, fault := parseNumber(test.text)
		require.Equal(t, test.ok, fault == "", "%q: %s", test.text, fault)
		if test.ok {
			require.Equal(t, Number(test.milli), n, test.text)
			again, fault := parseNumber(n.String())
			require.Empty(t, fault)
			require.Equal(t, n, again, n)
		}
	}
}

// TestLabelsAreNumbersAsAFractionWouldBe draws texts of the characters that numbers are made of.
func TestLabelsAreNumbersAsAFractionWouldBe(t *testing.T) {
	d := dice{rand.New(rand.NewPCG(9, 9))}
	numbers := 0
	for range 4_000 {
		text := ""
		for range 1 + d.IntN(7) {
			text += d.of("0", "1", "5", "9", "00", "99", ".", "-", "m", "k", "M", "i", "Ki", "Gi", "P", "x", " ")
		}
		want, got := naiveQuantity(text), (*Number)(nil)
		if n, ok := labelNumber(text); ok {
			got = &n
			numbers++
		}
		require.Equal(t, want != nil, got != nil, text)
		if want != nil {
			require.Zero(t, want.Cmp(exact(*got)), text)
		}
	}
	require.Greater(t, numbers, 300)
}
