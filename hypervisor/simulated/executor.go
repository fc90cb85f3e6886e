package simulated

import (
	"time"

	"vjob/cluster"
	"vjob/hypervisor"
)

// The timeouts of real daemons, from the lab.
const (
	// keepalive is the time after which a silent connection counts as broken (lab §6).
	keepalive = 4 * time.Second
	// connectTime is how long a failed connection takes.
	connectTime = time.Second
	// jobLockWait is how long a call waits for the job of a copy (lab §6: "cannot
	// acquire state change lock" after 30 s).
	jobLockWait = 30 * time.Second
	// peerWait is how long a source waits for a frozen destination (M6, M9).
	peerWait = 30 * time.Second
)

// slowFactor is how much longer a slow call takes.
const slowFactor = 10

// maxHang bounds how long a call hangs.
const maxHang = 5 * time.Minute

// hangTime draws how long a call hangs: longer than a controller waits for it.
func (r *random) hangTime() time.Duration { return maxHang/5 + r.uniform(maxHang-maxHang/5) }

// executor carries out the calls that reach nodes.
type executor struct {
	clock    *clock
	random   *random
	faults   *faultPlan
	nodes    *nodes
	observer *observer
	guests   *guests
	store    *imageStore
	ops      *operations
	machines *machines
	profile  Profile
}

// begin sends a call to its node.
func (x *executor) begin(call hypervisor.Call) {
	op := x.ops.add(call)
	n, ok := x.nodes.byID[call.Node]
	switch {
	case !ok:
		x.ops.answerLater(op, x.profile.Control, newFailure(hypervisor.ErrUnreachable, "no node %q", call.Node))
	case n.has(PowerLoss) || n.has(Partition) || n.has(DaemonKilled):
		x.ops.answerLater(op, connectTime, n.unreachable())
	case !n.holds(op):
		x.execute(op)
	}
}

// execute begins a call that has reached its node.
func (x *executor) execute(op *operation) {
	x.ops.touch(op)
	if f := x.faults.apply(op); f != nil {
		x.ops.answerLater(op, x.profile.Control, f)
		return
	}
	if op.Hangs && op.Call.Verb != hypervisor.Boot {
		x.clock.schedule(x.random.hangTime(), event{Kind: evResume, Op: op.Serial})
		return
	}
	x.start(op)
}

// start checks whether the call is possible and starts it.
func (x *executor) start(op *operation) {
	x.ops.touch(op)
	op.Started = true
	var d time.Duration
	var f *failure
	switch op.Call.Verb {
	case hypervisor.Boot:
		d, f = x.startBoot(op)
	case hypervisor.Shutdown, hypervisor.Abort, hypervisor.Revoke, hypervisor.Discard, hypervisor.Tune:
		d = x.profile.Control
	case hypervisor.Destroy:
		d = x.profile.Destroy
	case hypervisor.Pause:
		d = x.profile.Pause
	case hypervisor.Unpause:
		d, f = x.startUnpause(op)
	case hypervisor.Save:
		d, f = x.startSave(op)
	case hypervisor.Seal:
		d, f = x.startSeal(op)
	case hypervisor.Restore:
		d, f = x.startRestore(op)
	case hypervisor.Migrate:
		d, f = x.startMigrate(op)
	default:
		f = newFailure(hypervisor.ErrRefused, "verb %d is not known", op.Call.Verb)
	}
	switch {
	case op.Waits:
	case f != nil:
		x.ops.answerLater(op, x.profile.Control, f)
	default:
		if op.Slow {
			d *= slowFactor
		}
		if op.Call.Verb != hypervisor.Boot { // the guest has drawn its boot time already
			d = x.random.jitter(x.slowed(&op.Call, d))
		}
		x.clock.schedule(d, event{Kind: evFinish, Op: op.Serial})
	}
}

// slowed returns how long a call takes on nodes that are slower than the profile.
func (x *executor) slowed(call *hypervisor.Call, d time.Duration) time.Duration {
	slow := 0.0
	for _, id := range []cluster.NodeID{call.Node, call.To} {
		if n, known := x.nodes.byID[id]; known {
			slow = max(slow, n.Slow)
		}
	}
	if slow == 0 {
		return d
	}
	return time.Duration(float64(d) * slow)
}

// finish lets a call take effect. On a frozen node the call waits for the thaw.
func (x *executor) finish(op *operation) {
	if x.nodes.byID[op.Call.Node].holds(op) {
		return
	}
	var r hypervisor.Receipt
	var f *failure
	switch op.Call.Verb {
	case hypervisor.Boot:
		f = x.finishBoot(op)
	case hypervisor.Shutdown:
		f = x.finishShutdown(op)
	case hypervisor.Destroy:
		f = x.finishDestroy(op)
	case hypervisor.Pause:
		f = x.finishPause(op)
	case hypervisor.Unpause:
		f = x.finishUnpause(op)
	case hypervisor.Save:
		f = x.finishSave(op)
	case hypervisor.Seal:
		r, f = x.store.seal(op)
	case hypervisor.Restore:
		f = x.finishRestore(op)
	case hypervisor.Revoke:
		f = x.store.revoke(op)
	case hypervisor.Discard:
		f = x.store.discard(op)
	case hypervisor.Migrate:
		if f = x.finishMigrate(op); f == nil {
			return
		}
	case hypervisor.Abort:
		f = x.finishAbort(op)
	case hypervisor.Tune:
		f = x.finishTune(op)
	}
	x.ops.end(op, r, f)
}

// resume continues an operation that waited for a frozen node.
func (x *executor) resume(serial int64) {
	switch op := x.ops.byID[serial]; {
	case op == nil || op.Over:
	case op.Started:
		x.finish(op)
	default:
		x.execute(op)
	}
}

// resumeHung continues a call that hung.
func (x *executor) resumeHung(op *operation) {
	x.ops.touch(op)
	op.Hangs = false
	if !x.nodes.byID[op.Call.Node].holds(op) {
		x.start(op)
	}
}
