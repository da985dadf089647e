package affinity

import (
	"fmt"
	"hash/maphash"
	"maps"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/topology"
)

// Graph is the affinity graph of a cluster: its nodes, its placed pods, and for every rule what it takes to answer at
// once for a class of pods that was seen before. Make one with New. It has one owner: no method may run while another
// runs, on the Graph or on a Profile of it.
type Graph struct {
	// What every decision and binding reads comes first and together.
	x   topology.Index
	enc encoder
	// chosen is the node that was decided for last: most likely the next that is asked for by name. decided are the columns by which
	// that was found, nil if they are gone.
	chosen  topology.NodeID
	decided *columns
	// imageEpoch changes whenever image scores may.
	imageEpoch uint32
	// labelled counts the changes of nodes and their labels.
	labelled uint64
	log      dirtyLog

	nodes      []nodeState // by NodeID
	classByKey classTable
	// fine is the number of columns that follow a key node by node instead of domain by domain, by KeyID.
	fine []int32
	// Tests set these to force one way of following keys.
	coarseMax, exceptionsMax int
	columnBytes              int
	planCount                int

	pods        []pod // by podID
	freePods    []podID
	podByKey    podTable
	nominations map[berth.PodKey]topology.NodeID
	cfg         Config

	nsNames  []string
	nsByName map[string]int32
	gpuHeld  map[podID]uint64 // devices as a mask

	classes        []*class // by classID, nil where free
	freeClasses    []classID
	classSerial    uint64
	classesByLabel map[labelPair][]*class
	idleLen        int

	matchers        map[string]*matcher
	matchersByLabel map[labelPair][]*matcher
	matchersOfAll   []*matcher
	namespaces      map[string]map[string]string // labels

	nodeMatchers  map[string]*nodeMatcher
	tolerators    map[string]*tolerator
	eligibilities map[string]*eligibility
	domains       []*domains // in use by spread constraints
	empty         map[topology.KeyID]topology.ValueID

	taintSets  []taintSet
	taintByKey map[string]int32
	freeTaints []int32

	resourceNames  []string
	resourceByName map[string]int32
	images         []image
	imageByName    map[string]int32
	freeImages     []int32

	// Heads of lists, whose next is the first to go: the least recently used columns and idle classes, and the plans that
	// dropPlans looks at.
	columnsLRU columns
	plansLRU   plan
	idle       class
}

// New returns an empty graph. The error wraps ErrConfig.
func New(cfg Config) (*Graph, error) {
	if cfg.MaxColumnBytes < 0 || cfg.MaxPlans < 0 || cfg.MaxIdleClasses < 0 {
		return nil, fmt.Errorf("%w: MaxColumnBytes is %d, MaxPlans %d, MaxIdleClasses %d: negative", ErrConfig, cfg.MaxColumnBytes, cfg.MaxPlans, cfg.MaxIdleClasses)
	}
	if cfg.MaxPlans == 0 {
		cfg.MaxPlans = 8192
	}
	if cfg.MaxIdleClasses == 0 {
		cfg.MaxIdleClasses = 1024
	}
	g := &Graph{
		cfg:             cfg,
		coarseMax:       coarseMax,
		exceptionsMax:   exceptionsMax,
		nsByName:        make(map[string]int32),
		gpuHeld:         make(map[podID]uint64),
		podByKey:        podTable{seed: maphash.MakeSeed()},
		classByKey:      classTable{seed: maphash.MakeSeed()},
		classesByLabel:  make(map[labelPair][]*class),
		matchers:        make(map[string]*matcher),
		matchersByLabel: make(map[labelPair][]*matcher),
		namespaces:      make(map[string]map[string]string),
		nodeMatchers:    make(map[string]*nodeMatcher),
		tolerators:      make(map[string]*tolerator),
		eligibilities:   make(map[string]*eligibility),
		empty:           make(map[topology.KeyID]topology.ValueID),
		taintByKey:      make(map[string]int32),
		resourceByName:  make(map[string]int32),
		imageByName:     make(map[string]int32),
		nominations:     make(map[berth.PodKey]topology.NodeID),
	}
	g.enc.buf = g.enc.mem[:0]
	g.idle.idlePrev, g.idle.idleNext = &g.idle, &g.idle
	g.columnsLRU.prev, g.columnsLRU.next = &g.columnsLRU, &g.columnsLRU
	g.plansLRU.prev, g.plansLRU.next = &g.plansLRU, &g.plansLRU
	return g, nil
}

// Topology returns the nodes and their labels, for reading.
func (g *Graph) Topology() *topology.Index { return &g.x }

// SetNamespace gives a namespace its labels; a namespace that is not known has none. The error is a *berth.Fault.
// O(classes of the namespace * terms with a namespace selector).
func (g *Graph) SetNamespace(ns *berth.Namespace) error {
	if err := berth.ValidateNamespace(ns).Err(); err != nil {
		return err
	}
	labels := make(map[string]string, len(ns.Labels)) // not nil: the namespace is known
	maps.Copy(labels, ns.Labels)
	g.namespaces[ns.Name] = labels
	g.rematch(ns.Name)
	return nil
}

// RemoveNamespace forgets the labels of a namespace. Its pods stay.
func (g *Graph) RemoveNamespace(name string) {
	delete(g.namespaces, name)
	g.rematch(name)
}

// orderOf is where a node stands among those of equal score.
func (g *Graph) orderOf(name string) uint32 {
	if g.cfg.Order != nil {
		return g.cfg.Order(name)
	}
	// FNV-1a, mixed by the finaliser of MurmurHash3: stable across processes, which hash/maphash is not.
	h := g.cfg.Seed ^ 14695981039346656037
	for i := range len(name) {
		h = (h ^ uint64(name[i])) * 1099511628211
	}
	h ^= h >> 33
	h *= 0xff51afd7ed558ccd
	h ^= h >> 33
	return uint32(h)
}

// Lookup returns the node of that name, as Topology().Lookup does, but without a look-up for the node that was decided for last.
func (g *Graph) Lookup(name string) (topology.NodeID, bool) {
	if n := g.chosen; int(n) < g.x.Cap() && name != "" && g.x.Name(n) == name {
		return n, true
	}
	return g.x.Lookup(name)
}

// before reports whether a wins against b at equal score.
func (g *Graph) before(a, b topology.NodeID) bool {
	if x, y := g.nodes[a].order, g.nodes[b].order; x != y {
		return x < y
	}
	return g.x.Name(a) < g.x.Name(b)
}

// keepKey and dropKey count the users of a topology key.
func (g *Graph) keepKey(k topology.KeyID) {
	g.x.KeepColumn(k)
	for int(k) >= len(g.fine) {
		g.fine = append(g.fine, 0)
	}
}

func (g *Graph) dropKey(k topology.KeyID) { g.x.DropColumn(k) }
