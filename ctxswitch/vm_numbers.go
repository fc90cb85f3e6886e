package ctxswitch

import "vjob/cluster"

// vmNumbers are the numbers of the VMs of an instance. Those of a vjob lie together: numbers that are given vjob by vjob cost one
// search for each vjob.
type vmNumbers struct {
	vjobs  map[cluster.VJobID]*ranks
	latest *ranks
}

// ranks are the numbers of the VMs of a vjob by rank, and noVM.
type ranks struct {
	vjob    cluster.VJobID
	numbers []int32
}

const noVM = -1

// set gives a VM a number.
func (n *vmNumbers) set(vm cluster.VMID, number int) {
	if n.latest == nil || n.latest.vjob != vm.VJob {
		n.latest = n.vjobs[vm.VJob]
		if n.latest == nil {
			n.latest = &ranks{vjob: vm.VJob}
			n.vjobs[vm.VJob] = n.latest
		}
	}
	for len(n.latest.numbers) <= vm.Rank {
		n.latest.numbers = append(n.latest.numbers, noVM)
	}
	n.latest.numbers[vm.Rank] = int32(number)
}

// of returns the number of a VM; 0 if it has none.
func (n *vmNumbers) of(vm cluster.VMID) (number int, known bool) {
	r := n.vjobs[vm.VJob]
	if r == nil || vm.Rank >= len(r.numbers) || r.numbers[vm.Rank] == noVM {
		return 0, false
	}
	return int(r.numbers[vm.Rank]), true
}
