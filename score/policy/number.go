package policy

import (
	"math"
	"math/bits"
	"strconv"
	"strings"
)

// Number is a decimal with three places, held as a whole number of thousandths: CPU in milli fits as it is. It goes to
// about 9.2e15 on either side of 0. What would be beyond saturates: the result is the largest Number, or the smallest.
// Multiplication and division round towards 0.
type Number int64

const (
	maxNumber = Number(math.MaxInt64)
	minNumber = Number(math.MinInt64)
	thousand  = 1000
)

// Whole returns n as a Number, saturated.
func Whole(n int64) Number { return saturate(n < 0, magnitude(n), thousand, 1) }

// String returns the number as it is written in an expression: with a binary unit from Mi on if there is no remainder,
// else as a decimal.
func (n Number) String() string {
	m := magnitude(int64(n))
	whole, rest := m/thousand, m%thousand
	var b strings.Builder
	if n < 0 {
		b.WriteByte('-')
	}
	if rest == 0 && whole > 0 {
		for i := len(unitLetters) - 1; i >= 1; i-- { // Ki is left out: 2048 cores are not 2Ki cores
			if size := uint64(1) << (10 * (i + 1)); whole%size == 0 {
				b.WriteString(strconv.FormatUint(whole/size, 10))
				b.WriteString(unitLetters[i:i+1] + "i")
				return b.String()
			}
		}
	}
	b.WriteString(strconv.FormatUint(whole, 10))
	if rest > 0 {
		places := strconv.FormatUint(thousand+rest, 10)[1:]
		b.WriteByte('.')
		b.WriteString(strings.TrimRight(places, "0"))
	}
	return b.String()
}

// unitLetters are those of 2^10, 2^20 and so on, with an i after them, and of 10^3, 10^6 and so on, where K is k.
const unitLetters = "KMGTP"

// unit returns the thousandths in one of a unit.
func unit(name string) (thousandths uint64, ok bool) {
	switch name {
	case "":
		return thousand, true
	case "m":
		return 1, true
	case "k":
		return thousand * thousand, true
	}
	i := strings.Index(unitLetters, name[:1])
	switch {
	case i < 0:
		return 0, false
	case name[1:] == "i":
		return thousand << (10 * (i + 1)), true
	case len(name) > 1 || i == 0:
		return 0, false
	}
	thousandths = thousand * thousand
	for range i {
		thousandths *= 1000
	}
	return thousandths, true
}

// parseNumber reads digits, perhaps a point and more digits, and a unit. The fault is "" or what is wrong.
func parseNumber(text string) (n Number, fault string) {
	end := 0
	for end < len(text) && (isDigit(text[end]) || text[end] == '.') {
		end++
	}
	size, ok := unit(text[end:])
	if !ok {
		return 0, "unknown unit " + quoted(text[end:]) + ", want one of m k M G T P Ki Mi Gi Ti Pi"
	}
	whole, places, point := strings.Cut(text[:end], ".")
	if whole == "" || point && places == "" || strings.Contains(places, ".") {
		return 0, "a number has digits, and digits after a point"
	}
	if places = strings.TrimRight(places, "0"); len(places) > 18 {
		return 0, "more than three decimal places"
	}
	w, err := strconv.ParseUint(whole, 10, 63)
	if err != nil {
		return 0, "number out of range"
	}
	hi, lo := bits.Mul64(w, size)
	if places != "" {
		p, scale := uint64(0), uint64(1)
		for i := range len(places) {
			p, scale = 10*p+uint64(places[i]-'0'), 10*scale
		}
		phi, plo := bits.Mul64(p, size)
		part, rest := bits.Div64(phi, plo, scale) // p < scale, so that phi < scale
		if rest != 0 {
			return 0, "more than three decimal places"
		}
		var carry uint64
		lo, carry = bits.Add64(lo, part, 0)
		hi += carry
	}
	if hi != 0 || lo > math.MaxInt64 {
		return 0, "number out of range"
	}
	return Number(lo), ""
}

func magnitude(n int64) uint64 {
	if n < 0 {
		return -uint64(n)
	}
	return uint64(n)
}

// saturate returns a*b/c, or its negation, rounded towards 0. c is not 0.
func saturate(negative bool, a, b, c uint64) Number {
	hi, lo := bits.Mul64(a, b)
	q := uint64(math.MaxUint64)
	if hi < c {
		q, _ = bits.Div64(hi, lo, c)
	}
	switch {
	case negative && q > 1<<63:
		return minNumber
	case negative:
		return Number(-q)
	case q > math.MaxInt64:
		return maxNumber
	}
	return Number(q)
}

func (n Number) add(o Number) Number {
	if sum := n + o; (n^sum)&(o^sum) >= 0 {
		return sum
	}
	return extreme(n)
}

func (n Number) sub(o Number) Number {
	if diff := n - o; (n^o)&(n^diff) >= 0 {
		return diff
	}
	return extreme(n)
}

// extreme returns the largest number, or the smallest for one below 0.
func extreme(n Number) Number {
	if n < 0 {
		return minNumber
	}
	return maxNumber
}

func (n Number) negate() Number {
	if n == minNumber {
		return maxNumber
	}
	return -n
}

func (n Number) mul(o Number) Number {
	return saturate((n < 0) != (o < 0), magnitude(int64(n)), magnitude(int64(o)), thousand)
}

// div is false for a division by 0.
func (n Number) div(o Number) (Number, bool) {
	if o == 0 {
		return 0, false
	}
	return saturate((n < 0) != (o < 0), magnitude(int64(n)), thousand, magnitude(int64(o))), true
}

// mod has the sign of n; it is false for a division by 0.
func (n Number) mod(o Number) (Number, bool) {
	if o == 0 {
		return 0, false
	}
	return n % o, true
}

// whole rounds towards 0.
func (n Number) whole() int64 { return int64(n / thousand) }
