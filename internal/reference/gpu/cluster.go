package gpu

import (
	"math/rand"
	"slices"

	"github.com/berth-go/berth"
)

// Policy is a way to score nodes.
type Policy int

// The policies, in the order of the authors' table.
const (
	Random Policy = iota
	DotProduct
	Clustering
	Packing
	BestFit
	FGD
)

// String returns the policy's name in the authors' table.
func (p Policy) String() string {
	return [...]string{"01-Random", "02-DotProd", "03-GpuClustering", "04-GpuPacking", "05-BestFit", "06-FGD"}[p]
}

// Node is a node and what is free on it.
type Node struct {
	Spec   *berth.Node
	CPU    int64
	Memory int64
	Pods   int64
	GPU    []int64
	// Holds counts the pods with GPU by their class: 0 for a share, else how many whole GPUs.
	Holds map[int]int
	kept  map[kind]scored
}

// kind is what scores depend on of a pod.
type kind struct {
	cpu, milli int64
	count      int
	models     string
}

type scored struct {
	score   int64
	devices []int
}

// Cluster is a cluster under one policy.
type Cluster struct {
	Nodes   []*Node
	policy  Policy
	ranks   []int
	typical []Typical
	random  *rand.Rand
}

// NewCluster returns an empty cluster. ranks break ties, the lowest wins; typical is for FGD; random for Random.
func NewCluster(nodes []*berth.Node, policy Policy, ranks []int, typical []Typical, random *rand.Rand) *Cluster {
	c := &Cluster{policy: policy, ranks: ranks, typical: typical, random: random}
	for _, n := range nodes {
		c.Nodes = append(c.Nodes, NewNode(n))
	}
	return c
}

// NewNode returns an empty node.
func NewNode(n *berth.Node) *Node {
	return &Node{
		Spec: n, CPU: n.Allocatable.MilliCPU, Memory: n.Allocatable.Memory, Pods: n.Allocatable.Pods,
		GPU:   slices.Repeat([]int64{berth.GPUMilli}, n.GPUs.Count),
		Holds: make(map[int]int),
		kept:  make(map[kind]scored),
	}
}

// Place puts the pod on the best node and returns the node's index and the pod's GPUs, or -1 if no node fits.
func (c *Cluster) Place(p *berth.Pod) (int, []int) {
	best, bestScore := -1, int64(0)
	var feasible []int
	for i, n := range c.Nodes {
		if !Feasible(n, p) {
			continue
		}
		feasible = append(feasible, i)
		if c.policy == Random {
			continue
		}
		score, _ := c.score(n, p)
		if best < 0 || score > bestScore || score == bestScore && c.ranks[i] < c.ranks[best] {
			best, bestScore = i, score
		}
	}
	if len(feasible) == 0 {
		return -1, nil
	}
	if c.policy == Random {
		best = feasible[c.random.Intn(len(feasible))]
	}
	n := c.Nodes[best]
	_, devices := c.score(n, p)
	Take(n, p, devices)
	return best, devices
}

// score returns the node's score for the pod and the GPUs that the pod would get.
func (c *Cluster) score(n *Node, p *berth.Pod) (int64, []int) {
	if c.policy == Random { // a fresh draw each time
		return Score(Random, n, p, nil, c.random)
	}
	k := kind{p.Requests.MilliCPU, p.GPU.Milli, p.GPU.Count, specOf(p)}
	s, ok := n.kept[k]
	if !ok {
		s.score, s.devices = Score(c.policy, n, p, c.typical, nil)
		n.kept[k] = s
	}
	return s.score, s.devices
}

// Feasible says whether the pod fits the node.
func Feasible(n *Node, p *berth.Pod) bool {
	if n.CPU < p.Requests.MilliCPU || n.Memory < p.Requests.Memory || n.Pods < 1 {
		return false
	}
	if p.GPU.Count == 0 {
		return true
	}
	return allows(p.GPU.Models, n.Spec.GPUs.Model) && len(fitting(n, p.GPU.Milli)) >= p.GPU.Count
}

// Take gives the pod its resources of the node.
func Take(n *Node, p *berth.Pod, devices []int) {
	n.CPU -= p.Requests.MilliCPU
	n.Memory -= p.Requests.Memory
	n.Pods--
	for _, d := range devices {
		n.GPU[d] -= p.GPU.Milli
	}
	if p.GPU.Count > 0 {
		n.Holds[class(p)]++
	}
	n.kept = make(map[kind]scored)
}

// class is 0 for a share, else the number of whole GPUs.
func class(p *berth.Pod) int {
	if p.GPU.Milli < berth.GPUMilli {
		return 0
	}
	return p.GPU.Count
}

func allows(models []string, model string) bool {
	return len(models) == 0 || slices.Contains(models, model)
}

// fitting returns the GPUs that have that much free, in order of index.
func fitting(n *Node, milli int64) []int {
	var fit []int
	for d, free := range n.GPU {
		if free >= milli {
			fit = append(fit, d)
		}
	}
	return fit
}
