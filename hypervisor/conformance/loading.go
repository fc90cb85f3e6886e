package conformance

import (
	"strings"
	"time"

	"vjob/hypervisor"
)

// loadingCases are about copies that are being restored for so long that other things
// happen meanwhile.
var loadingCases = []caseOf{
	{name: "a copy has a job until it is whole", row: "lab: slow store", needs: slowly, run: loadVisible},
	{name: "restore aborted", row: "lab: slow store", needs: slowly, run: loadAborted},
	{name: "a whole copy is not aborted", row: "lab §6: AbortJob", run: abortWhole},
	{name: "revoked while its image is read", row: "an unlinked file stays open", needs: slowly, run: loadRevoked},
	{name: "image deleted while it is read", row: "an unlinked file stays open", needs: slowly, run: loadDiscarded},
	{
		name: "daemon killed in a restore", row: "lab: kill -9 libvirtd", run: loadDaemonKilled,
		needs: func(h *Harness) bool { return slowly(h) && h.Hooks.KillDaemon != nil },
	},
	{
		name: "a job that is not known is not shown as none", row: "lab: statistics time out", run: loadHidden,
		needs: func(h *Harness) bool { return slowly(h) && h.Hooks.HideJobs != nil && h.Hooks.ShowJobs != nil },
	},
	{
		name: "healthy image refused by one node", row: "lab: machine type, EIO in QEMU", run: loadRefused,
		needs: func(h *Harness) bool { return h.Hooks.RefuseLoads != nil && h.Hooks.AcceptLoads != nil },
	},
}

func slowly(h *Harness) bool { return h.Hooks.SlowStore != nil && h.Hooks.FastStore != nil }

// loading saves rank 0 on the first node and begins to restore it on the second one, until
// its copy is seen. That node reads slowly until hurry is called.
func loading(b *bench) (sum string, count int64, ended <-chan error) {
	b.Helper()
	sum, count = b.saved()
	b.hook("slow the store down", b.h.Hooks.SlowStore(b.node(1)))
	ended = b.async(b.restoring(0, 1, sum, 1))
	b.until("the copy is seen", func() (string, bool) {
		text, _ := b.where(0)
		return text, text != ""
	})
	if text, _ := b.where(0); !strings.Contains(text, "/") {
		b.Fatalf("a copy that is being restored is shown as %q", text)
	}
	return sum, count, ended
}

// hurry lets the node read fast again that loading has slowed down.
func hurry(b *bench) {
	b.Helper()
	b.hook("let the store be fast", b.h.Hooks.FastStore(b.node(1)))
}

// wholeOrGone waits until nothing is under way on rank 0. A copy that is there then is
// whole: it goes on from where it was saved. Without an error it has to be there.
func wholeOrGone(b *bench, count int64, err error) (there bool) {
	b.Helper()
	after := b.settled()
	b.Logf("restore: error %v, copies %q", err, after)
	if after == "" && err != nil {
		return false
	}
	if after != b.at(1, hypervisor.CopyPaused) {
		b.Fatalf("restore: error %v, copies %q", err, after)
	}
	b.stays(after)
	b.unpause(0, 1)
	b.goesOn(0, count)
	return true
}

// loadVisible: no look shows a copy without a job before its memory is whole.
func loadVisible(b *bench) {
	_, count, ended := loading(b)
	hurry(b)
	began := time.Now()
	wholeOrGone(b, count, nil)
	b.Logf("it was seen to be restored for %s", time.Since(began))
	if err := <-ended; err != nil {
		b.Errorf("restore: %v", err)
	}
}

func loadAborted(b *bench) {
	sum, count, ended := loading(b)
	b.must(b.call(hypervisor.Abort, 0, b.node(1)))
	hurry(b)
	b.becomes(0, "")
	if err := <-ended; err == nil {
		b.Error("a restore that was aborted ended well")
	}
	b.stays("")
	b.must(b.restoring(0, 1, sum, 2))
	wholeOrGone(b, count, nil)
}

// abortWhole: drivers refuse to abort where there is nothing to abort, or do nothing.
func abortWhole(b *bench) {
	sum, count := b.saved()
	b.must(b.restoring(0, 1, sum, 1))
	call := b.call(hypervisor.Abort, 0, b.node(1))
	if _, err := b.do(call); err != nil {
		b.failed(call, err, hypervisor.ErrRefused)
	}
	wholeOrGone(b, count, nil)
}

// loadRevoked: a revoke takes the permission to begin. What has begun may end well; it
// is seen as long as it lasts, and nothing begins any more.
func loadRevoked(b *bench) {
	sum, count, ended := loading(b)
	b.must(b.call(hypervisor.Revoke, 0, b.node(0)))
	hurry(b)
	if wholeOrGone(b, count, <-ended) {
		b.must(b.call(hypervisor.Destroy, 0, b.node(1)))
		b.becomes(0, "")
	}
	b.fails(b.restoring(0, 0, sum, 1))
	b.stays("")
}

func loadDiscarded(b *bench) {
	_, count, ended := loading(b)
	b.must(b.call(hypervisor.Discard, 0, b.node(0)))
	hurry(b)
	wholeOrGone(b, count, <-ended)
	if i, ok := stored(b); ok {
		b.Errorf("image %+v after its deletion", i)
	}
}

// loadDaemonKilled: whatever is left of the restore has a job until it is whole; without
// a copy the image is as good as it was.
func loadDaemonKilled(b *bench) {
	sum, count, ended := loading(b)
	b.hook("kill the daemon", b.h.Hooks.KillDaemon(b.node(1)))
	hurry(b)
	if !wholeOrGone(b, count, <-ended) {
		b.must(b.restoring(0, 1, sum, 2))
		wholeOrGone(b, count, nil)
	}
}

func loadHidden(b *bench) {
	_, count, ended := loading(b)
	b.hook("hide the jobs", b.h.Hooks.HideJobs(b.node(1)))
	select {
	case err := <-ended: // whatever is shown now is right
		b.Fatalf("the restore was too fast for this case: %v", err)
	default:
	}
	c, ok := lookFor(b, 1)
	b.hook("show the jobs", b.h.Hooks.ShowJobs(b.node(1)))
	hurry(b)
	if ok && c.Job == hypervisor.JobNone {
		b.Errorf("a copy that is being restored is shown as %+v", c)
	}
	wholeOrGone(b, count, <-ended)
}

// loadRefused: that a node does not load an image says nothing about the image.
func loadRefused(b *bench) {
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
	wholeOrGone(b, count, nil)
}
