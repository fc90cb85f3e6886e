package sim

import (
	"vjob/cluster"
	"vjob/ctxswitch/gang"
	"vjob/hypervisor"
	"vjob/hypervisor/simulated"
)

// suspension is one generation of images of a vjob.
type suspension struct {
	vjob       cluster.VJobID
	generation int
}

// noteEpochs records the epochs of the disks of a gang at the begin of a save. A disk with a larger
// epoch was written to after the image of its VM.
func (k *Checker) noteEpochs(rec gang.Record, truth simulated.Truth) {
	epochs := map[simulated.Disk]int{}
	for rank := range rec.Members {
		disk := simulated.Disk{VM: cluster.VMID{VJob: rec.VJob, Rank: rank}, Incarnation: rec.Incarnation}
		epochs[disk] = truth.DiskEpochs[disk]
	}
	k.saves[suspension{rec.VJob, rec.Generation}] = epochs
}

// lastCopy checks that the deletion of a good image loses the memory of no VM: its vjob has ended
// or is being ended on request, or all of its VMs are whole without it (I30). All members
// count, since a gang resumes from one generation as a whole.
func (k *Checker) lastCopy(ch simulated.Change) {
	vjob := ch.VM.VJob
	rec := k.gangs[vjob]
	if !ch.Good || k.jobs[vjob].State.Terminal() || rec.Phase == gang.Clearing && rec.Then.InOrder() {
		return
	}
	truth := k.cluster.Truth()
	for _, i := range truth.Images {
		if i.ID.VM == ch.VM && i.Complete && !i.Corrupt && i.Stamp == ch.Stamp && i.MemoryEpoch == ch.MemoryEpoch {
			return // another image has the same memory
		}
	}
	for rank, m := range rec.Members {
		disk := simulated.Disk{VM: cluster.VMID{VJob: vjob, Rank: rank}, Incarnation: ch.Stamp.Incarnation}
		if m.Ended || k.ranSince(suspension{vjob, ch.Image.Generation}, disk, truth) || inMemory(disk, truth) {
			continue
		}
		k.violate(30, "image %s is deleted, and %s of %d VMs of the vjob, which is %s(%s), has neither run since nor a whole copy",
			ch.Image, disk.VM, len(rec.Members), rec.Phase, rec.Then)
		return
	}
}

// ranSince reports whether a member has run since a generation was saved.
func (k *Checker) ranSince(s suspension, disk simulated.Disk, truth simulated.Truth) bool {
	epoch, saved := k.saves[s][disk]
	return saved && truth.DiskEpochs[disk] > epoch
}

// inMemory reports whether a VM has a whole copy that can run with a disk.
func inMemory(disk simulated.Disk, truth simulated.Truth) bool {
	for _, c := range truth.Copies {
		if c.VM == disk.VM && c.Stamp.Incarnation == disk.Incarnation &&
			!c.Incomplete && !c.Corrupt && c.State != hypervisor.CopyDead && c.MemoryEpoch == truth.DiskEpochs[disk] {
			return true
		}
	}
	return false
}

// left are the copies that are older than the scheduler, and whether they can be paused.
type left map[cluster.VMID]bool

// leftOn returns the copies without a vjob on a node of a run. Some runs have one, and half of these
// cannot be paused. They use no CPU, and the node is larger by their memory.
func (o *Options) leftOn(node int) []simulated.Leftover {
	if o.Faults == (simulated.Rates{}) || o.Power || node != int(o.Seed)%2 || o.Seed%5 != 3 {
		return nil
	}
	return []simulated.Leftover{{
		VM: cluster.VMID{VJob: 900_000}, Size: cluster.Resources{Memory: 512}, Unpausable: o.Seed%2 == 0,
	}}
}

// theft checks I15 for a change of a copy without a vjob, which may only be paused.
func (k *Checker) theft(ch simulated.Change) {
	if _, known := k.left[ch.VM]; !known {
		return
	}
	switch ch.Kind {
	case simulated.Unpaused, simulated.Destroyed, simulated.SaveBegun, simulated.MigrateBegun:
		k.violate(15, "%s on %s, which belongs to no vjob, is %s", ch.VM, ch.Node, ch.Kind)
	default:
	}
}

// leftovers checks the copies without a vjob at the end of a run.
func (k *Checker) leftovers(truth simulated.Truth) {
	for _, c := range truth.Copies {
		if pausable := k.left[c.VM]; pausable && c.State == hypervisor.CopyRunning {
			k.violate(15, "%s on %s, which belongs to no vjob, still runs", c.VM, c.Node)
		}
	}
}
