package ring_test

import (
	"fmt"

	"github.com/berth-go/berth/numa/ring"
)

func Example() {
	completions, err := ring.New[string](8)
	if err != nil {
		fmt.Println(err)
		return
	}
	completions.Push("bound a")
	completions.Push("bound b")
	var batch [4]string
	n := completions.PopBatch(batch[:])
	fmt.Println(batch[:n])
	// Output: [bound a bound b]
}
