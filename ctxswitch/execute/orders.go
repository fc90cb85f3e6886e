package execute

import (
	"fmt"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/ctxswitch/gang"
	"vjob/ctxswitch/journal"
)

// Clear ends a vjob whatever it is doing: by its owner's wish, at its walltime,
// or for good reason.
func (e *Executor) Clear(now time.Time, id cluster.VJobID, then gang.Then, cause *cluster.Cause) error {
	e.now = now
	p, ok := e.gangs.live[id]
	if !ok {
		return fmt.Errorf("vjob %s: %w", id, cluster.ErrNotFound)
	}
	if p.rec.Phase == gang.Clearing && (p.rec.Then == then || p.rec.Then.InOrder()) {
		return nil // how it ends stands already
	}
	p.drop(journal.PlanDropped, cause.String())
	e.changed(p)
	if p.rec.Phase == gang.Absent {
		rec := *p.rec.Clone()
		rec.Then, rec.Cause, rec.Since = then, cause, now
		e.engine.commit(p, rec)
		return nil
	}
	rec, err := p.rec.Begin(gang.Aim{Kind: cluster.Stop, Then: then, Cause: cause}, now)
	if err != nil {
		return err
	}
	e.engine.commit(p, rec)
	e.dirty[id] = true
	return nil
}

// Hold sets or takes back a vjob's hold. What follows from it is for the policy
// to decide.
func (e *Executor) Hold(now time.Time, id cluster.VJobID, held bool, cause *cluster.Cause) error {
	e.now = now
	p, ok := e.gangs.live[id]
	if !ok {
		return fmt.Errorf("vjob %s: %w", id, cluster.ErrNotFound)
	}
	e.engine.hold(p, held, cause)
	return nil
}

// Reshape gives a vjob that has never been started another of its shapes. It fails with
// ErrNotFound or ErrConflict and then changes nothing.
func (e *Executor) Reshape(now time.Time, id cluster.VJobID, shape int) error {
	e.now = now
	p, ok := e.gangs.live[id]
	switch {
	case !ok:
		return fmt.Errorf("vjob %s: %w", id, cluster.ErrNotFound)
	case shape < 0 || shape >= len(p.job.Shapes):
		return cluster.BadField("shape", shape, fmt.Sprintf("one of its %d", len(p.job.Shapes)))
	case !p.idle() || p.rec.Incarnation != 0:
		return fmt.Errorf("vjob %s %s and has been started: %w", id, p.job.State.Clause(), cluster.ErrConflict)
	case shape == p.job.Shape:
		return nil
	}
	job, rec := p.job.WithShape(shape), *p.rec.Clone()
	rec.Members = make([]gang.Member, len(job.VMs))
	next := newGangState(job, rec, now)
	e.gangs.live[id], e.dirty[id] = next, true
	e.changed(next)
	e.changes++
	r := journal.Reshape{VJob: id, Shape: shape, Walltime: job.Walltime}
	for i := range job.VMs {
		r.Reserved = append(r.Reserved, job.VMs[i].Reserved)
	}
	e.out.Step.Reshape = append(e.out.Step.Reshape, r)
	e.event(journal.Event{Kind: journal.EventState, VJob: id, State: job.State.String(), Text: fmt.Sprintf(
		"vjob %s takes shape %d of %d: %s with %s for %s", id, shape+1, len(job.Shapes), cluster.Count(len(job.VMs), "VM"), job.Reserved(), job.Walltime)})
	return nil
}

// Adopt begins to carry a plan out. The vjobs that it disposes of must be idle; actions of
// those that have ended are dropped.
func (e *Executor) Adopt(now time.Time, id journal.PlanID, policy string, plan ctxswitch.Plan) {
	e.now = now
	r := &activePlan{batch: e.batch, id: id, began: now, makespan: plan.Makespan, actions: plan.Actions, state: make([]journal.PlanState, len(plan.Actions)), open: len(plan.Actions)}
	r.waiting = map[ctxswitch.ActionID][]cluster.VJobID{}
	for i := range plan.Actions {
		for _, before := range plan.Actions[i].After {
			r.waiting[before] = append(r.waiting[before], plan.Actions[i].VM.VJob)
		}
	}
	e.out.expect(len(plan.Actions))
	e.out.Step.Plans = append(e.out.Step.Plans, journal.Plan{
		ID: id, At: now, Policy: policy, Plan: plan, State: journal.PlanRunning,
	})
	e.event(journal.Event{
		Kind: journal.EventPlan, Plan: id,
		Text: fmt.Sprintf("context switch %d begins: %s on %s, cost %d MiB, estimated %s",
			id, cluster.Count(len(plan.Actions), "action"), cluster.Count(len(plan.Gangs), "vjob"), plan.Cost, round(plan.Makespan)),
	})
	for _, g := range plan.Gangs {
		a := &assignment{plan: r, gang: g}
		p, ok := e.gangs.live[g.VJob]
		if !ok {
			a.giveUp(journal.PlanDropped, fmt.Sprintf("vjob %s has ended", g.VJob))
			continue
		}
		p.todo = append(p.todo, a)
		e.gangs.promises.add(p, a)
		e.dirty[g.VJob] = true
		e.changed(p)
	}
}

// SetPool moves a vjob to another pool. It fails with cluster.ErrNotFound.
func (e *Executor) SetPool(now time.Time, id cluster.VJobID, pool, text string) error {
	return e.setTerm(now, id, text, func(terms *cluster.Terms) {
		terms.Pool = pool
		e.out.Step.Moved = append(e.out.Step.Moved, journal.PoolChange{ID: id, Pool: pool})
	})
}

// SetMoves changes whether the VMs of a vjob move to improve the cluster. It fails with cluster.ErrNotFound.
func (e *Executor) SetMoves(now time.Time, id cluster.VJobID, mode cluster.MoveMode, text string) error {
	return e.setTerm(now, id, text, func(terms *cluster.Terms) {
		terms.Moves = mode
		e.out.Step.MoveModes = append(e.out.Step.MoveModes, journal.MoveModeChange{ID: id, Moves: mode})
	})
}

// setTerm changes a term of a live vjob, and says so in an event.
func (e *Executor) setTerm(now time.Time, id cluster.VJobID, text string, set func(*cluster.Terms)) error {
	e.now = now
	p, ok := e.gangs.live[id]
	if !ok {
		return fmt.Errorf("vjob %s: %w", id, cluster.ErrNotFound)
	}
	set(p.changing().OwnTerms())
	e.changed(p)
	e.changes++
	e.event(journal.Event{Kind: journal.EventState, VJob: id, State: p.job.State.String(), Text: text})
	return nil
}

// SetCaps says how much CPU each member of a vjob gets at most from now on, by rank; 0 is
// as much as there is, and nil that for all members. Unknown vjobs are ignored.
func (e *Executor) SetCaps(now time.Time, id cluster.VJobID, most []cluster.MilliCPU) {
	e.now = now
	if p, known := e.gangs.live[id]; known && (most == nil || len(most) == len(p.job.VMs)) {
		e.tuner.wantCaps(p, most)
	}
}

// SetWeights sets the weights of the members of a vjob from now on, by rank, between
// [hypervisor.MinWeight] and [hypervisor.MaxWeight]; 0 leaves a weight as it is. Unknown vjobs are
// ignored.
func (e *Executor) SetWeights(now time.Time, id cluster.VJobID, weights []int) {
	e.now = now
	if p, known := e.gangs.live[id]; known && len(weights) == len(p.job.VMs) {
		e.tuner.wantWeights(p, weights)
	}
}
