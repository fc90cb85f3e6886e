package execute

import (
	"fmt"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/gang"
	"vjob/hypervisor"
)

// gangState is one vjob with its gang record and the state that a restart may forget.
type gangState struct {
	job *cluster.VJob // it never changes: see [gangState.changing]
	rec *gang.Record  // it never changes either

	todo    []*assignment // gangs of plans, in order; todo[0] is the one under way or next
	members []memberState // by rank; nil as long as nothing was done for the vjob since the start
	wait    string        // what the gang waits for, "" for nothing

	*history
	born     time.Time // when this start of the scheduler took the vjob in
	capped   bool      // the caps of the members were set
	weighted bool      // their weights were set
}

// newGangState allocates nothing before it is needed: of a hundred thousand vjobs nearly all
// wait.
func newGangState(job *cluster.VJob, rec gang.Record, now time.Time) *gangState {
	p := &gangState{job: job, rec: &rec, born: now, history: &noHistory}
	if rec.Phase == gang.Pausing {
		p.begin()
		p.phase.skewFrom, p.phase.skewTo = rec.Since, now // what was paused before the restart was so in between
	}
	return p
}

// history is what happened to a gang that was begun, what it has used, and how its attempts went.
type history struct {
	phase     phaseState
	notBefore time.Time // when a transfer of the gang is due by its plan that waits; zero for none
	wake      time.Time // see [engine.setWake]; zero once the gang was advanced
	store     uint64    // logical time of the last call that changed the image store
	missing   string    // which image cannot be read now, "" when none
	broken    string    // which invariant does not hold: the vjob is left alone; "" when all do
	started   time.Time
	failures  failures
	account   vjobAccount
}

// noHistory is that of all gangs that were never begun; it never changes.
var noHistory history

// begin gives the gang a history of its own. It comes before whatever is written there.
func (p *gangState) begin() {
	if p.history == &noHistory {
		p.history = &history{account: vjobAccount{clock: clock{marked: p.born, phase: p.rec.Phase}}}
	}
}

// untouched reports whether nothing was ever done for the vjob, or is planned.
func (p *gangState) untouched() bool {
	return p.history == &noHistory && p.members == nil && len(p.todo) == 0 && p.wait == "" && p.broken == "" && p.rec.Phase == gang.Absent && p.rec.Incarnation == 0
}

// changing replaces the vjob by a shallow copy, which the caller changes at once. Other parts hold the
// old one and see it unchanged.
func (p *gangState) changing() *cluster.VJob {
	job := *p.job
	p.job = &job
	return p.job
}

// phaseChanged resets the state of one phase.
func (p *gangState) phaseChanged() {
	for rank := range p.members {
		p.members[rank].tries, p.members[rank].err, p.members[rank].revoked = 0, nil, 0
		p.members[rank].noRoom = false
	}
	p.phase.reset()
}

// atRest reports whether nothing is under way or waited for, the effect of every call was seen,
// and no member backs off.
func (p *gangState) atRest(now time.Time) bool {
	if !p.rec.Phase.Stable() || p.wait != "" {
		return false
	}
	for i := range p.members {
		if t := &p.members[i]; len(t.openCalls) > 0 || len(t.touched) > 0 || now.Before(t.nextCall()) {
			return false
		}
	}
	return true
}

// idle reports whether a new plan may dispose of the vjob.
func (p *gangState) idle() bool { return p.rec.Phase.Stable() && len(p.todo) == 0 && p.broken == "" }

// hasStarted reports whether the vjob has run, in this start of the scheduler or before.
func (p *gangState) hasStarted() bool {
	return !p.started.IsZero() || p.account.ran > 0 || p.rec.Phase == gang.Active
}

// away reports whether a gang is on no node.
func (p *gangState) away() bool { return p.rec.Phase == gang.Absent || p.rec.Phase == gang.Saved }

// bound is the state that the last assignment, or else the present phase, leads to.
func (p *gangState) bound() cluster.VMState {
	if n := len(p.todo); n > 0 {
		switch p.todo[n-1].gang.Kind {
		case cluster.Suspend:
			return cluster.VMSleeping
		case cluster.Pause:
			return cluster.VMPaused
		case cluster.Stop:
			return cluster.VMTerminated
		default:
			return cluster.VMRunning
		}
	}
	switch p.rec.Phase {
	case gang.Absent:
		return cluster.VMWaiting
	case gang.Saved, gang.Saving:
		return cluster.VMSleeping
	case gang.Paused:
		return cluster.VMPaused
	case gang.Pausing, gang.Restoring:
		switch p.rec.Then {
		case gang.ThenSave:
			return cluster.VMSleeping
		case gang.ThenStand:
			return cluster.VMPaused
		default:
			return cluster.VMRunning
		}
	case gang.Clearing:
		return cluster.VMTerminated
	default:
		return cluster.VMRunning
	}
}

// doing names what the gang does.
func (p *gangState) doing() cluster.ActionKind {
	switch p.rec.State() {
	case cluster.Booting:
		return cluster.Boot
	case cluster.Suspending:
		if p.rec.Then == gang.ThenStand && p.rec.Phase == gang.Pausing {
			return cluster.Pause
		}
		return cluster.Suspend
	case cluster.Resuming:
		if p.begins(cluster.Unpause) {
			return cluster.Unpause
		}
		return cluster.Resume
	case cluster.Migrating:
		return cluster.Migrate
	default:
		return cluster.Stop
	}
}

// mustGo reports whether a gang can do nothing but make a call: the restore of a member, after the gang
// was turned back in the middle of being saved.
func (p *gangState) mustGo(call hypervisor.Call) bool {
	return call.Verb == hypervisor.Restore && !p.rec.Whole()
}

// containerRoom is the room that the gang, that of a container, has on a node, from when it begins to run until it has
// ended.
func (p *gangState) containerRoom(node cluster.NodeID) (sum cluster.Resources) {
	for rank, m := range p.rec.Members {
		if m.Node == node {
			sum = sum.Plus(p.job.VMs[rank].Reserved)
		}
	}
	return sum
}

// unreadable says which image of a suspended vjob the last look at the store did not
// show, "" when all are there. A vjob is suspended only once a look has shown them.
func (p *gangState) unreadable(there map[hypervisor.ImageID]bool) string {
	if p.rec.Phase != gang.Saved {
		return ""
	}
	for _, m := range p.rec.Members {
		if m.Image != nil && !there[m.Image.ID] {
			return fmt.Sprintf("the image store does not show %s", m.Image.ID)
		}
	}
	return ""
}

// binds returns why a vjob needs a node even if none of its calls is under way there, "" if it does not.
func (p *gangState) binds(n *node) string {
	for rank, m := range p.rec.Members {
		if m.Next == n.ID || m.Node == n.ID && p.rec.Phase != gang.Saved || n.asOf <= p.member(rank).touched[n.ID] {
			return "has a member there, or may have"
		}
	}
	for _, a := range p.todo {
		for _, id := range a.gang.Actions {
			if act := a.plan.actions[id]; act.From == n.ID || act.To == n.ID {
				return "is to be moved there, or from there"
			}
		}
	}
	return ""
}

// failure says why the gang did not get where its assignment wanted it.
func (p *gangState) failure() string {
	switch c := p.rec.Cause.Fields(); c.Kind {
	case cluster.CauseAborted, cluster.CauseLost, cluster.CauseShutdown:
		return c.Text
	default:
		return "not all of its VMs got where they were to be"
	}
}

// keepDenied returns the time of the first refusal as long as nothing is under way.
func (p *gangState) keepDenied() time.Time {
	for i := range p.members {
		if len(p.members[i].openCalls) > 0 {
			return time.Time{}
		}
	}
	return p.phase.deniedSince
}

// end is when the walltime of a vjob that runs is over; zero if it does not run, or may for ever.
func (p *gangState) end() time.Time {
	if p.rec.Phase != gang.Active {
		return time.Time{}
	}
	return p.account.end(p.job)
}
