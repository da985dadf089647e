package heap

// splitmix is a sequence of numbers that look random and depend on the start alone (Steele, Lea, Flood, "Fast splittable
// pseudorandom number generators", 2014).
type splitmix uint64

func (s *splitmix) next() uint64 {
	*s += 0x9e3779b97f4a7c15
	z := uint64(*s)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
