package execute

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/ctxswitch/gang"
	"vjob/ctxswitch/journal"
)

// activePlan is a plan being carried out.
type activePlan struct {
	*batch
	id       journal.PlanID
	began    time.Time     // when it was adopted: its times count from then
	makespan time.Duration // as estimated
	actions  []ctxswitch.Action
	state    []journal.PlanState // by action; "" until it begins or is given up
	open     int                 // actions that are neither done nor given up
	// waiting lists, by action, the vjobs that wait for its end.
	waiting map[ctxswitch.ActionID][]cluster.VJobID
	fault   string // the first thing that went wrong
}

// assignment is one gang of a plan that a vjob has to carry out.
type assignment struct {
	plan  *activePlan
	gang  ctxswitch.Gang
	begun bool
	// readyAt is since when the gang could begin but for transfer slots; zero if it does not wait for them.
	readyAt time.Time
	// timing is for learning durations; nil: nothing is learned.
	timing *timing
}

// ready reports whether the gang can begin: all of its actions may start or, in a boot, a resume or a live
// migration, at least one. A gang that is paused as a whole should not be paused longer than necessary.
func (a *assignment) ready() bool {
	some, all := false, true
	for _, id := range a.gang.Actions {
		if a.free(id) {
			some = true
		} else {
			all = false
		}
	}
	switch a.gang.Kind {
	case cluster.Boot, cluster.Resume:
		return some
	case cluster.Migrate:
		return all || some && a.live()
	default:
		return all
	}
}

func (a *assignment) live() bool {
	return !slices.ContainsFunc(a.gang.Actions, func(id ctxswitch.ActionID) bool {
		return !a.plan.actions[id].Live
	})
}

// free reports whether everything outside the gang that an action waits for has
// been done.
func (a *assignment) free(id ctxswitch.ActionID) bool {
	for _, before := range a.plan.actions[id].After {
		if a.plan.state[before] != journal.PlanDone && !slices.Contains(a.gang.Actions, before) {
			return false
		}
	}
	return true
}

// blocked names an action that failed although the gang waits for it, or "".
func (a *assignment) blocked() string {
	for _, id := range a.gang.Actions {
		if a.plan.state[id] == journal.PlanDone {
			continue
		}
		for _, before := range a.plan.actions[id].After {
			s := a.plan.state[before]
			if s == journal.PlanFailed || s == journal.PlanDropped {
				act := a.plan.actions[before]
				return fmt.Sprintf("%s of VM %s, which it waited for, was given up", act.Kind, act.VM)
			}
		}
	}
	return ""
}

// aim is what the gang of the assignment begins with: of several hops the first.
func (a *assignment) aim(members int) gang.Aim {
	cause := a.gang.Cause.Fields()
	cause.Switch = int64(a.plan.id)
	aim := gang.Aim{
		Kind: a.gang.Kind, Next: make([]cluster.NodeID, members), Live: a.live(),
		Cause: &cause,
	}
	for _, id := range slices.Backward(a.gang.Actions) {
		act := a.plan.actions[id]
		aim.Next[act.VM.Rank] = act.To
	}
	if aim.Kind == cluster.Stop { // a plan ends only vjobs that have to make room
		aim.Then = gang.ThenWait
	}
	return aim
}

// hop returns the next pending action of a member, or nil, and whether it may begin: all
// that it waits for is done.
func (a *assignment) hop(rank int) (act *ctxswitch.Action, may bool) {
	for _, id := range a.gang.Actions {
		act := &a.plan.actions[id]
		if act.VM.Rank != rank || a.plan.state[id] == journal.PlanDone {
			continue
		}
		for _, before := range act.After {
			if a.plan.state[before] != journal.PlanDone {
				return act, false
			}
		}
		return act, true
	}
	return nil, true
}

// last returns the last action of a member in the gang, nil when it has none.
func (a *assignment) last(rank int) *ctxswitch.Action {
	for _, id := range slices.Backward(a.gang.Actions) {
		if act := &a.plan.actions[id]; act.VM.Rank == rank {
			return act
		}
	}
	return nil
}

// mark changes the state of an action, unless it is done, and of the plan with it.
func (r *activePlan) mark(id ctxswitch.ActionID, s journal.PlanState, note string) {
	if r.state[id] == journal.PlanDone {
		return
	}
	r.state[id] = s
	r.out.Step.Actions = append(r.out.Step.Actions, journal.ActionChange{
		Plan: r.id, Action: id, State: s, At: r.now, Note: note,
	})
	if s == journal.PlanRunning {
		return
	}
	r.fault = cmp.Or(r.fault, note)
	r.open--
	for _, job := range r.waiting[id] {
		r.dirty[job] = true
	}
	if r.open == 0 {
		r.close()
	}
}

func (r *activePlan) close() {
	state, text := journal.PlanDone, fmt.Sprintf("context switch %d is done%s", r.id, r.comparison())
	if r.fault != "" {
		state, text = journal.PlanFailed, fmt.Sprintf("context switch %d ended early: %s", r.id, r.fault)
	}
	r.out.Step.Closed = append(r.out.Step.Closed, journal.PlanChange{ID: r.id, State: state, Ended: r.now, Note: r.fault})
	r.event(journal.Event{Kind: journal.EventPlan, Plan: r.id, Text: text})
}

// comparison states how long the plan took, beside its estimate; "" if one of them is 0.
func (r *activePlan) comparison() string {
	took := r.now.Sub(r.began)
	if took <= 0 || r.makespan <= 0 {
		return ""
	}
	return fmt.Sprintf(" in %s, estimated %s (%+.0f %%)", round(took), round(r.makespan), 100*(took.Seconds()/r.makespan.Seconds()-1))
}

// round returns a duration in tenths of a second, or in seconds from ten on.
func round(d time.Duration) time.Duration {
	if d < 10*time.Second {
		return d.Round(100 * time.Millisecond)
	}
	return d.Round(time.Second)
}

// giveUp closes the actions of an assignment that are not done. One that has not begun
// is dropped, whatever the state.
func (a *assignment) giveUp(s journal.PlanState, note string) {
	if !a.begun {
		s = journal.PlanDropped
	}
	for _, id := range a.gang.Actions {
		a.plan.mark(id, s, note)
	}
}
