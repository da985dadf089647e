package affinity_test

import "flag"

// steps multiplies the length of the random tests: -berth.steps=100 compares about 100,000 decisions.
var steps = flag.Int("berth.steps", 1, "how many times longer the random tests run")
