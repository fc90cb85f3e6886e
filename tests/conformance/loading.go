package conformance

import (
	"strings"
	"time"

	"vjob/hypervisor"
)

// loadingCases are about restores that are so slow that other things happen meanwhile.
var loadingCases = []caseOf{
	{name: "a copy has a job until it is complete", note: "slow store", needs: hasSlowStore, run: loadVisible},
	{name: "restore aborted", note: "slow store", needs: hasSlowStore, run: loadAborted},
	{name: "a complete copy is not aborted", run: abortComplete},
	{name: "revoked while its image is read", note: "an unlinked file stays open", needs: hasSlowStore, run: loadRevoked},
	{name: "image deleted while it is read", note: "an unlinked file stays open", needs: hasSlowStore, run: loadDiscarded},
	{
		name: "daemon killed in a restore", note: "kill -9", run: loadDaemonKilled,
		needs: func(h *Harness) bool { return hasSlowStore(h) && h.Hooks.KillDaemon != nil },
	},
	{
		name: "an unknown job is not shown as none", note: "statistics time out", run: loadHidden,
		needs: func(h *Harness) bool { return hasSlowStore(h) && h.Hooks.HideJobs != nil && h.Hooks.ShowJobs != nil },
	},
	{
		name: "healthy image refused by one node", note: "machine type, EIO in QEMU", run: loadRefused,
		needs: func(h *Harness) bool { return h.Hooks.RefuseLoads != nil && h.Hooks.AcceptLoads != nil },
	},
}

func hasSlowStore(h *Harness) bool { return h.Hooks.SlowStore != nil && h.Hooks.FastStore != nil }

// loading saves rank 0 on the first node and begins to restore it on the second, until its copy is
// visible. The second node reads slowly until speedUp is called.
func loading(b *caseRun) (sum string, count int64, ended <-chan error) {
	b.Helper()
	sum, count = b.saved()
	b.hook("slow the store down", b.h.Hooks.SlowStore(b.node(1)))
	ended = b.async(b.restoring(0, 1, sum, 1))
	var text string
	b.until("the copy is seen", func() (string, bool) {
		var whole bool
		text, whole = b.copies(0)
		return text, whole && text != ""
	})
	if !strings.Contains(text, "/") {
		b.Fatalf("a copy that is being restored is shown as %q", text)
	}
	return sum, count, ended
}

// speedUp makes the second node read fast again.
func speedUp(b *caseRun) {
	b.Helper()
	b.hook("make the store fast", b.h.Hooks.FastStore(b.node(1)))
}

// completeOrGone waits until rank 0 has no job. A copy that exists then must be complete and
// continue from where it was saved. Without an error it must exist.
func completeOrGone(b *caseRun, count int64, err error) (there bool) {
	b.Helper()
	after := b.withoutJobs()
	b.Logf("restore: error %v, copies %q", err, after)
	if after == "" && err != nil {
		return false
	}
	if after != b.at(1, hypervisor.CopyPaused) {
		b.Fatalf("restore: error %v, copies %q", err, after)
	}
	b.stays(after)
	b.unpause(0, 1)
	b.continues(0, count)
	return true
}

// loadVisible checks that every look shows a job until the copy is complete.
func loadVisible(b *caseRun) {
	_, count, ended := loading(b)
	speedUp(b)
	began := time.Now()
	completeOrGone(b, count, nil)
	b.Logf("the restore was visible for %s", time.Since(began))
	if err := <-ended; err != nil {
		b.Errorf("restore: %v", err)
	}
}

func loadAborted(b *caseRun) {
	sum, count, ended := loading(b)
	b.must(b.call(hypervisor.Abort, 0, b.node(1)))
	speedUp(b)
	b.becomes(0, "")
	if err := <-ended; err == nil {
		b.Error("an aborted restore succeeded")
	}
	b.stays("")
	b.must(b.restoring(0, 1, sum, 2))
	completeOrGone(b, count, nil)
}

// abortComplete: without a job drivers refuse an abort or do nothing.
func abortComplete(b *caseRun) {
	sum, count := b.saved()
	b.must(b.restoring(0, 1, sum, 1))
	call := b.call(hypervisor.Abort, 0, b.node(1))
	if _, err := b.do(call); err != nil {
		b.failed(call, err, hypervisor.ErrRefused)
	}
	completeOrGone(b, count, nil)
}

// loadRevoked: a revoke forbids to begin. An attempt that has begun may succeed; it is visible
// while it lasts, and no other begins.
func loadRevoked(b *caseRun) {
	sum, count, ended := loading(b)
	b.must(b.call(hypervisor.Revoke, 0, b.node(0)))
	speedUp(b)
	if completeOrGone(b, count, <-ended) {
		b.must(b.call(hypervisor.Destroy, 0, b.node(1)))
		b.becomes(0, "")
	}
	b.fails(b.restoring(0, 0, sum, 1))
	b.stays("")
}

func loadDiscarded(b *caseRun) {
	_, count, ended := loading(b)
	b.must(b.call(hypervisor.Discard, 0, b.node(0)))
	speedUp(b)
	completeOrGone(b, count, <-ended)
	if i, ok := stored(b); ok {
		b.Errorf("image %+v after its deletion", i)
	}
}

// loadDaemonKilled: what is left of the restore has a job until it is complete; without a copy
// the image is still good.
func loadDaemonKilled(b *caseRun) {
	sum, count, ended := loading(b)
	b.hook("kill the daemon", b.h.Hooks.KillDaemon(b.node(1)))
	speedUp(b)
	if !completeOrGone(b, count, <-ended) {
		b.must(b.restoring(0, 1, sum, 2))
		completeOrGone(b, count, nil)
	}
}

func loadHidden(b *caseRun) {
	_, count, ended := loading(b)
	b.hook("hide the jobs", b.h.Hooks.HideJobs(b.node(1)))
	select {
	case err := <-ended: // looks need not show a job any more
		b.Fatalf("the restore was too fast for this case: %v", err)
	default:
	}
	c, ok := lookFor(b, 1)
	b.hook("show the jobs", b.h.Hooks.ShowJobs(b.node(1)))
	speedUp(b)
	if ok && c.Job == hypervisor.JobNone {
		b.Errorf("a copy that is being restored is shown as %+v", c)
	}
	completeOrGone(b, count, <-ended)
}

// loadRefused checks that an image stays good when a node refuses to load it.
func loadRefused(b *caseRun) {
	sum, count := b.saved()
	b.hook("refuse to load", b.h.Hooks.RefuseLoads(b.node(0)))
	for attempt := 1; attempt <= 2; attempt++ {
		b.fails(b.restoring(0, 0, sum, attempt), hypervisor.ErrRefused)
		b.becomes(0, "")
	}
	if i, ok := stored(b); !ok || !i.Complete {
		b.Fatalf("image %+v, there: %t", i, ok)
	}
	if again := b.seal(0, 0); again != sum {
		b.Fatalf("the image was %s and is %s", sum, again)
	}
	b.must(b.restoring(0, 1, sum, 3))
	b.hook("load again", b.h.Hooks.AcceptLoads(b.node(0)))
	completeOrGone(b, count, nil)
}
