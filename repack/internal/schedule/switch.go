package schedule

import (
	"slices"

	"vjob/repack"
	"vjob/repack/internal/placement"
)

// switching is which nodes are on. Nodes go off once they are empty, and come on first, or as soon
// as the limits of nodes that are on allow it.
type switching struct {
	agenda      *agenda
	occupancy   *occupancy
	power       placement.NodePower
	on          []bool         // nodes that accept VMs now
	offAt       []repack.Ticks // when each node goes off
	images      []int          // images on each node that are still to be resumed
	onlineCount []int          // nodes of each limit that are on, coming on or going off
	toSwitchOn  []int          // nodes that are still to come on
}

// newSwitching is the state before the first instant.
func newSwitching(a *agenda, o *occupancy, power placement.NodePower) switching {
	nodes := len(a.In.Nodes)
	s := switching{
		agenda: a, occupancy: o, power: power,
		on: make([]bool, nodes), offAt: make([]repack.Ticks, nodes), images: make([]int, nodes),
	}
	for n := range nodes {
		s.on[n], s.offAt[n] = a.In.Nodes[n].State == repack.Online, repack.Forever
	}
	return s
}

// powerUp switches nodes on, and those off that are empty already.
func (s *switching) powerUp() {
	s.onlineCount = make([]int, len(s.agenda.Limits))
	for i, l := range s.agenda.Limits {
		for _, n := range l.Nodes {
			if s.agenda.In.Nodes[n].State == repack.Online {
				s.onlineCount[i]++
			}
		}
	}
	for n := range s.agenda.In.Nodes {
		if s.agenda.In.Nodes[n].State == repack.Offline && s.power.On[n] {
			s.toSwitchOn = append(s.toSwitchOn, n)
		} else {
			s.offIfEmpty(n)
		}
	}
	s.agenda.pending += len(s.toSwitchOn)
	s.onAllowed()
}

// onAllowed switches on the nodes that limits allow.
func (s *switching) onAllowed() {
	s.toSwitchOn = slices.DeleteFunc(s.toSwitchOn, func(n int) bool {
		for i, l := range s.agenda.Limits {
			if l.Always && s.onlineCount[i] >= l.Most && slices.Contains(l.Nodes, n) {
				return false
			}
		}
		s.agenda.pending--
		s.countOnline(n, 1)
		s.agenda.startNow(task{vm: repack.Nowhere, kind: repack.NodeOn, from: repack.Nowhere, to: n, takes: s.agenda.In.NodeOn, unit: -1, then: -1})
		return true
	})
}

// countOnline changes the number of nodes that are on, for each limit.
func (s *switching) countOnline(n, by int) {
	for i, l := range s.agenda.Limits {
		if slices.Contains(l.Nodes, n) {
			s.onlineCount[i] += by
		}
	}
}

// offIfEmpty switches a node off that shall go off and is empty.
func (s *switching) offIfEmpty(n int) {
	node := &s.agenda.In.Nodes[n]
	if node.State == repack.Online && s.power.Off[n] && s.occupancy.vmCount[n] == 0 && s.images[n] == 0 && s.offAt[n] == repack.Forever {
		s.offAt[n], s.on[n] = s.agenda.clock, false
		s.agenda.startNow(task{vm: repack.Nowhere, kind: repack.NodeOff, from: repack.Nowhere, to: n, takes: s.agenda.In.NodeOff, unit: -1, then: -1})
	}
}

// ended ends the switching of a node. It reports whether the node accepts VMs from now on.
func (s *switching) ended(t *task) (on bool) {
	s.agenda.Last = max(s.agenda.Last, t.end)
	if t.kind == repack.NodeOn {
		s.on[t.to] = true
		return true
	}
	s.countOnline(t.to, -1)
	s.onAllowed()
	return false
}
