package conformance

import (
	"fmt"

	"vjob/cluster"
	"vjob/hypervisor"
)

var capCases = []caseOf{
	{name: "cap a running guest", note: "shares", needs: capped, run: capRunning},
	{name: "cap a paused guest", note: "shares", needs: capped, run: capPaused},
	{name: "boot under a cap", note: "shares", needs: capped, run: capBooted},
	{name: "restore under another cap", note: "shares", needs: capped, run: capRestored},
	{name: "a cap moves with its guest", note: "shares", needs: capped, run: capMigrated},
	{name: "cap without a copy", note: "shares", needs: capped, run: func(b *caseRun) {
		b.fails(b.capping(cluster.CPU/2), hypervisor.ErrNoSuchVM)
	}},
}

func capped(h *Harness) bool { return h.Caps }

// capping is a call that caps the member of rank 0 on the first node.
func (b *caseRun) capping(most cluster.MilliCPU) hypervisor.Call {
	c := b.call(hypervisor.Tune, 0, b.node(0))
	c.Cap = most
	return c
}

// capIs waits until a look shows that cap of rank 0 on a node.
func (b *caseRun) capIs(node int, most cluster.MilliCPU) {
	b.Helper()
	b.until(fmt.Sprintf("VM %s is capped at %s CPU", b.vm(0), most), func() (string, bool) {
		v := b.look(b.node(node))
		c, ok := v.Copy(b.vm(0))
		return fmt.Sprintf("%+v", c), ok && c.Cap == most
	})
}

// capRunning: a cap applies at once and may be repeated, changed and lifted; the guest continues
// all the time.
func capRunning(b *caseRun) {
	b.boot(0, 0)
	count := b.counter(0)
	b.capIs(0, 0)
	for _, most := range []cluster.MilliCPU{500, 500, 250, 1000, 0, 0} {
		b.must(b.capping(most))
		b.capIs(0, most)
	}
	b.continues(0, count)
}

func capPaused(b *caseRun) {
	b.boot(0, 0)
	count := b.pause(0, 0)
	b.must(b.capping(500))
	b.capIs(0, 500)
	b.unpause(0, 0)
	b.capIs(0, 500)
	b.continues(0, count)
}

func capBooted(b *caseRun) {
	c := b.booting(0, 0, 0)
	c.Cap = 750
	b.must(c)
	b.becomes(0, b.at(0, hypervisor.CopyRunning))
	b.capIs(0, 750)
}

// capRestored: the cap of the restore applies before the guest continues, whatever its cap was
// when it was saved.
func capRestored(b *caseRun) {
	b.boot(0, 0)
	b.must(b.capping(500))
	b.pause(0, 0)
	b.must(b.call(hypervisor.Save, 0, b.node(0)))
	sum := b.must(b.call(hypervisor.Seal, 0, b.node(0))).Checksum
	restore := b.restoring(0, 0, sum, 1)
	restore.Cap = 250
	b.must(restore)
	b.capIs(0, 250)
}

func capMigrated(b *caseRun) {
	b.boot(0, 0)
	b.must(b.capping(500))
	b.pause(0, 0)
	b.must(b.migrating(0, 1))
	b.becomes(0, b.at(1, hypervisor.CopyPaused))
	b.capIs(1, 500)
}
