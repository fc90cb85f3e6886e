package conformance

import (
	"fmt"
	"time"

	"vjob/cluster"
	"vjob/hypervisor"
)

// demandCases are about what guests demand, beside what they get.
var demandCases = []caseOf{
	{name: "an idle guest demands little", note: "DRS eq. 1", needs: hasBusy, run: demandIdle},
	{name: "a crowded node shows what its guests demand", note: "DRS eq. 1", needs: hasBusy, run: demandCrowded},
	{name: "a guest that is paused keeps its demand", needs: hasBusy, run: demandPaused},
	{name: "weights divide a crowded node", note: "shares", needs: func(h *Harness) bool { return hasBusy(h) && h.Caps }, run: demandWeighed},
	{name: "a guest tells its working set", needs: func(h *Harness) bool { return h.Uses > 0 }, run: demandMemory},
	{name: "a working set moves with its guest", needs: func(h *Harness) bool { return h.Uses > 0 }, run: demandMemoryMoved},
}

func hasBusy(h *Harness) bool { return h.Busy > 0 }

// start boots a guest on the first node. Busy guests share one processor there, or fill it alone.
func (b *caseRun) start(rank int, g Guest) {
	b.Helper()
	c := b.booting(rank, 0, 0)
	g.VM, g.Members, g.Memory = c.VM, 1, b.h.Memory
	c.Machine = b.h.Machine(g)
	b.must(c)
	b.becomes(rank, b.at(0, hypervisor.CopyRunning))
	b.counts(rank)
	if g.Busy && b.h.Hooks.Squeeze != nil {
		b.hook("squeeze", b.h.Hooks.Squeeze(c.VM, c.Node))
	}
}

// demands waits until a member demands CPU between two bounds, and returns it.
func (b *caseRun) demands(rank int, least, most cluster.MilliCPU) (demand cluster.MilliCPU) {
	b.Helper()
	b.until(fmt.Sprintf("VM %s demands %s to %s CPU", b.vm(rank), least, most), func() (string, bool) {
		v := b.look(b.node(0))
		c, ok := v.Copy(b.vm(rank))
		demand = c.CPU
		return fmt.Sprintf("%+v", c), ok && demand >= least && demand <= most
	})
	return demand
}

// busy waits until a member demands what a busy guest does, and returns it.
func (b *caseRun) busy(rank int) cluster.MilliCPU {
	b.Helper()
	return b.demands(rank, b.h.Busy*9/10, b.h.Busy*11/10)
}

// demandIdle: before it was measured a guest may demand its reservation, and then what it needs.
func demandIdle(b *caseRun) {
	b.start(0, Guest{Idle: true})
	b.demands(0, 0, b.h.Busy/2)
}

// demandCrowded: two guests, each of which would use all that there is, demand twice that, and get it
// only once.
func demandCrowded(b *caseRun) {
	b.start(0, Guest{Busy: true})
	b.start(1, Guest{Busy: true})
	began, from := time.Now(), b.used(0)+b.used(1)
	sum := b.busy(0) + b.busy(1)
	b.Logf("both demand %s of %s CPU; they used %s in %s", sum, b.h.Busy, b.used(0)+b.used(1)-from, time.Since(began))
}

func demandPaused(b *caseRun) {
	b.start(0, Guest{Busy: true})
	b.busy(0)
	b.pause(0, 0)
	kept := b.busy(0) // of the last measurement, which may be later than the one above
	for end := time.Now().Add(b.h.Moment); time.Now().Before(end); time.Sleep(b.h.Poll) {
		if now := b.busy(0); now != kept {
			b.Fatalf("paused it demands %s CPU, and then %s", kept, now)
		}
	}
}

// used is the CPU time of a member on the first node.
func (b *caseRun) used(rank int) time.Duration {
	b.Helper()
	v := b.look(b.node(0))
	c, ok := v.Copy(b.vm(rank))
	if !ok {
		b.Fatalf("%s is gone", b.vm(rank))
	}
	return c.CPUTime
}

// demandWeighed: under contention a guest of three times the weight gets about three times the CPU.
func demandWeighed(b *caseRun) {
	b.start(0, Guest{Busy: true})
	b.start(1, Guest{Busy: true})
	for rank, weight := range []int{100, 300} {
		c := b.call(hypervisor.Tune, rank, b.node(0))
		c.Weight = weight
		b.must(c)
	}
	light, heavy := b.used(0), b.used(1)
	b.until("both have run for a while", func() (string, bool) {
		sum := b.used(0) - light + b.used(1) - heavy
		return sum.String(), sum > 3*time.Second
	})
	light, heavy = b.used(0)-light, b.used(1)-heavy
	b.Logf("weights 100 and 300: %s and %s of CPU", light, heavy)
	if ratio := heavy.Seconds() / light.Seconds(); ratio < 2.2 || ratio > 4 {
		b.Errorf("with three times the weight the guest got %.2f times the CPU", ratio)
	}
}

// usesIs waits until a look shows about the memory that rank 0 uses. Guests use some more than they
// were told to.
func (b *caseRun) usesIs(node int) {
	b.Helper()
	b.until(fmt.Sprintf("VM %s uses %s", b.vm(0), b.h.Uses), func() (string, bool) {
		v := b.look(b.node(node))
		c, ok := v.Copy(b.vm(0))
		return fmt.Sprintf("%+v", c), ok && c.Memory >= b.h.Uses && c.Memory <= b.h.Uses+4 && c.Memory <= c.Size.Memory
	})
}

func demandMemory(b *caseRun) {
	b.start(0, Guest{Uses: b.h.Uses})
	b.usesIs(0)
}

func demandMemoryMoved(b *caseRun) {
	b.start(0, Guest{Uses: b.h.Uses})
	b.usesIs(0)
	b.must(b.migrating(0, 1))
	b.becomes(0, b.at(1, hypervisor.CopyRunning))
	b.usesIs(1)
}
