package sim

import (
	"vjob/cluster"
	"vjob/ctxswitch/gang"
	"vjob/hypervisor"
	"vjob/hypervisor/simulated"
)

// Rest checks I7 and I14 against the truth, for every gang in a stable phase while no node has
// a fault. A vjob that has ended, or waits, has neither copies nor images. A running vjob has
// exactly one running copy of each member that has not ended, a vjob paused in memory one
// paused copy, and a suspended one only its images. Images kept since a loss do not count.
func (k *Checker) Rest() {
	truth := k.cluster.Truth()
	for id, rec := range k.gangs {
		if !rec.Phase.Stable() {
			continue
		}
		for rank := range rec.Members {
			k.restOf(cluster.VMID{VJob: id, Rank: rank}, rec, truth)
		}
	}
}

func (k *Checker) restOf(vm cluster.VMID, rec gang.Record, truth simulated.Truth) {
	copies, running, images := 0, 0, 0
	for _, c := range truth.Copies {
		if c.VM == vm {
			copies++
			if c.State == hypervisor.CopyRunning {
				running++
			}
		}
	}
	own := rec.Members[vm.Rank].Image
	for _, i := range truth.Images {
		_, kept := rec.Keeps(i.ID.Generation)
		// Of an abandoned save, and the VM has not run since.
		unused := i.Complete && i.ID.Generation > rec.UsedUpTo && (own == nil || own.ID != i.ID)
		if i.ID.VM == vm && !kept && !unused {
			images++
		}
	}
	want := [3]int{}
	switch {
	case rec.Members[vm.Rank].Ended:
	case rec.Phase == gang.Active:
		want = [3]int{1, 1, 0}
	case rec.Phase == gang.Paused:
		want = [3]int{1, 0, 0}
	case rec.Phase == gang.Saved:
		want = [3]int{0, 0, 1}
	}
	if got := [3]int{copies, running, images}; got != want {
		k.violate(7, "%s of a gang at rest, which is %s, has %d copies, %d of them running, and %d images; want %v",
			vm, rec.Phase, copies, running, images, want)
	}
}
