package simulated_test

import (
	"errors"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/hypervisor"
	"vjob/hypervisor/simulated"
)

func TestFrozenNodeExecutesQueuedCallsLater(t *testing.T) {
	b := newManualCluster(t, nil)
	id := vm(1, 0)
	b.boot(id, "n1", machine(cluster.GiB, 1))
	b.inject(simulated.Fault{Kind: simulated.Freeze, Node: "n1", For: time.Minute})
	op := b.start(call(hypervisor.Pause, id, "n1"))
	if r := b.reply(op, 50*time.Second); r != nil {
		t.Fatalf("a frozen node answered %+v", r)
	}
	if _, err := b.Look(b.now, "n1"); !errors.Is(err, hypervisor.ErrTimeout) {
		t.Fatalf("a look at a frozen node: %v", err)
	}
	b.want(id, on("n1", "running"))
	if r := b.reply(op, 20*time.Second); r == nil || r.Err != nil {
		t.Fatalf("answer %+v", r)
	}
	b.want(id, on("n1", "paused"))
}

func TestGuestsContinueDuringAPartition(t *testing.T) {
	b := newManualCluster(t, nil)
	id := vm(1, 0)
	b.boot(id, "n1", machine(cluster.GiB, 1, cluster.Step{CPU: cluster.CPU, Duration: time.Minute}))
	b.inject(simulated.Fault{Kind: simulated.Partition, Node: "n1", For: 10 * time.Minute})
	if _, err := b.Look(b.now, "n1"); !errors.Is(err, hypervisor.ErrUnreachable) {
		t.Fatalf("a look: %v", err)
	}
	b.do(call(hypervisor.Pause, id, "n1"), hypervisor.ErrUnreachable)
	before := b.hints["n1"]
	b.wait(5 * time.Minute)
	b.want(id, on()) // its work is done
	if b.hints["n1"] != before {
		t.Error("a hint arrived during the partition")
	}
	b.wait(5 * time.Minute)
	view, err := b.Look(b.now, "n1")
	if err != nil || len(view.Endings) != 0 {
		t.Fatalf("view %+v, error %v: the ending must be missed (16b)", view, err)
	}
	if b.hints["n1"] == before {
		t.Error("no hint when the node is back")
	}
}

func TestPowerLossEmptiesANode(t *testing.T) {
	b := newManualCluster(t, nil)
	b.boot(vm(2, 0), "n2", machine(cluster.GiB, 1))
	b.boot(vm(1, 0), "n1", machine(cluster.GiB, 1))
	op := b.start(call(hypervisor.Pause, vm(1, 0), "n1"))
	b.inject(simulated.Fault{Kind: simulated.PowerLoss, Node: "n1", For: time.Minute})
	if r := b.reply(op, time.Minute); r == nil || !errors.Is(r.Err, hypervisor.ErrUnreachable) {
		t.Fatalf("answer %+v", r)
	}
	if _, err := b.Look(b.now, "n1"); !errors.Is(err, hypervisor.ErrUnreachable) {
		t.Fatalf("a look: %v", err)
	}
	b.wait(2 * time.Minute)
	b.want(vm(2, 0), on("n2", "running"))
	view, err := b.Look(b.now, "n1")
	if err != nil || len(view.Copies) != 0 {
		t.Fatalf("view %+v, error %v", view, err)
	}
}

func TestGuestCrashes(t *testing.T) {
	b := newManualCluster(t, nil)
	b.boot(vm(1, 0), "n1", machine(512, 1))
	b.boot(vm(2, 0), "n1", machine(512, 1))
	b.inject(simulated.Fault{Kind: simulated.GuestCrashed, VM: vm(1, 0)})
	b.inject(simulated.Fault{Kind: simulated.GuestPanicked, VM: vm(2, 0)})
	b.want(vm(1, 0), on())
	b.want(vm(2, 0), on("n1", "dead"))
	view, _ := b.Look(b.now, "n1")
	if len(view.Endings) != 2 || view.Endings[0].Cause != hypervisor.CauseCrashed || view.Endings[1].Stamp.Incarnation != 1 {
		t.Fatalf("endings %+v", view.Endings)
	}
	b.do(call(hypervisor.Pause, vm(2, 0), "n1"), hypervisor.ErrRefused)
	b.do(call(hypervisor.Destroy, vm(2, 0), "n1"), nil)
	b.want(vm(2, 0), on())
}

func TestLostAnswers(t *testing.T) {
	b := newManualCluster(t, nil)
	id := vm(1, 0)
	b.boot(id, "n1", machine(512, 1))
	pause, unpause := hypervisor.Pause, hypervisor.Unpause
	b.inject(simulated.Fault{Kind: simulated.CallLost, Verb: &pause})
	b.inject(simulated.Fault{Kind: simulated.CallSilent, Verb: &unpause})
	b.do(call(pause, id, "n1"), hypervisor.ErrUnreachable)
	b.want(id, on("n1", "paused"))
	if r := b.reply(b.start(call(unpause, id, "n1")), time.Hour); r != nil {
		t.Fatalf("answer %+v", r)
	}
	b.want(id, on("n1", "running"))
	b.inject(simulated.Fault{Kind: simulated.CallFails})
	b.do(call(pause, id, "n1"), hypervisor.ErrRefused)
	b.want(id, on("n1", "running"))
	b.inject(simulated.Fault{Kind: simulated.CallSlow})
	from := b.now
	b.do(call(pause, id, "n1"), nil)
	if took := b.now.Sub(from); took != 100*time.Millisecond {
		t.Fatalf("a slow pause took %s", took)
	}
}

func TestLocksKeepASecondCopyFromRunning(t *testing.T) {
	b := newManualCluster(t, func(c *simulated.Config) { c.Locks = true })
	id := vm(1, 0)
	sum := b.saved(id)
	b.do(restore(id, "n1", sum, 1), nil)
	b.do(restore(id, "n2", sum, 2), nil)
	b.do(call(hypervisor.Unpause, id, "n1"), nil)
	b.do(call(hypervisor.Unpause, id, "n2"), hypervisor.ErrLocked)
	third := call(hypervisor.Boot, id, "n3")
	third.Machine = machine(512, 1)
	b.do(third, hypervisor.ErrLocked)
	b.do(call(hypervisor.Pause, id, "n1"), nil) // row 18: released
	b.do(call(hypervisor.Unpause, id, "n2"), nil)
	b.do(call(hypervisor.Unpause, id, "n1"), hypervisor.ErrLocked)
	b.inject(simulated.Fault{Kind: simulated.LockdKilled, Node: "n2"}) // row 17
	b.do(call(hypervisor.Unpause, id, "n1"), nil)
	b.want(id, on("n1", "running", "n2", "running"))
	view, _ := b.Look(b.now, "n2")
	if c, _ := view.Copy(id); c.Lock {
		t.Error("the look shows a lock that is gone")
	}
}

func TestPauseDuringALiveMigrationIsLost(t *testing.T) {
	b := newManualCluster(t, nil)
	id := vm(1, 0)
	b.boot(id, "n1", machine(8*cluster.GiB/4, 1))
	op := b.start(migration(id, "n2"))
	b.do(call(hypervisor.Pause, id, "n1"), nil)
	b.do(migration(id, "n3"), hypervisor.ErrRefused)
	unpause := b.start(call(hypervisor.Unpause, id, "n1"))
	if r := b.reply(op, time.Minute); r == nil || r.Err != nil {
		t.Fatalf("answer %+v", r)
	}
	b.want(id, on("n2", "running"))
	if r := b.reply(unpause, time.Minute); r == nil || !errors.Is(r.Err, hypervisor.ErrNoSuchVM) {
		t.Fatalf("an unpause that waited for the job: %+v", r)
	}
}

func TestHintsAreLostAndRepeated(t *testing.T) {
	hints := func(lost, repeated float64) int {
		b := newManualCluster(t, func(c *simulated.Config) {
			c.Faults = simulated.Rates{HintLost: lost, HintRepeated: repeated}
		})
		b.boot(vm(1, 0), "n1", machine(512, 1))
		for range 10 {
			b.do(call(hypervisor.Pause, vm(1, 0), "n1"), nil)
			b.do(call(hypervisor.Unpause, vm(1, 0), "n1"), nil)
		}
		b.wait(time.Hour)
		return b.hints["n1"]
	}
	if none, some, more := hints(1, 0), hints(0, 0), hints(0, 0.5); none != 0 || some < 20 || more <= some {
		t.Fatalf("hints: %d when all are lost, %d without faults, %d when some are repeated", none, some, more)
	}
}
