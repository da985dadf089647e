package numa

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
)

// cell describes a node of a test machine: one thread a core, one package a
// node, the first reserved CPUs reserved, all but free of the rest taken.
type cell struct {
	id, cpus, reserved, free int
	nics, nicsFree           int
}

func cellState(t *testing.T, cells []cell, cfg Config) *State {
	t.Helper()
	m := &Machine{}
	taken := Request{Name: "earlier", Containers: []Container{{Name: "c"}}}
	var cpus CPUSet
	var devices []string
	id := 0
	for i, c := range cells {
		m.Nodes = append(m.Nodes, Node{ID: c.id})
		for j := range c.cpus {
			m.CPUs = append(m.CPUs, CPU{ID: id, Core: id, Package: i, Node: c.id})
			if j < c.reserved {
				cfg.ReservedCPUs.Add(id)
			} else if j < c.cpus-c.free {
				cpus.Add(id)
			}
			id++
		}
		for j := range c.nics {
			name := fmt.Sprintf("nic%d-%d", c.id, j)
			m.Devices = append(m.Devices, Device{Name: name, Resource: "example.com/nic", Kind: DeviceNIC, Nodes: MaskOf(c.id)})
			if j < c.nics-c.nicsFree {
				devices = append(devices, name)
			}
		}
	}
	s, err := NewState(mustCompile(m), cfg)
	if err != nil {
		t.Fatal(err)
	}
	p := &Placement{Name: taken.Name, Containers: []ContainerPlacement{{Name: "c", CPUs: cpus, Devices: devices}}}
	if err := s.Apply(p); err != nil {
		t.Fatal(err)
	}
	return s
}

func nics(n int) []DeviceCount { return []DeviceCount{{"example.com/nic", n}} }

// The kubelet's behaviour on these was checked against v1.37.2.
func TestPlanFollowsTheKubelet(t *testing.T) {
	fragmented := []cell{{id: 0, cpus: 6, free: 2}, {id: 1, cpus: 6, free: 2}, {id: 2, cpus: 6, free: 3}}
	remote := []cell{{id: 0, cpus: 40, reserved: 2, free: 6, nics: 2, nicsFree: 1}, {id: 1, cpus: 40, reserved: 2, free: 38}}
	pinned := []cell{{id: 0, cpus: 32, free: 5}, {id: 1, cpus: 32, reserved: 1, free: 31}}
	initThenMain := []Container{{Name: "init", Init: true, CPUs: 1}, {Name: "main", CPUs: 26}}
	main := func(cpus int, d ...DeviceCount) []Container {
		return []Container{{Name: "main", CPUs: cpus, Devices: d}}
	}
	for _, c := range []struct {
		name       string
		cells      []cell
		policy     Policy
		scope      Scope
		containers []Container
		admitted   bool
		nodes      string // of the last container's hint
		preferred  bool
		on         map[int]int
	}{
		{"best-effort takes the narrowest mask, lower nodes first (kubernetes#84597)", fragmented, PolicyBestEffort, 0, main(4), true, "0-1", false, map[int]int{0: 2, 1: 2}},
		{"restricted counts what could be free, not what is", fragmented, PolicyRestricted, 0, main(4), false, "0-1", false, nil},
		{"two nodes could hold it, three are needed", fragmented, PolicyRestricted, 0, main(7), false, "0-2", false, nil},
		{"single-numa-node refuses what is spread", fragmented, PolicySingleNode, 0, main(4), false, "", false, nil},
		{"no request, no preference", fragmented, PolicySingleNode, 0, main(0), true, "", true, nil},
		{"CPUs follow the device first (kubernetes#106270)", remote, PolicyBestEffort, 0, main(32, nics(1)...), true, "0", false, map[int]int{0: 6, 1: 26}},
		{"device and CPUs on different nodes are not restricted's", remote, PolicyRestricted, 0, main(32, nics(1)...), false, "0", false, nil},
		{"CPUs alone go where they fit", remote, PolicySingleNode, 0, main(32), true, "1", true, map[int]int{1: 32}},
		{"a device alone goes where it is", remote, PolicySingleNode, 0, main(0, nics(1)...), true, "0", true, nil},
		{"best-effort admits what the device manager then lacks", remote, PolicyBestEffort, 0, main(0, nics(2)...), true, "0-1", false, nil},
		{"an init container's CPU pins the main container (kubernetes#123816)", pinned, PolicySingleNode, ScopeContainer, initThenMain, false, "", false, nil},
		{"the pod scope sizes both together", pinned, PolicySingleNode, ScopePod, initThenMain, true, "1", true, map[int]int{1: 26}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := cellState(t, c.cells, Config{Policy: c.policy, Scope: c.scope})
			p, err := s.Plan(&Request{Name: "pod", Containers: c.containers})
			var no *Unplaceable
			if err != nil && !errors.As(err, &no) {
				t.Fatal(err)
			}
			var hint Hint
			if no != nil {
				hint = no.Hint
				if no.Admitted != c.admitted || len(no.Reasons) == 0 {
					t.Fatalf("refused by the policy: %v, reasons %v", !no.Admitted, no)
				}
			} else {
				if !c.admitted {
					t.Fatalf("placed %+v", p)
				}
				last := p.Containers[len(p.Containers)-1]
				hint = last.Hint
				on := map[int]int{}
				for id := range last.CPUs.All() {
					on[s.l.NodeOf(id)]++
				}
				if len(on)+len(c.on) > 0 && !reflect.DeepEqual(on, c.on) {
					t.Errorf("CPUs on %v, want %v", on, c.on)
				}
			}
			nodes := hint.Nodes.String()
			if hint.Any {
				nodes = ""
			}
			if nodes != c.nodes || hint.Preferred != c.preferred {
				t.Errorf("hint %q preferred %v, want %q %v", nodes, hint.Preferred, c.nodes, c.preferred)
			}
		})
	}
}

// randomMachine has CPUs, memory of two kinds and devices of two resources.
func randomMachine(rng *rand.Rand) *Machine {
	m := gridMachine(rng, randomIDs(rng, 1+rng.IntN(5)), 1+rng.IntN(4), 1+rng.IntN(2), 1+rng.IntN(2))
	for i := range m.Nodes {
		m.Nodes[i].Memory = []Memory{{Bytes: 100}, {PageSize: 2 << 20, Bytes: 10 * rng.Int64N(4)}}
	}
	for i := range rng.IntN(9) {
		d := Device{Name: fmt.Sprint("gpu", i), Resource: "gpu", Kind: DeviceGPU, Unhealthy: rng.IntN(8) == 0}
		if i%3 == 2 {
			d.Name, d.Resource, d.Kind = fmt.Sprint("nic", i), "nic", DeviceNIC
		}
		for range rng.IntN(3) {
			d.Nodes.Add(m.Nodes[rng.IntN(len(m.Nodes))].ID)
		}
		m.Devices = append(m.Devices, d)
		for j := range i {
			if rng.IntN(2) == 0 {
				m.Links = append(m.Links, Link{A: j, B: i, Kind: LinkKind(rng.IntN(int(LinkNV) + 1)), Count: rng.IntN(4)})
			}
		}
	}
	return m
}

func randomConfig(rng *rand.Rand) Config {
	cfg := Config{
		Policy:        Policy(rng.IntN(4)),
		Scope:         Scope(rng.IntN(2)),
		PreferClosest: rng.IntN(2) == 0,
	}
	switch rng.IntN(5) {
	case 0:
		cfg.CPU.FullCores = true
	case 1:
		cfg.CPU.AcrossNodes = true
	case 2:
		cfg.CPU.AcrossCores = true
	case 3:
		cfg.CPU.UncoreCache = true
	}
	return cfg
}

func randomRequest(rng *rand.Rand, name string) *Request {
	r := &Request{Name: name}
	for i := range 1 + rng.IntN(3) {
		c := Container{Name: fmt.Sprint("c", i)}
		if i < 2 && rng.IntN(3) == 0 {
			c.Init = true
			c.Sidecar = rng.IntN(2) == 0
		}
		if rng.IntN(4) > 0 {
			c.CPUs = rng.IntN(5)
		}
		if rng.IntN(2) == 0 {
			c.Memory = []Memory{{Bytes: rng.Int64N(80)}}
			if rng.IntN(3) == 0 {
				c.Memory = append(c.Memory, Memory{PageSize: 2 << 20, Bytes: rng.Int64N(20)})
			}
		}
		if rng.IntN(3) == 0 {
			c.Devices = []DeviceCount{{"gpu", rng.IntN(3)}, {"nic", rng.IntN(2)}}
		}
		r.Containers = append(r.Containers, c)
	}
	return r
}

func TestApplyAndReleaseAreInverses(t *testing.T) {
	rng := rand.New(rand.NewPCG(21, 22))
	placed, refused, reused := 0, 0, 0
	for range 60 {
		l := mustCompile(randomMachine(rng))
		cfg := randomConfig(rng)
		s, err := NewState(l, cfg)
		if err != nil {
			t.Fatal(err)
		}
		empty := s.Clone()
		var names []string
		for step := range rounds(60) {
			if len(names) > 0 && rng.IntN(3) == 0 {
				i := rng.IntN(len(names))
				if err := s.Release(names[i]); err != nil {
					t.Fatal(err)
				}
				names = append(names[:i], names[i+1:]...)
			} else {
				r := randomRequest(rng, fmt.Sprint("pod", step))
				before := s.Clone()
				p, err := s.Plan(r)
				if !reflect.DeepEqual(before.free, s.free) || !reflect.DeepEqual(before.memory, s.memory) {
					t.Fatal("Plan changed the state")
				}
				again, againErr := s.Plan(r)
				if !reflect.DeepEqual(p, again) || fmt.Sprint(err) != fmt.Sprint(againErr) {
					t.Fatalf("Plan is not deterministic:\n%+v %v\n%+v %v", p, err, again, againErr)
				}
				var no *Unplaceable
				if err != nil && !errors.As(err, &no) {
					t.Fatal(err)
				}
				if err != nil {
					refused++
					if len(no.Reasons) == 0 {
						t.Fatalf("no reason: %+v", no)
					}
					continue
				}
				checkAnswer(t, l, cfg, r, p)
				if err := s.Apply(p); err != nil {
					t.Fatalf("own plan does not apply: %v\nplan %+v", err, p)
				}
				placed++
				for i := range p.Containers {
					for j := range i {
						if p.Containers[i].CPUs.Intersects(p.Containers[j].CPUs) {
							reused++
						}
					}
				}
				names = append(names, r.Name)
			}
			if step%8 == 0 {
				if err := s.Check(); err != nil {
					t.Fatal(err)
				}
			}
		}
		for _, n := range names {
			if err := s.Release(n); err != nil {
				t.Fatal(err)
			}
		}
		if !s.free.Equal(empty.free) || !reflect.DeepEqual(s.memory, empty.memory) || !reflect.DeepEqual(s.busy, empty.busy) || s.Len() != 0 {
			t.Fatalf("after releasing everything: %+v, want %+v", s, empty)
		}
	}
	if placed < 100 || refused < 50 || reused < 5 {
		t.Fatalf("the test lost its grip: %d placed, %d refused, %d reused", placed, refused, reused)
	}
}

// checkAnswer holds a placement against its request.
func checkAnswer(t *testing.T, l *Layout, cfg Config, r *Request, p *Placement) {
	t.Helper()
	for i, c := range r.Containers {
		got := p.Containers[i]
		if got.Name != c.Name || got.CPUs.Len() != c.CPUs {
			t.Fatalf("container %q asked %d CPUs, got %v", c.Name, c.CPUs, got.CPUs)
		}
		count := map[string]int{}
		for _, d := range got.Devices {
			count[l.devices[l.deviceAt[d]].Resource]++
		}
		for _, d := range c.Devices {
			if count[d.Resource] != d.Count {
				t.Fatalf("container %q asked %v, got %v", c.Name, c.Devices, got.Devices)
			}
		}
		for j, before := range r.Containers[:i] {
			if !before.reusable() && got.CPUs.Intersects(p.Containers[j].CPUs) {
				t.Fatalf("containers %q and %q run together on CPUs %v and %v", c.Name, before.Name, got.CPUs, p.Containers[j].CPUs)
			}
		}
		if cfg.CPU.FullCores {
			for core := range l.core {
				have := 0
				for _, cpu := range l.core[core].cpus {
					if got.CPUs.Has(l.cpuIDs[cpu]) {
						have++
					}
				}
				if have != 0 && have != len(l.core[core].cpus) {
					t.Fatalf("container %q has part of a core: %v", c.Name, got.CPUs)
				}
			}
		}
	}
	got, want := int64(0), int64(0)
	for _, b := range p.Memory {
		got += b.Bytes
	}
	for _, m := range r.Containers[0].Memory {
		want += m.Bytes
	}
	if got < want {
		t.Fatalf("first container asked %d bytes, the pod got %d", want, got)
	}
}

func TestFreeingWhatAReasonSaysClearsIt(t *testing.T) {
	s := cellState(t, []cell{{id: 0, cpus: 8, free: 3}, {id: 3, cpus: 8, free: 4, nics: 2, nicsFree: 0}}, Config{Policy: PolicySingleNode})
	r := &Request{Name: "pod", Containers: []Container{{Name: "main", CPUs: 6, Devices: nics(1)}}}
	_, err := s.Plan(r)
	var no *Unplaceable
	if !errors.As(err, &no) {
		t.Fatalf("got %v", err)
	}
	want := []Reason{{Code: ReasonShort, Resource: "example.com/nic", Nodes: s.l.all, Need: 1, Free: 0}}
	if !reflect.DeepEqual(no.Reasons, want) {
		t.Fatalf("reasons %v, want %v", no.Reasons, want)
	}
	// One NIC more free: now the CPUs on its node are short by two.
	earlier := s.placed["earlier"]
	if err := s.Release("earlier"); err != nil {
		t.Fatal(err)
	}
	less := *earlier
	less.Containers = []ContainerPlacement{earlier.Containers[0]}
	less.Containers[0].Devices = earlier.Containers[0].Devices[1:]
	if err := s.Apply(&less); err != nil {
		t.Fatal(err)
	}
	_, err = s.Plan(r)
	if !errors.As(err, &no) || len(no.Reasons) != 1 || no.Reasons[0].Code != ReasonShort || no.Reasons[0].Nodes != MaskOf(3) || no.Reasons[0].Missing() != 2 {
		t.Fatalf("reasons %v", no)
	}
	if !strings.Contains(err.Error(), `nodes {3} have 4 free, 2 more would do`) {
		t.Fatalf("text %q", err)
	}
	if err := s.Release("earlier"); err != nil {
		t.Fatal(err)
	}
	two := 0
	cpus := less.Containers[0].CPUs.Clone()
	for id := range less.Containers[0].CPUs.All() {
		if s.l.NodeOf(id) == 3 && two < 2 {
			cpus.Remove(id)
			two++
		}
	}
	less.Containers[0].CPUs = cpus
	if err := s.Apply(&less); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Plan(r); err != nil {
		t.Fatalf("still refused: %v", err)
	}
}

func TestApplyRefusesWhatIsTakenAndChangesNothing(t *testing.T) {
	s := cellState(t, []cell{{id: 0, cpus: 4, free: 2}}, Config{})
	before := s.Clone()
	for name, p := range map[string]*Placement{
		"CPUs":        {Name: "a", Containers: []ContainerPlacement{{CPUs: CPUs(0)}}},
		"devices":     {Name: "a", Containers: []ContainerPlacement{{Devices: []string{"none"}}}},
		"memory":      {Name: "a", Memory: []MemoryBlock{{Node: 0, Bytes: 1}}},
		"absent node": {Name: "a", Memory: []MemoryBlock{{Node: 7, Bytes: 1}}},
		"name":        {Name: "earlier"},
		"groups":      {Name: "a", Groups: []Mask{MaskOf(0, 1)}},
	} {
		if err := s.Apply(p); !errors.Is(err, ErrConflict) {
			t.Errorf("%s: got %v, want ErrConflict", name, err)
		}
	}
	if err := s.Release("a"); !errors.Is(err, ErrConflict) {
		t.Errorf("release: got %v", err)
	}
	if !reflect.DeepEqual(before, s) {
		t.Fatalf("state changed: %+v, want %+v", s, before)
	}
}
