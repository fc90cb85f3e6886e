package conformance

import (
	"strings"

	"vjob/hypervisor"
)

var restoreCases = []caseOf{
	{
		name: "flipped image refused", note: "bit rot",
		needs: func(h *Harness) bool { return h.Hooks.FlipImage != nil }, run: flipped,
	},
	{
		name:  "truncated image refused",
		needs: func(h *Harness) bool { return h.Hooks.TruncateImage != nil }, run: truncated,
	},
	{name: "one image restored on two nodes", run: restoredTwice},
	{name: "revoked attempt", note: "the name as a fence", run: revoked},
	{name: "attempt revoked in progress", note: "scenario 16", run: revokedUnderWay},
	{
		name: "attempt revoked while its node is frozen", note: "scenario 16, SIGSTOP",
		needs: func(h *Harness) bool { return h.Hooks.FreezeNode != nil && h.Hooks.ThawNode != nil }, run: revokedFrozen,
	},
	{name: "image is not consumed", run: notConsumed},
}

func flipped(b *caseRun) {
	sum, _ := b.saved()
	b.hook("flip bits", b.h.Hooks.FlipImage(b.image(0)))
	refused(b, sum)
}

func truncated(b *caseRun) {
	sum, _ := b.saved()
	b.hook("truncate", b.h.Hooks.TruncateImage(b.image(0)))
	refused(b, sum)
}

// refused checks that a damaged image is restored nowhere.
func refused(b *caseRun, sum string) {
	b.Helper()
	for node := range 2 {
		b.fails(b.restoring(0, node, sum, 1+node), hypervisor.ErrBadImage)
		b.becomes(0, "")
	}
	b.fails(b.call(hypervisor.Seal, 0, b.node(0)), hypervisor.ErrBadImage)
}

// restoredTwice: only a lock prevents the restore of one image on two nodes. A scheduler must
// know that; a driver may be stricter.
func restoredTwice(b *caseRun) {
	sum, _ := b.saved()
	b.must(b.restoring(0, 0, sum, 1))
	if _, err := b.do(b.restoring(0, 1, sum, 2)); err != nil {
		b.Logf("the second restore is refused: %v", err)
		b.becomes(0, b.at(0, hypervisor.CopyPaused))
		return
	}
	b.becomes(0, b.at(0, hypervisor.CopyPaused)+" "+b.at(1, hypervisor.CopyPaused))
	b.unpauseBoth(0, 1)
}

// unpauseBoth unpauses two copies of rank 0, one after the other. With a lock the second must be
// refused.
func (b *caseRun) unpauseBoth(first, second int) {
	b.Helper()
	b.must(b.call(hypervisor.Unpause, 0, b.node(first)))
	_, err := b.do(b.call(hypervisor.Unpause, 0, b.node(second)))
	b.Logf("the second copy is unpaused: error %v", err)
	switch c, _ := lookFor(b, second); {
	case !b.h.Locks && err == nil:
		b.Log("without a lock BOTH RUN, as measured: the scheduler must never let it come to this")
	case b.h.Locks && err == nil:
		b.Error("the lock did not keep the second copy from running")
	case c.State != hypervisor.CopyPaused:
		b.Errorf("the second copy is %s", c.State)
	}
	b.must(b.call(hypervisor.Destroy, 0, b.node(second)))
	b.becomes(0, b.at(first, hypervisor.CopyRunning))
}

func revoked(b *caseRun) {
	sum, count := b.saved()
	revoke := b.call(hypervisor.Revoke, 0, b.node(0))
	revoke.Attempt = 2
	b.must(revoke)
	for attempt := 1; attempt <= 2; attempt++ {
		b.fails(b.restoring(0, attempt-1, sum, attempt))
	}
	b.stays("")
	b.must(b.restoring(0, 1, sum, 3))
	b.unpause(0, 1)
	b.continues(0, count)
}

// revokedUnderWay: only an attempt that had opened its image before the revoke may succeed. A
// failed restore leaves no copy.
func revokedUnderWay(b *caseRun) {
	sum, _ := b.saved()
	ended := b.async(b.restoring(0, 1, sum, 1))
	b.must(b.call(hypervisor.Revoke, 0, b.node(0)))
	err := <-ended
	after := b.withoutJobs()
	b.Logf("restore: error %v, copies %q", err, after)
	if err != nil && after != "" || err == nil && after != b.at(1, hypervisor.CopyPaused) {
		b.Fatalf("restore: error %v, copies %q", err, after)
	}
	b.stays(after)
	if after != "" {
		b.must(b.call(hypervisor.Destroy, 0, b.node(1)))
	}
	b.fails(b.restoring(0, 0, sum, 1))
	b.stays("")
}

func revokedFrozen(b *caseRun) {
	sum, _ := b.saved()
	b.hook("freeze", b.h.Hooks.FreezeNode(b.node(1)))
	ended := b.async(b.restoring(0, 1, sum, 1))
	b.stays("")
	revoke, err := b.do(b.call(hypervisor.Revoke, 0, b.node(0)))
	b.Logf("revoke: %+v, error %v", revoke, err)
	b.hook("thaw", b.h.Hooks.ThawNode(b.node(1)))
	restored := <-ended
	after := b.withoutJobs()
	b.Logf("restore: error %v, copies %q", restored, after)
	if err == nil && after != "" {
		b.Fatalf("a revoked attempt created a copy: %q", after)
	}
	b.stays(after)
}

func notConsumed(b *caseRun) {
	sum, _ := b.saved()
	for attempt := 1; attempt <= 2; attempt++ {
		b.must(b.restoring(0, 0, sum, attempt))
		if text := b.withoutJobs(); strings.Contains(text, "running") {
			b.Fatalf("a restored copy is %q", text)
		}
		b.must(b.call(hypervisor.Destroy, 0, b.node(0)))
		b.becomes(0, "")
	}
}
