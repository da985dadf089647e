package gpu

import (
	"fmt"
	"math/rand"
	"testing"
	"time"

	"github.com/berth-go/berth/internal/openb"
)

func TestScratch(t *testing.T) {
	const dir = "/work/shared/data/openb/"
	nodes, err := openb.ReadNodesFile(dir + "openb_node_list_gpu_node.csv")
	if err != nil {
		t.Fatal(err)
	}
	pods, err := openb.ReadPodsFile(dir + "openb_pod_list_default.csv.gz")
	if err != nil {
		t.Fatal(err)
	}
	typical, kinds := TypicalPods(pods)
	fmt.Println(kinds, len(typical), typical[0], typical[1], typical[len(typical)-1])
	for seed := int64(42); seed < 52; seed++ {
		w := openb.Draw(pods, nodes, seed, 1.3)
		fmt.Println(len(w.Arrivals), w.Arrivals[0].Name, w.Arrivals[1].Name, w.Arrivals[2].Name, w.Arrivals[len(w.Arrivals)-1].Name)
		for p := FGD; p <= FGD; p++ {
			start := time.Now()
			c := NewCluster(nodes, p, w.Ranks, typical, rand.New(rand.NewSource(1)))
			curve := openb.NewCurve(openb.GPUCapacity(nodes))
			dropped := 0
			for _, pod := range w.Arrivals {
				n, _ := c.Place(pod)
				curve.Arrive(pod.GPU.Total(), n >= 0)
				if n < 0 {
					dropped++
				}
			}
			a, _ := curve.At(100)
			b, _ := curve.At(130)
			fmt.Println(p, a, b, dropped, time.Since(start))
		}
	}
}
