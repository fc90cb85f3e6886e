package conformance

import (
	"vjob/hypervisor"
)

var migrateCases = []caseOf{
	{name: "migrate paused", run: migratePaused},
	{name: "migrate running", note: "counter continues", run: migrateLive},
	{name: "migrate to a node that has a copy", note: "two copies", run: migrateOnto},
	{name: "migration aborted", run: migrateAborted},
	{
		name:  "migrate to a dead node",
		needs: func(h *Harness) bool { return h.Hooks.KillNode != nil && h.Hooks.ReviveNode != nil }, run: migrateToDead,
	},
	{
		name:  "destination killed in a migration",
		needs: func(h *Harness) bool { return h.Hooks.KillNode != nil && h.Hooks.ReviveNode != nil }, run: migrateKilled,
	},
	{
		name: "paused migration cut in the memory phase", note: "link down",
		needs: func(h *Harness) bool { return h.Hooks.CutMigration != nil },
		run:   func(b *caseRun) { migrateCut(b, hypervisor.CopyPaused) },
	},
	{
		name: "live migration cut in the memory phase", note: "link down",
		needs: func(h *Harness) bool { return h.Hooks.CutMigration != nil },
		run:   func(b *caseRun) { migrateCut(b, hypervisor.CopyRunning) },
	},
	{
		name:  "finish lost, paused",
		needs: func(h *Harness) bool { return h.Hooks.LoseFinish != nil }, run: splitPaused,
	},
	{
		name:  "finish lost, running, no lock",
		needs: func(h *Harness) bool { return h.Hooks.LoseFinish != nil && !h.Locks }, run: splitRunning,
	},
	{
		name:  "finish lost, running, lock",
		needs: func(h *Harness) bool { return h.Hooks.LoseFinish != nil && h.Locks }, run: splitLocked,
	},
}

func migratePaused(b *caseRun) {
	b.boot(0, 0)
	count := b.pause(0, 0)
	b.must(b.migrating(0, 1))
	b.becomes(0, b.at(1, hypervisor.CopyPaused))
	b.stays(b.at(1, hypervisor.CopyPaused))
	if c, _ := lookFor(b, 1); c.Stamp != stamp {
		b.Errorf("stamp after a migration %+v, want %+v", c.Stamp, stamp)
	}
	b.unpause(0, 1)
	b.continues(0, count)
}

func migrateLive(b *caseRun) {
	b.boot(0, 0)
	count := b.counter(0)
	b.must(b.migrating(0, 1))
	b.becomes(0, b.at(1, hypervisor.CopyRunning))
	b.continues(0, count)
}

func migrateOnto(b *caseRun) {
	sum, _ := b.saved()
	b.must(b.restoring(0, 0, sum, 1))
	if _, err := b.do(b.restoring(0, 1, sum, 2)); err != nil {
		b.Logf("a second copy is not possible: %v", err)
		return
	}
	b.fails(b.migrating(0, 1))
	b.becomes(0, b.at(0, hypervisor.CopyPaused)+" "+b.at(1, hypervisor.CopyPaused))
}

// onOneEnd checks that after a migration exactly one copy exists, in the given state, and that it
// is where the error suggests.
func onOneEnd(b *caseRun, err error, s hypervisor.CopyState) {
	b.Helper()
	after := b.withoutJobs()
	b.Logf("migration: error %v, copies %q", err, after)
	switch {
	case err != nil && after == b.at(0, s), err == nil && after == b.at(1, s):
	case err != nil && after == b.at(1, s):
		b.Log("it migrated despite the error")
	default:
		b.Fatalf("migration: error %v, copies %q, want one that is %s", err, after, s)
	}
}

// underWay begins a migration and waits until it is visible or over.
func underWay(b *caseRun, s hypervisor.CopyState) <-chan error {
	b.Helper()
	ended := b.async(b.migrating(0, 1))
	b.until("the migration is visible", func() (string, bool) {
		text, _ := b.copies(0)
		return text, text != b.at(0, s)
	})
	return ended
}

func migrateAborted(b *caseRun) {
	b.boot(0, 0)
	b.pause(0, 0)
	ended := underWay(b, hypervisor.CopyPaused)
	_, err := b.do(b.call(hypervisor.Abort, 0, b.node(0)))
	b.Logf("abort: %v", err)
	onOneEnd(b, <-ended, hypervisor.CopyPaused)
}

func migrateToDead(b *caseRun) {
	b.boot(0, 0)
	count := b.counter(0)
	b.hook("kill the node", b.h.Hooks.KillNode(b.node(1)))
	_, err := b.do(b.migrating(0, 1))
	b.hook("revive the node", b.h.Hooks.ReviveNode(b.node(1)))
	if err == nil {
		b.Error("a migration to a dead node succeeded")
	}
	if after := b.withoutJobs(); after != b.at(0, hypervisor.CopyRunning) {
		b.Fatalf("error %v, copies %q", err, after)
	}
	b.continues(0, count)
}

// migrateKilled: if the destination dies after the handover, the VM is gone; before it, the
// source keeps the VM.
func migrateKilled(b *caseRun) {
	b.boot(0, 0)
	b.pause(0, 0)
	ended := underWay(b, hypervisor.CopyPaused)
	b.hook("kill the node", b.h.Hooks.KillNode(b.node(1)))
	err := <-ended
	b.hook("revive the node", b.h.Hooks.ReviveNode(b.node(1)))
	after := b.withoutJobs()
	b.Logf("migration: error %v, copies %q", err, after)
	if after != b.at(0, hypervisor.CopyPaused) && (err != nil || after != "") {
		b.Fatalf("migration: error %v, copies %q", err, after)
	}
}

func migrateCut(b *caseRun, s hypervisor.CopyState) {
	b.boot(0, 0)
	count := b.counter(0)
	if s == hypervisor.CopyPaused {
		count = b.pause(0, 0)
	}
	b.hook("cut", b.h.Hooks.CutMigration(b.vm(0), b.node(0), b.node(1)))
	_, err := b.do(b.migrating(0, 1))
	if err == nil {
		b.Error("an interrupted migration succeeded")
	}
	if after := b.withoutJobs(); after != b.at(0, s) {
		b.Fatalf("error %v, copies %q", err, after)
	}
	if s == hypervisor.CopyPaused {
		b.unpause(0, 0)
	}
	b.continues(0, count)
}

// split loses the finish of a migration, which must be an error.
func split(b *caseRun) {
	b.Helper()
	b.hook("lose the finish", b.h.Hooks.LoseFinish(b.vm(0), b.node(0), b.node(1)))
	_, err := b.do(b.migrating(0, 1))
	if err == nil {
		b.Error("a migration without its finish succeeded")
	}
	b.Logf("migration: error %v, copies %q", err, b.withoutJobs())
}

// splitPaused shows why gangs are paused first: in no case does a VM run twice.
func splitPaused(b *caseRun) {
	b.boot(0, 0)
	count := b.pause(0, 0)
	split(b)
	paused := [2]string{b.at(0, hypervisor.CopyPaused), b.at(1, hypervisor.CopyPaused)}
	if after := b.becomes(0, paused[0], paused[1], paused[0]+" "+paused[1]); after == paused[0] {
		b.unpause(0, 0)
	} else {
		if after != paused[1] {
			b.must(b.call(hypervisor.Destroy, 0, b.node(0)))
		}
		b.unpause(0, 1)
	}
	b.continues(0, count)
}

func splitRunning(b *caseRun) {
	b.boot(0, 0)
	split(b)
	b.becomes(0, b.at(0, hypervisor.CopyRunning)+" "+b.at(1, hypervisor.CopyRunning))
	b.Log("BOTH RUN, as measured: without a lock only a paused VM may be migrated")
}

func splitLocked(b *caseRun) {
	b.boot(0, 0)
	count := b.counter(0)
	split(b)
	b.becomes(0, b.at(0, hypervisor.CopyPaused)+" "+b.at(1, hypervisor.CopyRunning))
	b.fails(b.call(hypervisor.Unpause, 0, b.node(0)), hypervisor.ErrLocked)
	b.must(b.call(hypervisor.Destroy, 0, b.node(0)))
	b.becomes(0, b.at(1, hypervisor.CopyRunning))
	b.continues(0, count)
}
