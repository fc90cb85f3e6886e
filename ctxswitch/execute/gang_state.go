package execute

import (
	"cmp"
	"slices"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/ctxswitch/gang"
	"vjob/ctxswitch/journal"
	"vjob/hypervisor"
)

// gangState is one vjob with its gang record and the state that a restart may forget.
type gangState struct {
	job *cluster.VJob // it never changes: see [gangState.changing]
	rec gang.Record

	todo    []*assignment // gangs of plans, in order; todo[0] is the one under way or next
	members []memberState // by rank; nil as long as nothing was done for the vjob since the start
	store   uint64        // logical time of the last call that changed the image store

	phase   phaseState
	wait    string // what the gang waits for, "" for nothing
	missing string // which image cannot be read now, "" when none
	broken  string // which invariant does not hold: the vjob is left alone; "" when all do

	failures failures
	account  account
	born     time.Time // when this start of the scheduler took the vjob in
	started  time.Time
	capped   bool // the caps of the members were set
}

// phaseState is what happened in the present phase of a gang.
type phaseState struct {
	// skewFrom and skewTo are the first and the last pause or unpause.
	skewFrom, skewTo time.Time
	sealed           map[string]*gang.Image
	discarded        map[hypervisor.ImageID]bool
	alarms           map[string]bool // those that were raised
	retreat          string          // why the aim of the phase is given up
	denied           time.Time       // since when a call is refused room; zero when none is
}

// newGangState allocates nothing before it is needed: of a hundred thousand vjobs nearly all
// wait.
func newGangState(job *cluster.VJob, rec gang.Record, now time.Time) *gangState {
	p := &gangState{job: job, rec: rec, born: now, account: account{marked: now, phase: rec.Phase}}
	if rec.Phase == gang.Pausing {
		p.phase.skewFrom, p.phase.skewTo = rec.Since, now // what was paused before the restart was so in between
	}
	return p
}

// changing replaces the vjob by one that is to be changed at once. Others hold the one
// before, and see it as it was; what its owner has said is shared.
func (p *gangState) changing() *cluster.VJob {
	job := *p.job
	p.job = &job
	return p.job
}

// phaseChanged resets the state of one phase.
func (p *gangState) phaseChanged() {
	for rank := range p.members {
		p.members[rank].tries, p.members[rank].err, p.members[rank].revoked = 0, nil, 0
	}
	p.phase.reset()
}

// reset begins another phase.
func (s *phaseState) reset() {
	clear(s.sealed)
	clear(s.discarded)
	clear(s.alarms)
	s.skewFrom, s.skewTo = time.Time{}, time.Time{}
	s.retreat, s.denied = "", time.Time{}
}

// skew is the time from the first pause or unpause of the phase to the last one.
func (s *phaseState) skew() time.Duration { return s.skewTo.Sub(s.skewFrom) }

// widen widens the skew of the phase by a pause or unpause that happened, if it
// did, between two instants: the measured skew is never less than the true one.
func (s *phaseState) widen(verb hypervisor.Verb, began, ended time.Time) {
	if verb != hypervisor.Pause && verb != hypervisor.Unpause {
		return
	}
	if s.skewFrom.IsZero() || began.Before(s.skewFrom) {
		s.skewFrom = began
	}
	if ended.After(s.skewTo) {
		s.skewTo = ended
	}
}

// turnBack has the gang give up what it is doing. The first reason counts.
func (s *phaseState) turnBack(why string) { s.retreat = cmp.Or(s.retreat, why) }

// plan is the plan that the gang works for, 0 when none.
func (p *gangState) plan() journal.PlanID {
	if len(p.todo) > 0 && p.todo[0].begun {
		return p.todo[0].plan.id
	}
	return 0
}

// rests reports whether nothing is under way or waited for, the effect of every call was seen,
// and no member backs off.
func (p *gangState) rests(now time.Time) bool {
	return p.rec.Phase.Stable() && p.wait == "" && !slices.ContainsFunc(p.members, func(t memberState) bool {
		return len(t.held) > 0 || len(t.touched) > 0 || now.Before(t.pace())
	})
}

// idle reports whether a new plan may dispose of the vjob.
func (p *gangState) idle() bool { return p.rec.Phase.Stable() && len(p.todo) == 0 && p.broken == "" }

// hasStarted reports whether the vjob has run, in this start of the scheduler or before.
func (p *gangState) hasStarted() bool {
	return !p.started.IsZero() || p.account.ran > 0 || p.rec.Phase == gang.Active
}

// away reports whether a gang is on no node.
func (p *gangState) away() bool { return p.rec.Phase == gang.Absent || p.rec.Phase == gang.Saved }

// moreHops reports whether a migrating member has hops before it.
func (p *gangState) moreHops(rank int) bool {
	if !p.begins(cluster.Migrate) || p.stays(rank) {
		return false
	}
	at := p.rec.Members[rank].Next
	if at == "" {
		at = p.rec.Members[rank].Node
	}
	last := p.todo[0].last(rank)
	return last != nil && last.To != at
}

// stays reports whether a member has given its migration up.
func (p *gangState) stays(rank int) bool {
	return p.phase.retreat != "" || p.rec.Members[rank].Next == "" && p.member(rank).err != nil
}

// released reports whether what a call waits for in its plan is done. Without a plan only
// the room decides. The members of a gang that is saved do not wait for each other.
func (p *gangState) released(call hypervisor.Call) bool {
	if len(p.todo) == 0 || call.Verb == hypervisor.Save {
		return true
	}
	_, may := p.todo[0].hop(call.VM.Rank)
	return may
}

// hopOf returns the action of the plan that a migration carries out, or nil.
func (p *gangState) hopOf(call *hypervisor.Call) *ctxswitch.Action {
	if call.Verb != hypervisor.Migrate || len(p.todo) == 0 {
		return nil
	}
	act, _ := p.todo[0].hop(call.VM.Rank)
	return act
}

// rate is what a plan lets a call send; 0 is no limit.
func (p *gangState) rate(call *hypervisor.Call) cluster.Rate {
	if act := p.hopOf(call); act != nil {
		return act.Rate
	}
	return 0
}

// planned is how long a plan gives a call that keeps to a rate.
func (p *gangState) planned(call *hypervisor.Call) time.Duration {
	if act := p.hopOf(call); act != nil && act.Rate > 0 {
		return act.End - act.Start
	}
	return 0
}

// bound is the state that what is under way or promised leads to.
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

// begins reports whether a plan has the gang, which is under way, do something of a kind.
func (p *gangState) begins(kind cluster.ActionKind) bool {
	return len(p.todo) > 0 && p.todo[0].gang.Kind == kind
}

// doing names what the gang does, and the call that takes the time.
func (p *gangState) doing() (cluster.ActionKind, hypervisor.Verb) {
	switch p.rec.State() {
	case cluster.Booting:
		return cluster.Boot, hypervisor.Boot
	case cluster.Suspending:
		if p.rec.Then == gang.ThenStand && p.rec.Phase == gang.Pausing {
			return cluster.Pause, hypervisor.Pause
		}
		return cluster.Suspend, hypervisor.Save
	case cluster.Resuming:
		if p.begins(cluster.Unpause) {
			return cluster.Unpause, hypervisor.Unpause
		}
		return cluster.Resume, hypervisor.Restore
	case cluster.Migrating:
		return cluster.Migrate, hypervisor.Migrate
	default:
		return cluster.Stop, hypervisor.Destroy
	}
}
