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
		name: "dead node", row: "lab §6: host killed",
		needs: func(h *Harness) bool { return h.Hooks.KillNode != nil && h.Hooks.ReviveNode != nil }, run: deadNode,
	},
	{
		name: "frozen node settles after the thaw what it was told", row: "lab §6: libvirtd SIGSTOP",
		needs: func(h *Harness) bool { return h.Hooks.FreezeNode != nil && h.Hooks.ThawNode != nil }, run: frozenNode,
	},
	{name: "sweep spares what is live, seen or young", row: "I15", run: sweepSpares},
	{
		name: "node cut off goes on", row: "§5.5 row 29",
		needs: func(h *Harness) bool { return h.Hooks.CutNode != nil && h.Hooks.JoinNode != nil }, run: cutNode,
	},
	{
		name: "daemon killed, guests run on", row: "lab §6: kill -9 libvirtd",
		needs: func(h *Harness) bool { return h.Hooks.KillDaemon != nil }, run: daemonKilled,
	},
	{
		name: "a paused guest stands still whoever is away", row: "suspension in memory",
		needs: func(h *Harness) bool {
			return h.Hooks.KillDaemon != nil && h.Hooks.CutNode != nil && h.Hooks.JoinNode != nil
		}, run: standsStill,
	},
}

// blind checks that a node that does not answer is told as such: a look is an
// error, never an empty view.
func blind(b *bench, node int, ways ...error) {
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

func deadNode(b *bench) {
	b.boot(0, 1)
	b.hook("kill the node", b.h.Hooks.KillNode(b.node(1)))
	blind(b, 1, hypervisor.ErrUnreachable)
	b.fails(b.call(hypervisor.Pause, 0, b.node(1)), hypervisor.ErrUnreachable, hypervisor.ErrTimeout)
	b.hook("revive the node", b.h.Hooks.ReviveNode(b.node(1)))
	b.becomes(0, "")
	b.must(b.booting(0, 0, 0))
	b.becomes(0, b.at(0, hypervisor.CopyRunning))
}

// frozenNode: the call may have reached the daemon, which then carries it out
// after the thaw, or may have got stuck in the driver's own steps before it. Nobody
// can tell from the error; but some time after the thaw it is settled.
func frozenNode(b *bench) {
	b.boot(0, 0)
	b.hook("freeze", b.h.Hooks.FreezeNode(b.node(0)))
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		_, err := b.h.Driver.Do(ctx, b.call(hypervisor.Pause, 0, b.node(0)))
		ended <- err
	}()
	blind(b, 0, hypervisor.ErrUnreachable, hypervisor.ErrTimeout)
	cancel()
	err := <-ended
	b.hook("thaw", b.h.Hooks.ThawNode(b.node(0)))
	if err == nil {
		b.Fatal("a frozen node answered a call")
	}
	b.failed(b.call(hypervisor.Pause, 0, b.node(0)), err, hypervisor.ErrTimeout, hypervisor.ErrUnreachable)
	running, paused := b.at(0, hypervisor.CopyRunning), b.at(0, hypervisor.CopyPaused)
	b.becomes(0, running, paused)
	after := b.lasting()
	b.Logf("after the thaw: %q", after)
	if after != running && after != paused {
		b.Fatalf("after the thaw VM %s is %q", b.vm(0), after)
	}
	b.pause(0, 0) // the node is told again, and now does it
}

// lasting waits until the copies of rank 0 have been the same for a moment.
func (b *bench) lasting() string {
	b.Helper()
	var last string
	since := time.Now()
	b.until("what is seen lasts", func() (string, bool) {
		if text, whole := b.where(0); !whole || text != last || strings.Contains(text, "/") {
			last, since = text, time.Now()
		}
		return last, time.Since(since) >= b.h.Moment
	})
	return last
}

// sweepSpares sweeps with the word of a caller who knows of no vjob of the case.
func sweepSpares(b *bench) {
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
	b.goesOn(0, count)
	b.must(b.call(hypervisor.Destroy, 0, b.node(1)))
	b.must(b.call(hypervisor.Discard, 0, b.node(0)))
	b.becomes(0, "")
	sweep()
	if b.counter(0) < count {
		b.Error("the console was swept before its time")
	}
}

func cutNode(b *bench) {
	b.boot(0, 0)
	before := b.counter(0)
	b.hook("cut the node off", b.h.Hooks.CutNode(b.node(0)))
	blind(b, 0, hypervisor.ErrUnreachable, hypervisor.ErrTimeout)
	b.fails(b.call(hypervisor.Pause, 0, b.node(0)), hypervisor.ErrUnreachable, hypervisor.ErrTimeout)
	b.hook("join the node", b.h.Hooks.JoinNode(b.node(0)))
	// The call may have got there before the cut; the guest is there in any case.
	b.becomes(0, b.at(0, hypervisor.CopyRunning), b.at(0, hypervisor.CopyPaused))
	if c, _ := lookFor(b, 0); c.State == hypervisor.CopyRunning {
		b.goesOn(0, before)
	}
}

func daemonKilled(b *bench) {
	b.boot(0, 0)
	before := b.counter(0)
	b.hook("kill the daemon", b.h.Hooks.KillDaemon(b.node(0)))
	b.becomes(0, b.at(0, hypervisor.CopyRunning))
	b.goesOn(0, before)
	b.pause(0, 0)
}

// standsStill: a guest that stands still in memory is nobody's to let go on, neither a
// daemon's that starts anew nor a connection's that is back.
func standsStill(b *bench) {
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
	blind(b, 0, hypervisor.ErrUnreachable, hypervisor.ErrTimeout)
	b.hook("join the node", b.h.Hooks.JoinNode(b.node(0)))
	still()
	b.unpause(0, 0)
	b.goesOn(0, count)
}
