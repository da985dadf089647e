package reference

import "github.com/berth-go/berth"

// filterPorts is plugins/nodeports.
func filterPorts(pod *berth.Pod, on []*berth.Pod) verdict {
	for _, want := range pod.HostPorts {
		for _, p := range on {
			for _, used := range p.HostPorts {
				if portsConflict(want, used) {
					return resolvable
				}
			}
		}
	}
	return passes
}

// portsConflict follows kube-scheduler/framework, HostPortInfo.CheckConflict.
func portsConflict(a, b berth.HostPort) bool {
	const every = "0.0.0.0"
	for _, p := range []*berth.HostPort{&a, &b} {
		if p.Port <= 0 {
			return false
		}
		if p.HostIP == "" {
			p.HostIP = every
		}
		if p.Protocol == "" {
			p.Protocol = berth.TCP
		}
	}
	return a.Port == b.Port && a.Protocol == b.Protocol && (a.HostIP == b.HostIP || a.HostIP == every || b.HostIP == every)
}
