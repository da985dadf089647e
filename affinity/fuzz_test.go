package affinity_test

import "testing"

// FuzzDecisions compares decisions on a random cluster with the reference. The seed draws everything.
func FuzzDecisions(f *testing.F) {
	for seed := range uint64(5) {
		f.Add(1_000_000 + seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		if err := decisions(seed); err != nil {
			t.Fatal(err)
		}
	})
}

// FuzzSteps lets the fuzzer choose the changes that a random cluster goes through, one for each byte.
func FuzzSteps(f *testing.F) {
	f.Add(uint64(1), []byte("decide, change, decide again"))
	f.Add(uint64(2), []byte{11, 11, 11, 1, 11, 0, 11, 3, 11, 15})
	f.Add(uint64(3), []byte{8, 11, 8, 11, 9, 14, 10, 11, 2, 11})
	f.Fuzz(func(t *testing.T, seed uint64, changes []byte) {
		s := newStepper(seed)
		if s.err != nil {
			t.Fatal(s.err)
		}
		for i, b := range changes[:min(len(changes), 200)] {
			what, err := s.make(int(b))
			if err == nil {
				err = s.graph.CheckInvariants(s.profiles...)
			}
			if err != nil {
				t.Fatalf("change %d, %s: %v", i, what, err)
			}
		}
		if err := s.drain(); err != nil {
			t.Fatal(err)
		}
	})
}
