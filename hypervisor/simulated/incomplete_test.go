package simulated_test

import (
	"errors"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/hypervisor"
	"vjob/hypervisor/simulated"
)

// abort is a call that cancels the job on n2.
func abort(id cluster.VMID) hypervisor.Call { return call(hypervisor.Abort, id, "n2") }

func TestAbortRemovesAnIncompleteCopy(t *testing.T) {
	b := newManualCluster(t, nil)
	id := vm(1, 0)
	sum := b.saved(id)
	op := b.start(restore(id, "n2", sum, 1))
	b.wait(time.Second)
	b.want(id, on("n2", "paused/restoring"))
	b.do(abort(id), nil)
	b.want(id, on())
	if r := b.reply(op, time.Minute); r == nil || !errors.Is(r.Err, hypervisor.ErrRefused) {
		t.Fatalf("answer %+v", r)
	}
	b.do(restore(id, "n2", sum, 2), nil)
	b.do(abort(id), hypervisor.ErrRefused) // it is complete
	b.do(hypervisor.Call{Verb: hypervisor.Migrate, VM: id, Node: "n2", To: "n3"}, nil)
	b.want(id, on("n3", "paused"))
	b.start(hypervisor.Call{Verb: hypervisor.Migrate, VM: id, Node: "n3", To: "n2"})
	b.wait(time.Second)
	b.want(id, on("n3", "paused/outgoing", "n2", "paused/incoming"))
	b.do(abort(id), nil)
	b.want(id, on("n3", "paused"))
}

// A restore continues in its guest when the daemon dies, as seen in the lab, and looks show it. A
// copy that is unpaused before it is complete runs from garbage.
func TestIncompleteCopyOfARestoreOutlivesItsDaemon(t *testing.T) {
	for _, early := range []bool{false, true} {
		b := newManualCluster(t, nil)
		var half bool
		b.OnChange = func(ch simulated.Change) { half = half || ch.Kind == simulated.Unpaused && ch.Incomplete && ch.Corrupt }
		id := vm(1, 0)
		op := b.start(restore(id, "n2", b.saved(id), 1)) // 135 s
		b.wait(time.Second)
		b.inject(simulated.Fault{Kind: simulated.HalfLeft})
		b.inject(simulated.Fault{Kind: simulated.DaemonKilled, Node: "n2", For: time.Second})
		if r := b.reply(op, time.Minute); r == nil || !errors.Is(r.Err, hypervisor.ErrUnreachable) {
			t.Fatalf("answer %+v", r)
		}
		b.wait(2 * time.Second)
		b.want(id, on("n2", "paused/restoring"))
		if !early {
			b.wait(3 * time.Minute)
			b.want(id, on("n2", "paused"))
		}
		b.do(call(hypervisor.Unpause, id, "n2"), nil)
		if half != early {
			t.Errorf("unpaused early: %t; it runs from incomplete memory: %t", early, half)
		}
	}
}

func TestIncompleteCopyOfAMigrationOutlivesItsDaemon(t *testing.T) {
	b := newManualCluster(t, nil)
	id := vm(1, 0)
	b.paused(id)
	op := b.start(migration(id, "n2"))
	b.wait(time.Second)
	b.inject(simulated.Fault{Kind: simulated.HalfLeft, Node: "n2"})
	b.inject(simulated.Fault{Kind: simulated.DaemonKilled, Node: "n2", For: time.Second})
	if r := b.reply(op, time.Minute); r == nil || !errors.Is(r.Err, hypervisor.ErrUnreachable) {
		t.Fatalf("answer %+v", r)
	}
	b.wait(time.Hour)
	b.want(id, on("n1", "paused", "n2", "paused/incoming"))
	b.do(abort(id), nil)
	b.want(id, on("n1", "paused"))
}

func TestOneNodeRefusesAGoodImage(t *testing.T) {
	b := newManualCluster(t, nil)
	id := vm(1, 0)
	sum := b.saved(id)
	b.inject(simulated.Fault{Kind: simulated.LoadRefused, Node: "n2"})
	b.do(restore(id, "n2", sum, 1), hypervisor.ErrRefused)
	b.want(id, on())
	if i, _ := b.image(id); !i.Complete || i.Corrupt {
		t.Errorf("image %+v", i)
	}
	b.do(restore(id, "n3", sum, 2), nil)
}

func TestNodesWithoutTheMachineTypeRefuseAnImage(t *testing.T) {
	b := newManualCluster(t, func(c *simulated.Config) { c.Faults.Misfit = 1 })
	id := vm(1, 0)
	sum := b.saved(id)
	for attempt, node := range []cluster.NodeID{"n2", "n3", "n2"} {
		b.do(restore(id, node, sum, attempt+1), hypervisor.ErrRefused)
	}
	b.do(restore(id, "n1", sum, 4), nil) // where it was saved
}

func TestHiddenJobs(t *testing.T) {
	b := newManualCluster(t, nil)
	id, other := vm(1, 0), vm(2, 0)
	b.start(restore(id, "n2", b.saved(id), 1))
	b.boot(other, "n2", machine(512, 1))
	b.inject(simulated.Fault{Kind: simulated.JobsHidden, Node: "n2", For: time.Minute})
	for _, v := range []cluster.VMID{id, other} {
		if got := b.job("n2", v); got != hypervisor.JobUnknown {
			t.Errorf("the job of %s is shown as %s", v, got)
		}
	}
	b.wait(2 * time.Minute)
	if got := b.job("n2", id); got != hypervisor.JobRestoring {
		t.Errorf("after the fault the job is shown as %s", got)
	}
}

// job is what a look shows of the job on a copy.
func (b *manualCluster) job(node cluster.NodeID, id cluster.VMID) hypervisor.Job {
	b.t.Helper()
	v, err := b.Look(b.now, node)
	if err != nil {
		b.t.Fatal(err)
	}
	c, _ := v.Copy(id)
	return c.Job
}

func TestBootHangsForMinutes(t *testing.T) {
	b := newManualCluster(t, nil)
	for rank := range 2 {
		id := vm(1, rank)
		b.inject(simulated.Fault{Kind: simulated.BootStuck})
		c := call(hypervisor.Boot, id, "n2")
		c.Machine = machine(512, 2)
		op := b.start(c)
		if r := b.reply(op, 50*time.Second); r != nil {
			t.Fatalf("answer %+v", r)
		}
		b.want(id, on("n2", "paused/restoring"))
		if rank == 1 {
			b.do(abort(id), nil)
			b.wait(10 * time.Minute)
			b.want(id, on())
			continue
		}
		if r := b.reply(op, 5*time.Minute); r == nil || r.Err != nil {
			t.Fatalf("answer %+v", r)
		}
		b.want(id, on("n2", "running"))
	}
}

// A restore that hangs continues minutes later; only a revoke stops it.
func TestRestoreHangsForMinutes(t *testing.T) {
	for _, revoked := range []bool{false, true} {
		b := newManualCluster(t, nil)
		id := vm(1, 0)
		sum := b.saved(id)
		b.inject(simulated.Fault{Kind: simulated.CallLate})
		op := b.start(restore(id, "n2", sum, 1))
		b.wait(50 * time.Second)
		b.want(id, on())
		if revoked {
			revoke := call(hypervisor.Revoke, id, "n1")
			revoke.Attempt = 1
			b.do(revoke, nil)
		}
		r := b.reply(op, 10*time.Minute)
		if r == nil || (r.Err != nil) != revoked {
			t.Fatalf("revoked %t: answer %+v", revoked, r)
		}
	}
}

// Leftover copies use memory and may refuse to pause. They are not created again when the cluster
// continues from a snapshot.
func TestLeftovers(t *testing.T) {
	id := vm(9000, 0)
	left := simulated.Leftover{VM: id, Size: cluster.Resources{Memory: 3 * cluster.GiB}, Unpausable: true}
	var cfg simulated.Config
	b := newManualCluster(t, func(c *simulated.Config) {
		c.Nodes[0].Leftovers = []simulated.Leftover{left}
		cfg = *c
	})
	b.want(id, on("n1", "running"))
	b.do(call(hypervisor.Pause, id, "n1"), hypervisor.ErrRefused)
	v, err := b.Look(b.now, "n1")
	if c, _ := v.Copy(id); err != nil || c.Size != left.Size {
		t.Errorf("copy %+v, error %v", c, err)
	}
	big := call(hypervisor.Boot, vm(1, 0), "n1")
	big.Machine = machine(2*cluster.GiB, 1)
	b.do(big, hypervisor.ErrNoMemory)
	b.do(call(hypervisor.Destroy, id, "n1"), nil)
	data, err := b.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	cfg.Overcommits = true
	if b.Cluster, err = simulated.Restore(cfg, data); err != nil {
		t.Fatal(err)
	}
	b.want(id, on())
	for rank := range 3 {
		b.boot(vm(1, rank), "n1", big.Machine) // more than the node can hold
	}
	big.Machine = machine(5*cluster.GiB, 1)
	big.VM = vm(2, 0)
	b.do(big, hypervisor.ErrNoMemory)
}
