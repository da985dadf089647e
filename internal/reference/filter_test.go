package reference_test

import (
	"testing"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/internal/reference"
)

const host, zone = berth.LabelHostname, "zone"

// TestInterPodAffinity states plugins/interpodaffinity/filtering.go rule by rule.
func TestInterPodAffinity(t *testing.T) {
	nodes := []berth.Node{node("n1", host+"=n1", "zone=a"), node("n2", host+"=n2", "zone=a"), node("n3", host+"=n3", "zone=b"), node("n4")}
	db := pod("db", "n1", 0, "app=db")
	web := pod("web", "", 0, "app=web")
	elsewhere := term(zone, "app=db")
	elsewhere.Namespaces = []string{"other"}
	everywhere := term(zone, "app=db")
	everywhere.NamespaceSelector = &berth.LabelSelector{}
	byTeam := term(zone, "app=db")
	byTeam.NamespaceSelector = selector("team=x")
	nobody := berth.PodAffinityTerm{TopologyKey: zone}
	for _, c := range []struct {
		name string
		pods []berth.Pod
		pod  berth.Pod
		want string
	}{
		{"the domain of a matching pod is feasible", []berth.Pod{db}, with(web, near(term(zone, "app=db"))),
			"n1 ok, n2 ok, n3 InterPodAffinity, n4 InterPodAffinity"},
		{"a pod must match all terms to count", []berth.Pod{db, pod("cache", "n1", 0, "tier=fast")}, with(web, near(term(zone, "app=db"), term(host, "tier=fast"))),
			"n1 InterPodAffinity, n2 InterPodAffinity, n3 InterPodAffinity, n4 InterPodAffinity"},
		{"different pods that match all terms may satisfy different keys", []berth.Pod{pod("db1", "n1", 0, "app=db"), pod("db2", "n2", 0, "app=db")},
			with(web, near(term(zone, "app=db"), term(host, "app=db"))),
			"n1 ok, n2 ok, n3 InterPodAffinity, n4 InterPodAffinity"},
		{"terminating pods count", []berth.Pod{with(db, terminating)}, with(web, near(term(host, "app=db"))),
			"n1 ok, n2 InterPodAffinity, n3 InterPodAffinity, n4 InterPodAffinity"},
		{"anti-affinity refuses the domain, a node without the key passes", []berth.Pod{db}, with(web, apart(term(zone, "app=db"))),
			"n1 InterPodAffinity*, n2 InterPodAffinity*, n3 ok, n4 ok"},
		{"any anti-affinity term refuses", []berth.Pod{db}, with(web, apart(term(host, "app=none"), term(host, "app=db"))),
			"n1 InterPodAffinity*, n2 ok, n3 ok, n4 ok"},
		{"the anti-affinity of placed pods holds against new ones", []berth.Pod{with(db, apart(term(zone, "app=web")))}, web,
			"n1 InterPodAffinity*, n2 InterPodAffinity*, n3 ok, n4 ok"},
		{"own affinity is refused before anti-affinity, and for good", []berth.Pod{with(db, apart(term(host, "app=web")))}, with(web, near(term(host, "app=none"))),
			"n1 InterPodAffinity, n2 InterPodAffinity, n3 InterPodAffinity, n4 InterPodAffinity"},
		{"the first of a series goes anywhere that has the keys", nil, with(web, near(term(zone, "app=web"))),
			"n1 ok, n2 ok, n3 ok, n4 InterPodAffinity"},
		{"a pod that does not match itself is not the first of a series", nil, with(web, near(term(zone, "app=db"))),
			"n1 InterPodAffinity, n2 InterPodAffinity, n3 InterPodAffinity, n4 InterPodAffinity"},
		{"the second follows the first", []berth.Pod{pod("web0", "n3", 0, "app=web")}, with(web, near(term(zone, "app=web"))),
			"n1 InterPodAffinity, n2 InterPodAffinity, n3 ok, n4 InterPodAffinity"},
		{"a peer on a node without the keys does not start the series", []berth.Pod{pod("web0", "n4", 0, "app=web")}, with(web, near(term(zone, "app=web"))),
			"n1 ok, n2 ok, n3 ok, n4 InterPodAffinity"},
		{"a term is about the pod's own namespace", []berth.Pod{with(db, in("other"))}, with(web, apart(term(zone, "app=db"))),
			"n1 ok, n2 ok, n3 ok, n4 ok"},
		{"or about the ones it lists", []berth.Pod{with(db, in("other"))}, with(web, apart(elsewhere)),
			"n1 InterPodAffinity*, n2 InterPodAffinity*, n3 ok, n4 ok"},
		{"and only them", []berth.Pod{db}, with(web, apart(elsewhere)), "n1 ok, n2 ok, n3 ok, n4 ok"},
		{"an empty namespace selector means all, unknown ones too", []berth.Pod{with(db, in("unknown"))}, with(web, apart(everywhere)),
			"n1 InterPodAffinity*, n2 InterPodAffinity*, n3 ok, n4 ok"},
		{"a namespace selector leaves out the pod's own namespace", []berth.Pod{db}, with(web, apart(byTeam)), "n1 ok, n2 ok, n3 ok, n4 ok"},
		{"a namespace is selected by its labels", []berth.Pod{with(db, in("other"))}, with(web, apart(byTeam)),
			"n1 InterPodAffinity*, n2 InterPodAffinity*, n3 ok, n4 ok"},
		{"no selector selects no pod", []berth.Pod{db}, with(web, apart(nobody)), "n1 ok, n2 ok, n3 ok, n4 ok"},
		{"an empty one selects all", []berth.Pod{db}, with(web, apart(term(host))), "n1 InterPodAffinity*, n2 ok, n3 ok, n4 ok"},
	} {
		t.Run(c.name, func(t *testing.T) {
			cluster := &reference.Cluster{Nodes: nodes, Pods: c.pods, Namespaces: []berth.Namespace{{Name: "default"}, {Name: "other", Labels: pairs([]string{"team=x"})}}}
			if got := verdicts(cluster, c.pod); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// TestPodTopologySpread states plugins/podtopologyspread/filtering.go rule by rule.
func TestPodTopologySpread(t *testing.T) {
	tainted := node("n4", "zone=c", "disk=ssd")
	tainted.Taints = []berth.Taint{{Key: "k", Effect: berth.NoSchedule}}
	abc := []berth.Node{node("n1", "zone=a", "disk=ssd"), node("n2", "zone=a"), node("n3", "zone=b", "disk=ssd")}
	web := func(name, on string) berth.Pod { return pod(name, on, 0, "app=web") }
	two, three := int32(2), int32(3)
	byZone := berth.TopologySpreadConstraint{TopologyKey: zone, LabelSelector: selector("app=web")}
	change := func(f func(c *berth.TopologySpreadConstraint)) berth.TopologySpreadConstraint {
		c := byZone
		f(&c)
		return c
	}
	onSSD := func(p *berth.Pod) { p.NodeSelector = map[string]string{"disk": "ssd"} }
	for _, c := range []struct {
		name  string
		nodes []berth.Node
		pods  []berth.Pod
		pod   berth.Pod
		want  string
	}{
		{"a domain above the lowest by maxSkew is full", abc, []berth.Pod{web("w1", "n2")}, with(web("p", ""), spread(byZone)),
			"n1 PodTopologySpread*, n2 PodTopologySpread*, n3 ok"},
		{"a pod that is not selected does not count itself", abc, []berth.Pod{web("w1", "n2")}, with(pod("p", "", 0), spread(byZone)),
			"n1 ok, n2 ok, n3 ok"},
		{"terminating pods do not count", abc, []berth.Pod{with(web("w1", "n2"), terminating)}, with(web("p", ""), spread(byZone)),
			"n1 ok, n2 ok, n3 ok"},
		{"nor do those of other namespaces", abc, []berth.Pod{with(web("w1", "n2"), in("other"))}, with(web("p", ""), spread(byZone)),
			"n1 ok, n2 ok, n3 ok"},
		{"a node without the key is refused for good", []berth.Node{node("n1", "zone=a"), node("n0")}, nil, with(web("p", ""), spread(byZone)),
			"n1 ok, n0 PodTopologySpread"},
		{"an empty value is a domain", []berth.Node{node("n1", "zone=a"), node("n0", "zone=")}, []berth.Pod{web("w1", "n1")}, with(web("p", ""), spread(byZone)),
			"n1 PodTopologySpread*, n0 ok"},
		{"below minDomains the lowest count is 0", abc, []berth.Pod{web("w1", "n2"), web("w2", "n3")},
			with(web("p", ""), spread(change(func(c *berth.TopologySpreadConstraint) { c.MinDomains = &three }))),
			"n1 PodTopologySpread*, n2 PodTopologySpread*, n3 PodTopologySpread*"},
		{"with minDomains reached it is not", abc, []berth.Pod{web("w1", "n2"), web("w2", "n3")},
			with(web("p", ""), spread(change(func(c *berth.TopologySpreadConstraint) { c.MinDomains = &two }))),
			"n1 ok, n2 ok, n3 ok"},
		{"an empty selector counts no placed pod, and the pod itself as one", abc, []berth.Pod{web("w1", "n2"), web("w2", "n2")},
			with(web("p", ""), spread(change(func(c *berth.TopologySpreadConstraint) { c.LabelSelector = selector() }))),
			"n1 ok, n2 ok, n3 ok"},
		{"nodes that the pod's selector leaves out do not count", abc, []berth.Pod{web("w1", "n2")}, with(web("p", ""), onSSD, spread(byZone)),
			"n1 ok, n2 NodeAffinity, n3 ok"},
		{"unless nodeAffinityPolicy ignores it", abc, []berth.Pod{web("w1", "n2")},
			with(web("p", ""), onSSD, spread(change(func(c *berth.TopologySpreadConstraint) { c.NodeAffinityPolicy = berth.Ignore }))),
			"n1 PodTopologySpread*, n2 NodeAffinity, n3 ok"},
		{"taints are ignored: an empty tainted zone is the lowest", append([]berth.Node{tainted}, abc...), []berth.Pod{web("w1", "n1"), web("w2", "n3")}, with(web("p", ""), spread(byZone)),
			"n4 TaintToleration, n1 PodTopologySpread*, n2 PodTopologySpread*, n3 PodTopologySpread*"},
		{"unless nodeTaintsPolicy honors them", append([]berth.Node{tainted}, abc...), []berth.Pod{web("w1", "n1"), web("w2", "n3")},
			with(web("p", ""), spread(change(func(c *berth.TopologySpreadConstraint) { c.NodeTaintsPolicy = berth.Honor }))),
			"n4 TaintToleration, n1 ok, n2 ok, n3 ok"},
		{"a node must have the keys of all hard constraints to count", []berth.Node{node("n1", "zone=a", "rack=1"), node("n2", "zone=b")}, []berth.Pod{web("w1", "n1")},
			with(web("p", ""), spread(byZone), spread(change(func(c *berth.TopologySpreadConstraint) { c.TopologyKey = "rack" }))),
			"n1 ok, n2 PodTopologySpread"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := verdicts(&reference.Cluster{Nodes: c.nodes, Pods: c.pods}, c.pod); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// TestNodeRules states the rules that look at one node.
func TestNodeRules(t *testing.T) {
	n := node("n", "gen=7", "disk=ssd")
	change := func(f func(n *berth.Node)) berth.Node {
		c := n
		f(&c)
		return c
	}
	tainted := change(func(n *berth.Node) { n.Taints = []berth.Taint{{Key: "k", Value: "v", Effect: berth.NoExecute}} })
	cordoned := change(func(n *berth.Node) { n.Unschedulable = true })
	full := change(func(n *berth.Node) { n.Allocatable.Pods = 1 })
	tolerates := func(to berth.Toleration) berth.Pod {
		return with(pod("p", "", 0), func(p *berth.Pod) { p.Tolerations = []berth.Toleration{to} })
	}
	needs := func(terms ...berth.NodeSelectorTerm) berth.Pod {
		return with(pod("p", "", 0), func(p *berth.Pod) {
			required := &berth.NodeSelector{NodeSelectorTerms: terms}
			p.Affinity = &berth.Affinity{NodeAffinity: &berth.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: required}}
		})
	}
	expr := func(key string, op berth.Operator, values ...string) berth.NodeSelectorTerm {
		return berth.NodeSelectorTerm{MatchExpressions: []berth.Requirement{{Key: key, Operator: op, Values: values}}}
	}
	named := func(op berth.Operator, values ...string) berth.NodeSelectorTerm {
		return berth.NodeSelectorTerm{MatchFields: []berth.Requirement{{Key: berth.FieldName, Operator: op, Values: values}}}
	}
	port := func(name, on, ip string, protocol berth.Protocol) berth.Pod {
		return with(pod(name, on, 0), func(p *berth.Pod) { p.HostPorts = []berth.HostPort{{HostIP: ip, Protocol: protocol, Port: 80}} })
	}
	for _, c := range []struct {
		name string
		node berth.Node
		on   []berth.Pod
		pod  berth.Pod
		want string
	}{
		{"a request above what is left may be helped", n, []berth.Pod{pod("old", "n", 3000)}, pod("p", "", 2000), "n NodeResourcesFit*"},
		{"a request above what there is may not", n, nil, pod("p", "", 4001), "n NodeResourcesFit"},
		{"all that is left is enough", n, []berth.Pod{pod("old", "n", 3000)}, pod("p", "", 1000), "n ok"},
		{"a pod that requests nothing fits an overcommitted node", n, []berth.Pod{pod("old", "n", 9000)}, pod("p", "", 0), "n ok"},
		{"but counts as a pod", full, []berth.Pod{pod("old", "n", 0)}, pod("p", "", 0), "n NodeResourcesFit*"},
		{"an untolerated taint refuses for good", tainted, nil, pod("p", "", 0), "n TaintToleration"},
		{"no operator means Equal", tainted, nil, tolerates(berth.Toleration{Key: "k", Value: "v"}), "n ok"},
		{"another value does not tolerate", tainted, nil, tolerates(berth.Toleration{Key: "k", Value: "w"}), "n TaintToleration"},
		{"another effect does not tolerate", tainted, nil, tolerates(berth.Toleration{Key: "k", Value: "v", Effect: berth.NoSchedule}), "n TaintToleration"},
		{"Exists without a key tolerates everything", tainted, nil, tolerates(berth.Toleration{Operator: berth.TolerationExists}), "n ok"},
		{"a cordoned node refuses for good", cordoned, nil, pod("p", "", 0), "n NodeUnschedulable"},
		{"unless its taint is tolerated", cordoned, nil, tolerates(berth.Toleration{Key: berth.TaintNodeUnschedulable, Operator: berth.TolerationExists}), "n ok"},
		{"terms are alternatives", n, nil, needs(expr("disk", berth.In, "hdd"), expr("gen", berth.Gt, "6")), "n ok"},
		{"Gt is above, not equal", n, nil, needs(expr("gen", berth.Gt, "7")), "n NodeAffinity"},
		{"a term that does not parse is skipped", n, nil, needs(expr("gen", berth.Gt, "6.5"), expr("disk", berth.Exists)), "n ok"},
		{"no terms match nothing", n, nil, needs(), "n NodeAffinity"},
		{"an empty term matches nothing", n, nil, needs(berth.NodeSelectorTerm{}), "n NodeAffinity"},
		{"a node may be named", n, nil, needs(named(berth.In, "n")), "n ok"},
		{"a name that is left out", n, nil, needs(named(berth.NotIn, "n")), "n NodeAffinity"},
		{"a port in use may be freed", n, []berth.Pod{port("old", "n", "", berth.TCP)}, port("p", "", "10.0.0.1", ""), "n NodePorts*"},
		{"two addresses do not conflict", n, []berth.Pod{port("old", "n", "10.0.0.2", berth.TCP)}, port("p", "", "10.0.0.1", berth.TCP), "n ok"},
		{"nor do two protocols", n, []berth.Pod{port("old", "n", "", berth.UDP)}, port("p", "", "", berth.TCP), "n ok"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := verdicts(&reference.Cluster{Nodes: []berth.Node{c.node}, Pods: c.on}, c.pod); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

// TestNominatedPodsHoldTheirRoom against pods of lower or equal priority, which must also do without them
// (kubernetes#72124).
func TestNominatedPodsHoldTheirRoom(t *testing.T) {
	waiting := with(pod("waiting", "", 2000, "app=waiting"), priority(10))
	waiting.NominatedNodeName = "n1"
	cluster := &reference.Cluster{
		Nodes: []berth.Node{node("n1", host+"=n1")},
		Pods:  []berth.Pod{with(pod("running", "n1", 1000), priority(50)), waiting},
	}
	for _, c := range []struct {
		name string
		pod  berth.Pod
		want string
	}{
		{"a lower one does not get the room", with(pod("p", "", 2000), priority(5)), "n1 NodeResourcesFit*"},
		{"it gets what is left beside it", with(pod("p", "", 1000), priority(5)), "n1 ok"},
		{"an equal one does not get it either", with(pod("p", "", 2000), priority(10)), "n1 NodeResourcesFit*"},
		{"a higher one does", with(pod("p", "", 3000), priority(11)), "n1 ok"},
		{"nobody can count on its company", with(pod("p", "", 500), priority(5), near(term(host, "app=waiting"))), "n1 InterPodAffinity"},
		{"it does not stand in its own way", waiting, "n1 ok"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := verdicts(cluster, c.pod); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}
