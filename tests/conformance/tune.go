package conformance

import (
	"fmt"

	"vjob/cluster"
	"vjob/hypervisor"
)

// tuneCases are about caps and weights.
var tuneCases = []caseOf{
	{name: "cap a running guest", note: "shares", needs: tunes, run: capRunning},
	{name: "cap a paused guest", note: "shares", needs: tunes, run: capPaused},
	{name: "boot under a cap", note: "shares", needs: tunes, run: capBooted},
	{name: "restore under another cap", note: "shares", needs: tunes, run: capRestored},
	{name: "a cap moves with its guest", note: "shares", needs: tunes, run: capMigrated},
	{name: "weigh a guest", note: "shares", needs: tunes, run: weighRunning},
	{name: "boot with a weight", note: "shares", needs: tunes, run: weighBooted},
	{name: "restore with another weight", note: "shares", needs: tunes, run: weighRestored},
	{name: "a weight moves with its guest", note: "shares", needs: tunes, run: weighMigrated},
	{name: "tune without a copy", note: "shares", needs: tunes, run: func(b *caseRun) {
		b.fails(b.tuning(cluster.CPU/2, 0), hypervisor.ErrNoSuchVM)
		b.fails(b.tuning(0, 300), hypervisor.ErrNoSuchVM)
	}},
}

func tunes(h *Harness) bool { return h.Caps }

// tuning is a call that caps and weighs the member of rank 0 on the first node.
func (b *caseRun) tuning(most cluster.MilliCPU, weight int) hypervisor.Call {
	c := b.call(hypervisor.Tune, 0, b.node(0))
	c.Cap, c.Weight = most, weight
	return c
}

// tuned waits until a look shows that cap and that weight of rank 0 on a node; any weight if it is 0.
func (b *caseRun) tuned(node int, most cluster.MilliCPU, weight int) {
	b.Helper()
	b.until(fmt.Sprintf("VM %s has cap %s and weight %d", b.vm(0), most, weight), func() (string, bool) {
		v := b.look(b.node(node))
		c, ok := v.Copy(b.vm(0))
		return fmt.Sprintf("%+v", c), ok && c.Cap == most && (weight == 0 || c.Weight == weight)
	})
}

// capIs waits until a look shows that cap of rank 0 on a node.
func (b *caseRun) capIs(node int, most cluster.MilliCPU) {
	b.Helper()
	b.tuned(node, most, 0)
}

// capRunning: a cap applies at once and may be repeated, changed and lifted; the guest continues
// all the time.
func capRunning(b *caseRun) {
	b.boot(0, 0)
	count := b.counter(0)
	b.capIs(0, 0)
	for _, most := range []cluster.MilliCPU{500, 500, 250, 1000, 0, 0} {
		b.must(b.tuning(most, 0))
		b.capIs(0, most)
	}
	b.continues(0, count)
}

func capPaused(b *caseRun) {
	b.boot(0, 0)
	count := b.pause(0, 0)
	b.must(b.tuning(500, 0))
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
	b.must(b.tuning(500, 0))
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
	b.must(b.tuning(500, 0))
	b.pause(0, 0)
	b.must(b.migrating(0, 1))
	b.becomes(0, b.at(1, hypervisor.CopyPaused))
	b.capIs(1, 500)
}

// weighRunning: a weight applies at once, beside a cap, and stays where a call gives none.
func weighRunning(b *caseRun) {
	b.boot(0, 0)
	count := b.counter(0)
	for _, c := range []struct {
		most         cluster.MilliCPU
		weight, want int
	}{
		{0, 300, 300},
		{0, 300, 300},
		{500, 0, 300},
		{500, hypervisor.MaxWeight, hypervisor.MaxWeight},
		{0, 2, 2},
		{0, hypervisor.DefaultWeight, hypervisor.DefaultWeight},
	} {
		b.must(b.tuning(c.most, c.weight))
		b.tuned(0, c.most, c.want)
	}
	b.continues(0, count)
}

func weighBooted(b *caseRun) {
	c := b.booting(0, 0, 0)
	c.Cap, c.Weight = 750, 250
	b.must(c)
	b.becomes(0, b.at(0, hypervisor.CopyRunning))
	b.tuned(0, 750, 250)
}

// weighRestored: the weight of the restore applies, whatever it was when the guest was saved.
func weighRestored(b *caseRun) {
	b.boot(0, 0)
	b.must(b.tuning(0, 500))
	b.pause(0, 0)
	b.must(b.call(hypervisor.Save, 0, b.node(0)))
	sum := b.must(b.call(hypervisor.Seal, 0, b.node(0))).Checksum
	restore := b.restoring(0, 0, sum, 1)
	restore.Weight = 250
	b.must(restore)
	b.tuned(0, 0, 250)
}

func weighMigrated(b *caseRun) {
	b.boot(0, 0)
	b.must(b.tuning(0, 500))
	b.pause(0, 0)
	b.must(b.migrating(0, 1))
	b.becomes(0, b.at(1, hypervisor.CopyPaused))
	b.tuned(1, 0, 500)
}
