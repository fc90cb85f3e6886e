package decide

import (
	"vjob/cluster"
	"vjob/scheduler/balance"
)

// Traffic is how fast a VM receives or sends, whichever is more: now, and least and most in the last hour.
type Traffic func(vm cluster.VMID) (now, least, most cluster.Rate)

// smallTraffic is the part of the narrowest link up to which the traffic of a VM is not counted: VMs that only tell each
// other that they are there would otherwise take weight from CPU and memory.
const smallTraffic = 1. / 1000

// weighNetwork adds the network to the resources that are balanced: the traffic of VMs, and the links of nodes as the
// settings state them. A node without a stated link has no network load.
func (s *balancer) weighNetwork() {
	links, narrowest := s.links()
	if s.Traffic == nil || narrowest == balance.Unlimited {
		return
	}
	used := false
	for i, vm := range s.vms {
		now, least, most := s.Traffic(vm)
		if float64(most) <= smallTraffic*float64(narrowest) {
			continue
		}
		used = true
		v := &s.model.VMs[i]
		v.Demand[balance.Network], v.Least[balance.Network], v.Most[balance.Network] = int64(now), int64(least), int64(most)
	}
	if !used {
		return
	}
	for n, link := range links {
		s.model.Nodes[n].Capacity[balance.Network] = link
		if link == balance.Unlimited {
			s.model.Compatible, s.model.Moved = s.compatible, s.noteMove
		}
	}
}

// links returns the links of the nodes, in bytes per second, and the narrowest of them.
func (s *balancer) links() (links []int64, narrowest int64) {
	narrowest = balance.Unlimited
	links = make([]int64, len(s.nodes))
	for n, id := range s.nodes {
		links[n] = balance.Unlimited
		if s.settings.Network == nil {
			continue
		}
		if rate := s.settings.Network.NIC[id]; rate > 0 {
			links[n] = min(balance.Unlimited-1, int64(rate))
		}
		narrowest = min(narrowest, links[n])
	}
	return links, narrowest
}

// leavesLinks reports whether a VM with traffic would move to a node of which the link is not stated from one of which it
// is. All traffic would collect there, as none of it would count.
func (s *balancer) leavesLinks(vm, node int) bool {
	v := &s.model.VMs[vm]
	return v.Most[balance.Network] > 0 && s.hasLink(v.Node) && !s.hasLink(node)
}

// hasLink reports whether the network load of a node counts.
func (s *balancer) hasLink(node int) bool {
	link := s.model.Nodes[node].Capacity[balance.Network]
	return link > 0 && link != balance.Unlimited
}

// networkLoad returns the network load of a node, before and after the moves of a round; nil if it does not count.
func (s *balancer) networkLoad(node int, l *balance.Load) *[2]float64 {
	if !s.hasLink(node) {
		return nil
	}
	return &[2]float64{l.Before[balance.Network], l.After[balance.Network]}
}
