package gpu

import (
	"math/rand"
	"slices"
	"strings"

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
	kept  map[int]scored // by number of kind, until the node changes
}

// kind is what scores depend on of a pod.
type kind struct {
	cpu, milli int64
	count      int
	models     string
}

func kindOf(p *berth.Pod) kind {
	return kind{p.Requests.MilliCPU, p.GPU.Milli, p.GPU.Count, strings.Join(p.GPU.Models, "|")}
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
	kinds   map[kind]int
}

// NewCluster returns an empty cluster. ranks break ties, the lowest wins; typical is for FGD; random for Random.
func NewCluster(nodes []*berth.Node, policy Policy, ranks []int, typical []Typical, random *rand.Rand) *Cluster {
	c := &Cluster{policy: policy, ranks: ranks, typical: typical, random: random, kinds: make(map[kind]int)}
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
		kept:  make(map[int]scored),
	}
}

// Place puts the pod on the best node and returns the node's index and the pod's GPUs, or -1 if no node fits.
func (c *Cluster) Place(p *berth.Pod) (int, []int) {
	k := kindOf(p)
	if _, ok := c.kinds[k]; !ok {
		c.kinds[k] = len(c.kinds)
	}
	number := c.kinds[k]
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
		score, _ := c.score(n, p, number)
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
	_, devices := c.score(n, p, number)
	Take(n, p, devices)
	return best, devices
}

// score returns the node's score for the pod and the GPUs that the pod would get.
func (c *Cluster) score(n *Node, p *berth.Pod, number int) (int64, []int) {
	if c.policy == Random { // a fresh draw each time
		return Score(Random, n, p, nil, c.random)
	}
	s, ok := n.kept[number]
	if !ok {
		s.score, s.devices = Score(c.policy, n, p, c.typical, nil)
		n.kept[number] = s
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
	return allows(p.GPU.Models, n.Spec.GPUs.Model) && countFitting(n, p.GPU.Milli) >= p.GPU.Count
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
	clear(n.kept)
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

func countFitting(n *Node, milli int64) int {
	count := 0
	for _, free := range n.GPU {
		if free >= milli {
			count++
		}
	}
	return count
}
