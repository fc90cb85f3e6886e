package conformance

import (
	"time"

	"vjob/hypervisor"
)

var saveCases = []caseOf{
	{name: "save, seal, restore on another node", note: "counters go on", run: saveRestore},
	{name: "gang saved and restored elsewhere", nodes: 3, run: gangMoves},
	{name: "save of a running guest", run: saveRunning},
	{name: "save on a used name", run: saveUsedName},
	{
		name:  "disk full in a save",
		needs: func(h *Harness) bool { return h.Hooks.FillDisk != nil && h.Hooks.EmptyDisk != nil }, run: saveDiskFull,
	},
	{name: "save aborted", run: saveAborted},
	{
		name:  "guest killed in a save",
		needs: func(h *Harness) bool { return h.Hooks.KillGuest != nil }, run: saveKilled,
	},
	{
		name:  "daemon killed in a save",
		needs: func(h *Harness) bool { return h.Hooks.KillDaemon != nil }, run: saveDaemonKilled,
	},
}

// stored looks for the first image of rank 0.
func stored(b *caseRun) (hypervisor.Image, bool) {
	b.Helper()
	s := b.store()
	return s.Find(b.image(0))
}

func saveRestore(b *caseRun) {
	sum, count := b.saved()
	i, ok := stored(b)
	if !ok || !i.Complete || i.Bytes <= 0 || i.Node != b.node(0) {
		b.Fatalf("image %+v, there: %t", i, ok)
	}
	free := b.store().Free
	for _, node := range b.h.Nodes {
		if free[node].Pool == "" {
			b.Errorf("no free space is shown for %s", node)
		}
	}
	b.must(b.restoring(0, 1, sum, 1))
	b.becomes(0, b.at(1, hypervisor.CopyPaused))
	b.stays(b.at(1, hypervisor.CopyPaused))
	if c, _ := lookFor(b, 1); c.Stamp != stamp {
		b.Errorf("stamp after a restore %+v, want %+v", c.Stamp, stamp)
	}
	b.unpause(0, 1)
	b.continues(0, count)
	b.must(b.call(hypervisor.Discard, 0, b.node(0)))
	if i, ok := stored(b); ok {
		b.Errorf("image %+v after its deletion", i)
	}
}

// gangMoves is the whole protocol: all pause, all save, all are restored paused on other nodes,
// all continue.
func gangMoves(b *caseRun) {
	const members = 3
	counts := make([]int64, members)
	for rank := range members {
		b.boot(rank, rank)
	}
	for rank := range members {
		counts[rank] = b.pause(rank, rank)
	}
	saves := make([]<-chan error, members)
	for rank := range members {
		saves[rank] = b.async(b.call(hypervisor.Save, rank, b.node(rank)))
	}
	for rank := range members {
		if err := <-saves[rank]; err != nil {
			b.Fatalf("save of rank %d: %v", rank, err)
		}
	}
	restores := make([]<-chan error, members)
	for rank := range members {
		sum := b.seal(rank, rank)
		restores[rank] = b.async(b.restoring(rank, (rank+1)%members, sum, 1))
	}
	for rank := range members {
		if err := <-restores[rank]; err != nil {
			b.Fatalf("restore of rank %d: %v", rank, err)
		}
	}
	first := time.Now()
	for rank := range members {
		b.must(b.call(hypervisor.Unpause, rank, b.node((rank+1)%members)))
	}
	b.Logf("%d unpauses one after another: %s", members, time.Since(first))
	for rank := range members {
		b.becomes(rank, b.at((rank+1)%members, hypervisor.CopyRunning))
		b.continues(rank, counts[rank])
	}
}

// saveRunning: the contract covers only paused copies. A driver may refuse a running copy, or
// save its state at one instant.
func saveRunning(b *caseRun) {
	b.boot(0, 0)
	_, err := b.do(b.call(hypervisor.Save, 0, b.node(0)))
	after := b.withoutJobs()
	i, ok := stored(b)
	switch {
	case err == nil && after == "" && ok && i.Complete:
		b.Log("saved at once")
	case err != nil && after == b.at(0, hypervisor.CopyRunning) && (!ok || !i.Complete):
		b.Logf("refused: %v", err)
	default:
		b.Errorf("error %v, copies %q, image %+v", err, after, i)
	}
}

func saveUsedName(b *caseRun) {
	sum, count := b.saved()
	b.must(b.restoring(0, 0, sum, 1))
	b.unpause(0, 0)
	b.counts(0)
	b.pause(0, 0)
	b.fails(b.call(hypervisor.Save, 0, b.node(0)))
	b.becomes(0, b.at(0, hypervisor.CopyPaused))
	if again := b.seal(0, 0); again != sum {
		b.Fatalf("the old image was %s and is %s", sum, again)
	}
	b.must(b.call(hypervisor.Destroy, 0, b.node(0)))
	b.becomes(0, "")
	b.must(b.restoring(0, 1, sum, 2))
	b.unpause(0, 1)
	b.continues(0, count)
}

func saveDiskFull(b *caseRun) {
	b.boot(0, 0)
	count := b.pause(0, 0)
	b.hook("fill the disk", b.h.Hooks.FillDisk(b.node(0)))
	_, err := b.do(b.call(hypervisor.Save, 0, b.node(0)))
	after := b.withoutJobs()
	i, ok := stored(b)
	b.hook("empty the disk", b.h.Hooks.EmptyDisk(b.node(0)))
	if err == nil {
		b.Fatal("a save on a full disk succeeded")
	}
	b.failed(b.call(hypervisor.Save, 0, b.node(0)), err, hypervisor.ErrNoSpace)
	if after != b.at(0, hypervisor.CopyPaused) || ok && i.Complete {
		b.Fatalf("copies %q, image %+v", after, i)
	}
	second := b.call(hypervisor.Save, 0, b.node(0))
	second.Image.Attempt = 2
	b.must(second)
	seal := b.call(hypervisor.Seal, 0, b.node(0))
	seal.Image = second.Image
	restore := b.restoring(0, 0, b.must(seal).Checksum, 1)
	restore.Image = second.Image
	b.must(restore)
	b.unpause(0, 0)
	b.continues(0, count)
}

// pausedOrSaved checks that an interrupted save ended in one of two ways: the copy is paused and
// no image is complete, or the image is complete and the copy is gone.
func pausedOrSaved(b *caseRun, err error) {
	b.Helper()
	after := b.withoutJobs()
	i, ok := stored(b)
	switch {
	case after == b.at(0, hypervisor.CopyPaused) && (!ok || !i.Complete):
		b.Logf("error %v, still paused; image %+v, there: %t", err, i, ok)
		if err == nil {
			b.Error("the save returned no error")
		}
	case after == "" && ok && i.Complete:
		b.Logf("error %v, but saved: the save was faster", err)
	default:
		b.Fatalf("error %v, neither paused nor saved: copies %q, image %+v, there: %t", err, after, i, ok)
	}
}

// saving begins a save and waits until it is visible or over.
func saving(b *caseRun) <-chan error {
	b.Helper()
	ended := b.async(b.call(hypervisor.Save, 0, b.node(0)))
	b.until("the save is visible", func() (string, bool) {
		text, _ := b.copies(0)
		return text, text != b.at(0, hypervisor.CopyPaused)
	})
	return ended
}

func saveAborted(b *caseRun) {
	b.boot(0, 0)
	b.pause(0, 0)
	ended := saving(b)
	_, err := b.do(b.call(hypervisor.Abort, 0, b.node(0)))
	b.Logf("abort: %v", err)
	pausedOrSaved(b, <-ended)
}

func saveKilled(b *caseRun) {
	b.boot(0, 0)
	b.pause(0, 0)
	ended := saving(b)
	missed := b.h.Hooks.KillGuest(b.vm(0), b.node(0))
	err := <-ended
	after := b.withoutJobs()
	i, ok := stored(b)
	saved := ok && i.Complete
	if after != "" && after != b.at(0, hypervisor.CopyDead) || saved != (err == nil) {
		b.Fatalf("error %v, copies %q, image %+v", err, after, i)
	}
	if missed != nil && !saved {
		b.Fatalf("the guest was neither saved (%v) nor killed: %v", err, missed)
	}
	b.Logf("error %v; the save was faster: %t", err, saved)
}

func saveDaemonKilled(b *caseRun) {
	b.boot(0, 0)
	b.pause(0, 0)
	ended := saving(b)
	b.hook("kill the daemon", b.h.Hooks.KillDaemon(b.node(0)))
	pausedOrSaved(b, <-ended)
}
