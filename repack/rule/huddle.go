package rule

import "vjob/repack"

// huddle counts how many of a set of VMs are not where most of them are. A place is
// a node or a group of nodes.
type huddle struct {
	at    tally
	sizes []int32 // how many places have so many of them
	total int
	most  int
}

func newHuddle(members int) huddle {
	return huddle{at: newTally(members), sizes: make([]int32, members+2)}
}

// delta is how the count changes if one goes from a place to another.
func (h *huddle) delta(from, to int) int {
	if from == to {
		return 0
	}
	d, after := 0, h.most
	left, came := 0, 0
	if from != repack.Nowhere {
		left = h.at.get(from)
		d--
	}
	if to != repack.Nowhere {
		came = h.at.get(to) + 1
		d++
	}
	switch {
	case came > h.most:
		after = came
	case left == h.most && left > 0 && came < left && h.sizes[left] == 1:
		after--
	}
	return d - (after - h.most)
}

func (h *huddle) move(from, to int) {
	if from == to {
		return
	}
	if from != repack.Nowhere {
		h.size(h.at.add(from, -1), -1)
	}
	if to != repack.Nowhere {
		h.size(h.at.add(to, 1), 1)
	}
	for h.most > 0 && h.sizes[h.most] == 0 {
		h.most--
	}
}

// size notes that a place has now n, one more or one less than before.
func (h *huddle) size(n, d int) {
	h.total += d
	h.sizes[n]++
	h.sizes[n-d]--
	h.most = max(h.most, n)
}

// herd keeps a set of VMs at one place along the plan: no two may be at different places at
// one time, not even while migrating. If they are apart at first, they may come together: a VM
// where it ran at first does not count then.
type herd struct {
	in    *repack.Instance
	apart bool
	at    tally
	total int
}

func newHerd(in *repack.Instance, vms []int, place func(node int) int) herd {
	h := herd{in: in, at: newTally(2)}
	where, seen := repack.Nowhere, false
	for _, vm := range vms {
		if v := &in.VMs[vm]; v.State == repack.Running {
			p := place(v.Host)
			h.apart = h.apart || p == repack.Nowhere || seen && p != where
			where, seen = p, true
		}
	}
	return h
}

// excused reports whether it does not count that the VM is on the node.
func (h *herd) excused(vm, node int) bool {
	v := &h.in.VMs[vm]
	return h.apart && v.State == repack.Running && v.Host == node
}

func (h *herd) admits(vm, node, place int) bool {
	return h.excused(vm, node) || place != repack.Nowhere && h.at.get(place) == h.total
}

func (h *herd) count(vm, node, place, d int) {
	if !h.excused(vm, node) {
		h.total += d
		h.at.add(place, d)
	}
}
