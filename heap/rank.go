package heap

import "math"

// Number is what Ascending and Descending turn into a rank.
type Number interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~float32 | ~float64
}

// Ascending returns a rank that orders numbers of one type from the least to the greatest. Both zeros of a float are equal;
// NaN comes last and equals itself.
func Ascending[N Number](x N) uint64 {
	const sign = 1 << 63
	one := N(1)
	switch {
	case one/2 != 0: // a float
		f := float64(x) + 0 // turns -0 into 0
		if f != f {
			return math.MaxUint64
		}
		// Negative floats have the greater bit pattern the smaller they are (IEEE 754-2019, section 5.10).
		if pattern := math.Float64bits(f); pattern < sign {
			return pattern | sign
		} else {
			return ^pattern
		}
	case one-2 < 0: // a signed integer
		return uint64(int64(x)) ^ sign
	default:
		return uint64(x)
	}
}

// Descending returns a rank that orders numbers of one type from the greatest to the least, as priorities are. NaN comes
// first; refuse it beforehand.
func Descending[N Number](x N) uint64 { return ^Ascending(x) }
