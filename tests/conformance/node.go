package conformance

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"vjob/cluster"
	"vjob/hypervisor"
)

var nodeCases = []caseOf{
	{
		name:  "dead node",
		needs: func(h *Harness) bool { return h.Hooks.KillNode != nil && h.Hooks.ReviveNode != nil }, run: deadNode,
	},
	{
		name: "frozen node ends its calls after the thaw", note: "SIGSTOP",
		needs: func(h *Harness) bool { return h.Hooks.FreezeNode != nil && h.Hooks.ThawNode != nil }, run: frozenNode,
	},
	{name: "sweep keeps what is live, visible or recent", note: "I15", run: sweepKeeps},
	{
		name: "node that is cut off continues", note: "scenario 29",
		needs: func(h *Harness) bool { return h.Hooks.CutNode != nil && h.Hooks.JoinNode != nil }, run: cutNode,
	},
	{
		name: "daemon killed, guests run on", note: "kill -9",
		needs: func(h *Harness) bool { return h.Hooks.KillDaemon != nil }, run: daemonKilled,
	},
	{
		name: "a paused guest stays paused while daemon or node are away", note: "suspension in memory",
		needs: func(h *Harness) bool {
			return h.Hooks.KillDaemon != nil && h.Hooks.CutNode != nil && h.Hooks.JoinNode != nil
		}, run: staysPaused,
	},
}

// unreachable checks that a look at a node that does not answer is an error, never an empty view.
func unreachable(b *caseRun, node int, ways ...error) {
	b.Helper()
	b.until("a look fails", func() (string, bool) {
		ctx, cancel := context.WithTimeout(context.Background(), b.h.CallTimeout)
		defer cancel()
		v, err := b.h.Driver.Look(ctx, b.node(node))
		if err != nil {
			b.Logf("look at %s: %v", b.node(node), err)
			if !slices.ContainsFunc(ways, func(w error) bool { return errors.Is(err, w) }) {
				b.Errorf("look at %s: %v, want one of %v", b.node(node), err, ways)
			}
			return "", true
		}
		if _, ok := v.Copy(b.vm(0)); !ok {
			b.Fatalf("a node that cannot be seen shows %+v", v)
		}
		return "the copy", false
	})
}

func deadNode(b *caseRun) {
	b.boot(0, 1)
	b.hook("kill the node", b.h.Hooks.KillNode(b.node(1)))
	unreachable(b, 1, hypervisor.ErrUnreachable)
	b.fails(b.call(hypervisor.Pause, 0, b.node(1)), hypervisor.ErrUnreachable, hypervisor.ErrTimeout)
	b.hook("revive the node", b.h.Hooks.ReviveNode(b.node(1)))
	b.becomes(0, "")
	b.must(b.booting(0, 0, 0))
	b.becomes(0, b.at(0, hypervisor.CopyRunning))
}

// frozenNode: the call may have reached the daemon, which then carries it out after the thaw, or
// may have hung in the driver before it. The error does not tell which; but some time after the
// thaw the outcome is final.
func frozenNode(b *caseRun) {
	b.boot(0, 0)
	b.hook("freeze", b.h.Hooks.FreezeNode(b.node(0)))
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		_, err := b.h.Driver.Do(ctx, b.call(hypervisor.Pause, 0, b.node(0)))
		ended <- err
	}()
	unreachable(b, 0, hypervisor.ErrUnreachable, hypervisor.ErrTimeout)
	cancel()
	err := <-ended
	b.hook("thaw", b.h.Hooks.ThawNode(b.node(0)))
	if err == nil {
		b.Fatal("a frozen node answered a call")
	}
	b.failed(b.call(hypervisor.Pause, 0, b.node(0)), err, hypervisor.ErrTimeout, hypervisor.ErrUnreachable)
	running, paused := b.at(0, hypervisor.CopyRunning), b.at(0, hypervisor.CopyPaused)
	b.becomes(0, running, paused)
	after := b.stableCopies()
	b.Logf("after the thaw: %q", after)
	if after != running && after != paused {
		b.Fatalf("after the thaw VM %s is %q", b.vm(0), after)
	}
	b.pause(0, 0) // a repeated call works
}

// stableCopies waits until the copies of rank 0 have not changed for a moment.
func (b *caseRun) stableCopies() string {
	b.Helper()
	var last string
	since := time.Now()
	b.until("what is seen lasts", func() (string, bool) {
		if text, whole := b.copies(0); !whole || text != last || strings.Contains(text, "/") {
			last, since = text, time.Now()
		}
		return last, time.Since(since) >= b.h.Moment
	})
	return last
}

// sweepKeeps sweeps for a caller that does not know the vjob of the case.
func sweepKeeps(b *caseRun) {
	sweep := func() {
		b.Helper()
		ctx, cancel := context.WithTimeout(context.Background(), b.h.CallTimeout)
		defer cancel()
		err := b.h.Driver.Sweep(ctx, func(id cluster.VJobID) bool { return id != b.job }, time.Hour)
		if err != nil {
			b.Fatalf("sweep: %v", err)
		}
	}
	b.boot(0, 0)
	sweep()
	count := b.pause(0, 0)
	b.must(b.call(hypervisor.Save, 0, b.node(0)))
	b.becomes(0, "")
	sum := b.seal(0, 0)
	sweep()
	b.must(b.restoring(0, 1, sum, 1))
	b.unpause(0, 1)
	b.continues(0, count)
	b.must(b.call(hypervisor.Destroy, 0, b.node(1)))
	b.must(b.call(hypervisor.Discard, 0, b.node(0)))
	b.becomes(0, "")
	sweep()
	if b.counter(0) < count {
		b.Error("the console was swept too early")
	}
}

func cutNode(b *caseRun) {
	b.boot(0, 0)
	before := b.counter(0)
	b.hook("cut the node off", b.h.Hooks.CutNode(b.node(0)))
	unreachable(b, 0, hypervisor.ErrUnreachable, hypervisor.ErrTimeout)
	b.fails(b.call(hypervisor.Pause, 0, b.node(0)), hypervisor.ErrUnreachable, hypervisor.ErrTimeout)
	b.hook("join the node", b.h.Hooks.JoinNode(b.node(0)))
	// The call may have arrived before the cut; the guest exists in any case.
	b.becomes(0, b.at(0, hypervisor.CopyRunning), b.at(0, hypervisor.CopyPaused))
	if c, _ := lookFor(b, 0); c.State == hypervisor.CopyRunning {
		b.continues(0, before)
	}
}

func daemonKilled(b *caseRun) {
	b.boot(0, 0)
	before := b.counter(0)
	b.hook("kill the daemon", b.h.Hooks.KillDaemon(b.node(0)))
	b.becomes(0, b.at(0, hypervisor.CopyRunning))
	b.continues(0, before)
	b.pause(0, 0)
}

// staysPaused checks that nothing resumes a guest that is paused in memory: neither a daemon that
// restarts nor a connection that comes back.
func staysPaused(b *caseRun) {
	b.boot(0, 0)
	count := b.pause(0, 0)
	still := func() {
		b.Helper()
		b.becomes(0, b.at(0, hypervisor.CopyPaused))
		b.stays(b.at(0, hypervisor.CopyPaused))
		if now := b.counter(0); now != count {
			b.Errorf("a paused guest counted from %d to %d", count, now)
		}
	}
	b.hook("kill the daemon", b.h.Hooks.KillDaemon(b.node(0)))
	still()
	b.hook("cut the node off", b.h.Hooks.CutNode(b.node(0)))
	unreachable(b, 0, hypervisor.ErrUnreachable, hypervisor.ErrTimeout)
	b.hook("join the node", b.h.Hooks.JoinNode(b.node(0)))
	still()
	b.unpause(0, 0)
	b.continues(0, count)
}
