package conformance

import (
	"context"
	"fmt"
	"slices"
	"time"

	"vjob/cluster"
	"vjob/hypervisor"
)

var lifeCases = []caseOf{
	{name: "life cycle", run: lifeCycle},
	{name: "gang paused in order", note: "I6", nodes: 3, run: gangPaused},
	{name: "each verb repeated", note: "I11", run: repeated},
	{name: "calls for a VM that is not there", note: "code 42", run: missingVM},
	{name: "no memory", note: "64 GiB", needs: func(h *Harness) bool { return h.Huge > 0 }, run: tooLarge},
	{name: "guest ends by itself", run: guestEnds},
	{name: "guest asked to shut down", note: "ACPI", run: guestAsked},
	{
		name: "guest killed", note: "kill -9",
		needs: func(h *Harness) bool { return h.Hooks.KillGuest != nil }, run: guestKilled,
	},
	{
		name: "second copy of a running VM refused by the lock", note: "I1, code 87",
		needs: func(h *Harness) bool { return h.Locks }, run: secondBootLocked,
	},
	{
		name: "unmanaged machines are listed and left alone", note: "I15",
		needs: func(h *Harness) bool { return len(h.Unmanaged) > 0 }, run: unmanaged,
	},
	{name: "guests tell how their work ended", note: "exit status", run: exitStatuses},
	{name: "the console of a missing guest tells its end", note: "without an event", run: missingGuests},
	{name: "hints arrive", note: "events", run: hints},
	{name: "deadline", note: "the call goes on", run: deadline},
}

func lifeCycle(b *caseRun) {
	b.boot(0, 0)
	c, _ := lookFor(b, 0)
	if c.Stamp != stamp {
		b.Errorf("stamp %+v, want %+v", c.Stamp, stamp)
	}
	if c.Lock != b.h.Locks {
		b.Errorf("lock %t, want %t", c.Lock, b.h.Locks)
	}
	count := b.pause(0, 0)
	b.stays(b.at(0, hypervisor.CopyPaused))
	if now := b.counter(0); now != count {
		b.Errorf("a paused guest counted from %d to %d", count, now)
	}
	b.unpause(0, 0)
	b.continues(0, count)
	again, _ := lookFor(b, 0)
	if again.CPUTime < c.CPUTime {
		b.Errorf("CPU time went back from %s to %s", c.CPUTime, again.CPUTime)
	}
	b.must(b.call(hypervisor.Destroy, 0, b.node(0)))
	b.becomes(0, "")
	b.stays("")
}

// lookFor returns the copy of rank 0 on a node.
func lookFor(b *caseRun, node int) (hypervisor.Copy, bool) {
	b.Helper()
	v := b.look(b.node(node))
	if v.Node != b.node(node) {
		b.Errorf("a look at %s shows %s", b.node(node), v.Node)
	}
	return v.Copy(b.vm(0))
}

func gangPaused(b *caseRun) {
	const members = 3
	for rank := range members {
		b.boot(rank, rank)
	}
	var first, last time.Time
	for rank := range members {
		b.must(b.call(hypervisor.Pause, rank, b.node(rank)))
		last = time.Now()
		if rank == 0 {
			first = last
		}
	}
	b.Logf("skew between the first and the last of %d pauses: %s", members, last.Sub(first))
	for rank := range members {
		b.becomes(rank, b.at(rank, hypervisor.CopyPaused))
	}
	for rank := range members {
		b.unpause(rank, rank)
	}
}

func repeated(b *caseRun) {
	boot := b.booting(0, 0, 0)
	b.must(boot)
	b.fails(boot, hypervisor.ErrExists)
	b.becomes(0, b.at(0, hypervisor.CopyRunning))
	b.counts(0)

	b.fails(b.call(hypervisor.Unpause, 0, b.node(0)), hypervisor.ErrRefused)
	pause := b.call(hypervisor.Pause, 0, b.node(0))
	b.must(pause)
	b.must(pause)
	b.fails(b.call(hypervisor.Shutdown, 0, b.node(0)), hypervisor.ErrRefused)
	b.becomes(0, b.at(0, hypervisor.CopyPaused))

	save := b.call(hypervisor.Save, 0, b.node(0))
	b.must(save)
	b.fails(save)
	sum := b.seal(0, 0)
	if again := b.seal(0, 0); again != sum {
		b.Fatalf("sealed twice: %s, then %s", sum, again)
	}
	restore := b.restoring(0, 1, sum, 2)
	b.must(restore)
	b.fails(restore, hypervisor.ErrExists)
	b.becomes(0, b.at(1, hypervisor.CopyPaused))

	revoke := b.call(hypervisor.Revoke, 0, b.node(0))
	revoke.Attempt = 3
	b.must(revoke)
	b.must(revoke)
	migrate := b.migrating(1, 0)
	b.must(migrate)
	b.fails(migrate, hypervisor.ErrNoSuchVM)
	b.becomes(0, b.at(0, hypervisor.CopyPaused))

	discard := b.call(hypervisor.Discard, 0, b.node(0))
	b.must(discard)
	if _, err := b.do(discard); err != nil {
		b.Logf("discarded twice: %v", err)
	}
	destroy := b.call(hypervisor.Destroy, 0, b.node(0))
	b.must(destroy)
	b.fails(destroy, hypervisor.ErrNoSuchVM)
	b.becomes(0, "")
}

func missingVM(b *caseRun) {
	for _, v := range []hypervisor.Verb{
		hypervisor.Shutdown, hypervisor.Destroy, hypervisor.Pause, hypervisor.Unpause, hypervisor.Save, hypervisor.Abort,
	} {
		b.fails(b.call(v, 0, b.node(0)), hypervisor.ErrNoSuchVM)
	}
	b.fails(b.migrating(0, 1), hypervisor.ErrNoSuchVM)
	b.fails(b.restoring(0, 0, "none", 1), hypervisor.ErrNoImage, hypervisor.ErrBadImage)
	b.stays("")
}

func tooLarge(b *caseRun) {
	c := b.booting(0, 0, 0)
	c.Machine = b.h.Machine(Guest{VM: c.VM, Members: 1, Memory: b.h.Huge})
	b.fails(c, hypervisor.ErrNoMemory)
	b.becomes(0, "")
}

// ending waits for the ending of a member on a node.
func ending(b *caseRun, rank, node int) hypervisor.Ending {
	b.Helper()
	var e hypervisor.Ending
	b.until("an ending", func() (string, bool) {
		endings := b.look(b.node(node)).Endings
		i := slices.IndexFunc(endings, func(e hypervisor.Ending) bool { return e.VM == b.vm(rank) })
		if i < 0 {
			return "none", false
		}
		e = endings[i]
		return "", true
	})
	if e.Stamp != stamp {
		b.Errorf("stamp of the ending %+v, want %+v", e.Stamp, stamp)
	}
	return e
}

func guestEnds(b *caseRun) {
	b.must(b.booting(0, 0, b.h.Life))
	b.becomes(0, "")
	if e := ending(b, 0, 0); e.Cause != hypervisor.CauseShutdown {
		b.Errorf("cause %s", e.Cause)
	}
	b.fails(b.call(hypervisor.Pause, 0, b.node(0)), hypervisor.ErrNoSuchVM)
}

// exitStatuses boots guests of one VM one after the other. What an earlier one has told does not count for a guest
// that is shut down before its work has ended.
func exitStatuses(b *caseRun) {
	var statuses []cluster.ExitStatus
	last := func() cluster.ExitStatus {
		b.Helper()
		var list []hypervisor.Ending
		b.until("another ending", func() (string, bool) {
			list = slices.DeleteFunc(b.look(b.node(0)).Endings, func(e hypervisor.Ending) bool { return e.VM != b.vm(0) })
			return fmt.Sprint(list), len(list) > len(statuses)
		})
		statuses = append(statuses, list[len(list)-1].Exit)
		return list[len(list)-1].Exit
	}
	for _, code := range []int{3, 0, 137} {
		c := b.booting(0, 0, b.h.Life)
		c.Machine = b.h.Machine(Guest{VM: c.VM, Members: 1, Memory: b.h.Memory, Lives: b.h.Life, Exit: code})
		b.must(c)
		b.becomes(0, "")
		if got := last(); got != cluster.Exited(code) {
			b.Errorf("a guest that ends with %d: exit status %q", code, got)
		}
	}
	b.boot(0, 0)
	b.must(b.call(hypervisor.Shutdown, 0, b.node(0)))
	b.becomes(0, "")
	if got := last(); got != cluster.UnknownExit {
		b.Errorf("a guest that is shut down: exit status %q, want unknown", got)
	}
}

// missingGuests looks at another node, which knows of no event, and asks for guests that have left.
func missingGuests(b *caseRun) {
	told := func(incarnation int) (list []hypervisor.Ending) {
		guest := hypervisor.Guest{VM: b.vm(0), Incarnation: incarnation}
		ctx, cancel := context.WithTimeout(context.Background(), b.h.CallTimeout)
		defer cancel()
		v, err := b.h.Driver.Look(ctx, b.node(1), guest)
		if err != nil {
			b.Fatalf("look: %v", err)
		}
		return slices.DeleteFunc(slices.Clone(v.Endings), func(e hypervisor.Ending) bool { return e.VM != guest.VM })
	}
	silent := func(incarnation int, when string) {
		b.Helper()
		if list := told(incarnation); len(list) > 0 {
			b.Errorf("incarnation %d, %s: %v, want no ending", incarnation, when, list)
		}
	}
	c := b.booting(0, 0, b.h.Life)
	c.Machine = b.h.Machine(Guest{VM: c.VM, Members: 1, Memory: b.h.Memory, Lives: b.h.Life, Exit: 3})
	silent(stamp.Incarnation, "before it is started")
	b.must(c)
	b.becomes(0, "")
	b.until("the status on the console", func() (string, bool) {
		list := told(stamp.Incarnation)
		return fmt.Sprint(list), len(list) == 1 && list[0].Cause == hypervisor.CauseShutdown && list[0].Exit == cluster.Exited(3) &&
			list[0].Stamp.Incarnation == stamp.Incarnation
	})
	silent(stamp.Incarnation+1, "after an earlier one")
	again := b.booting(0, 0, 0)
	again.Stamp.Incarnation++
	b.must(again)
	silent(stamp.Incarnation+1, "while it runs")
	b.must(b.call(hypervisor.Destroy, 0, b.node(0)))
	b.becomes(0, "")
	silent(stamp.Incarnation+1, "after it was destroyed")
	silent(stamp.Incarnation, "after a later one")
}

func guestAsked(b *caseRun) {
	b.boot(0, 0)
	b.must(b.call(hypervisor.Shutdown, 0, b.node(0)))
	b.becomes(0, "")
}

func guestKilled(b *caseRun) {
	b.boot(0, 0)
	b.hook("kill the guest", b.h.Hooks.KillGuest(b.vm(0), b.node(0)))
	b.becomes(0, "", b.at(0, hypervisor.CopyDead))
	if e := ending(b, 0, 0); e.Cause != hypervisor.CauseCrashed {
		b.Errorf("cause %s", e.Cause)
	}
}

func secondBootLocked(b *caseRun) {
	b.boot(0, 0)
	b.fails(b.booting(0, 1, 0), hypervisor.ErrLocked)
	b.becomes(0, b.at(0, hypervisor.CopyRunning))
}

func unmanaged(b *caseRun) {
	for node, want := range b.h.Unmanaged {
		want = slices.Sorted(slices.Values(want))
		if got := b.look(node).Unmanaged; !slices.Equal(got, want) {
			b.Errorf("unmanaged machines on %s: %v, want %v", node, got, want)
		}
	}
}

func hints(b *caseRun) {
	wait := func(what string) {
		b.Helper()
		timeout := time.After(b.h.Patience)
		for {
			select {
			case node := <-b.h.Driver.Hints():
				if node == b.node(0) {
					return
				}
			case <-timeout:
				b.Fatalf("%s: no hint within %s", what, b.h.Patience)
			}
		}
	}
	drain(b.h.Driver.Hints())
	b.must(b.booting(0, 0, 0))
	wait("boot")
	b.counts(0)
	drain(b.h.Driver.Hints())
	b.must(b.call(hypervisor.Destroy, 0, b.node(0)))
	wait("destroy")
}

func drain(hints <-chan cluster.NodeID) {
	for {
		select {
		case <-hints:
		default:
			return
		}
	}
}

// deadline cancels the wait for a save as soon as it is visible: the call may continue, and must
// end by itself.
func deadline(b *caseRun) {
	b.boot(0, 0)
	b.pause(0, 0)
	ctx, cancel := context.WithCancel(b.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := b.h.Driver.Do(ctx, b.call(hypervisor.Save, 0, b.node(0)))
		ended <- err
	}()
	b.until("the save is visible", func() (string, bool) {
		text, _ := b.copies(0)
		return text, text != b.at(0, hypervisor.CopyPaused)
	})
	cancel()
	if err := <-ended; err != nil {
		b.failed(b.call(hypervisor.Save, 0, b.node(0)), err, hypervisor.ErrTimeout)
	}
	after := b.withoutJobs()
	i, ok := stored(b)
	switch {
	case after == "" && ok && i.Complete:
		b.Log("the save continued and succeeded")
	case after == b.at(0, hypervisor.CopyPaused) && (!ok || !i.Complete):
		b.Log("the save was given up; the copy stays paused")
	default:
		b.Errorf("neither saved nor paused: copies %q, image %+v", after, i)
	}
}
