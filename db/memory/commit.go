package memory

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"vjob/cluster"
	"vjob/ctxswitch/journal"
	"vjob/db/internal/check"
	"vjob/hypervisor"
)

// Commit writes a step, all or nothing.
func (s *Store) Commit(ctx context.Context, step journal.Step) error {
	if err := ctx.Err(); err != nil || step.Empty() {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	before, after := s.fault()
	if before != nil {
		return fmt.Errorf("commit: %w", before)
	}
	undo := undo{epoch: s.epoch, nextOp: s.nextOp, nextP: s.nextP, seq: s.seq, plans: len(s.plans), calls: len(s.calls), events: len(s.events)}
	if err := s.step(&step, &undo); err != nil {
		undo.back(s)
		return fmt.Errorf("commit: %w", err)
	}
	if after != nil {
		return fmt.Errorf("commit: %w", after)
	}
	return nil
}

// undo takes back a step that was refused half-way: lengths of what only grows,
// and functions for what was replaced.
type undo struct {
	epoch, seq           int64
	nextOp               hypervisor.OpID
	nextP                journal.PlanID
	plans, calls, events int
	replaced             []func()
}

func (u *undo) back(s *Store) {
	for _, f := range slices.Backward(u.replaced) {
		f()
	}
	for _, p := range s.plans[u.plans:] {
		delete(s.planAt, p.ID)
	}
	for _, c := range s.calls[u.calls:] {
		delete(s.callAt, c.Call.Op)
	}
	s.plans, s.calls, s.events = s.plans[:u.plans], s.calls[:u.calls], slices.Clip(s.events[:u.events])
	s.epoch, s.seq, s.nextOp, s.nextP = u.epoch, u.seq, u.nextOp, u.nextP
}

// keep remembers a value that is about to be replaced.
func keep[T any](u *undo, at *T) {
	old := *at
	u.replaced = append(u.replaced, func() { *at = old })
}

// step applies the parts in the order of package db.
func (s *Store) step(step *journal.Step, u *undo) error {
	if step.Rules != nil {
		keep(u, &s.rules)
		s.rules = *step.Rules
		s.rules.At = utc(s.rules.At)
	}
	s.stepEnergy(step, u)
	for _, n := range step.Nodes {
		if n.ID == "" {
			return cluster.BadField("node", "", "a name")
		}
		old, known := s.nodes[n.ID]
		u.replaced = append(u.replaced, func() {
			delete(s.nodes, n.ID)
			if known {
				s.nodes[n.ID] = old
			}
		})
		s.putNode(n)
	}
	if err := s.stepPower(step.Power, u); err != nil {
		return err
	}
	if err := s.stepVJobs(step, u); err != nil {
		return err
	}
	for i := range step.Gangs {
		r := &step.Gangs[i]
		at, ok := s.at(r.VJob)
		if !ok {
			return check.NotFound("gang of vjob", r.VJob)
		}
		if err := check.Gang(r, s.vjobs[at].Size); err != nil {
			return err
		}
		keep(u, &s.gangs[at])
		s.gangs[at] = copyGang(r)
		s.gangs[at].Since = utc(r.Since)
	}
	if err := s.stepTerms(step, u); err != nil {
		return err
	}
	if err := s.stepPlans(step, u); err != nil {
		return err
	}
	if err := s.stepCalls(step, u); err != nil {
		return err
	}
	for _, use := range step.Usage {
		at, ok := s.at(use.VJob)
		if !ok {
			return check.NotFound("account of vjob", use.VJob)
		}
		sum := &s.vjobs[at].Account
		keep(u, sum)
		*sum = sum.Plus(use)
	}
	s.charge(step.Charges, u)
	s.stepHours(step, u)
	for _, e := range step.Events {
		s.log(e)
	}
	return nil
}

// at is the place of a vjob and of its gang.
func (s *Store) at(id cluster.VJobID) (place int, ok bool) {
	return slices.BinarySearchFunc(s.vjobs, id, func(r journal.Row, id cluster.VJobID) int { return cmp.Compare(r.ID, id) })
}

func (s *Store) stepVJobs(step *journal.Step, u *undo) error {
	for i := range step.Reshape {
		if err := s.reshape(&step.Reshape[i], u); err != nil {
			return err
		}
	}
	for i := range step.VJobs {
		if err := s.change(&step.VJobs[i], u); err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) change(c *journal.VJobChange, u *undo) error {
	at, ok := s.at(c.ID)
	if !ok {
		return check.NotFound("vjob", c.ID)
	}
	row := &s.vjobs[at]
	old := row.VJob
	if err := check.Change(check.Current{State: old.State, Held: old.Held, Version: old.Version}, *c); err != nil {
		return err
	}
	keep(u, row)
	if c.State.Terminal() {
		s.free(c.ID, u)
	}
	next := *old // a copy: readers and clones hold the old one
	next.State, next.Held, next.Hold, next.Cause, next.Outcome, next.Version = c.State, c.Held, c.Hold, c.Cause, c.Outcome, c.Version
	row.VJob = &next
	if row.Started.IsZero() { // the first start counts
		row.Started = utc(c.Started)
	}
	if row.Ended.IsZero() {
		row.Ended = utc(c.Ended)
	}
	return nil
}

func (s *Store) stepPlans(step *journal.Step, u *undo) error {
	if s.planAt == nil {
		s.planAt = map[journal.PlanID]int{}
	}
	for _, p := range step.Plans {
		if _, ok := s.planAt[p.ID]; ok {
			return check.Duplicate("plan", p.ID)
		}
		s.planAt[p.ID] = len(s.plans)
		s.plans = append(s.plans, newPlan(p))
		s.nextP = max(s.nextP, p.ID)
	}
	for _, c := range step.Closed {
		p, err := s.plan(c.ID, u)
		if err != nil {
			return err
		}
		p.State, p.Note = c.State, c.Note
		if !c.Ended.IsZero() {
			p.Ended = utc(c.Ended)
		}
	}
	for _, a := range step.Actions {
		p, err := s.plan(a.Plan, u)
		if err != nil {
			return err
		}
		if err := check.Action(a, len(p.Progress)); err != nil {
			return err
		}
		p.Progress = slices.Clone(p.Progress) // clones of the store share the old one
		progress(&p.Progress[a.Action], a)
	}
	for _, c := range step.Skews {
		if c.Plan == 0 {
			continue // a skew of no plan could not be shown anywhere
		}
		p, err := s.plan(c.Plan, u)
		if err != nil {
			return err
		}
		p.Skews = append(slices.Clip(p.Skews), c)
	}
	return nil
}

// plan returns the place of a plan that is about to change.
func (s *Store) plan(id journal.PlanID, u *undo) (*journal.PlanDetail, error) {
	at, ok := s.planAt[id]
	if !ok {
		return nil, check.NotFound("plan", id)
	}
	keep(u, &s.plans[at])
	return &s.plans[at], nil
}

func newPlan(p journal.Plan) journal.PlanDetail {
	d := journal.PlanDetail{
		PlanRow: journal.PlanRow{
			ID: p.ID, At: utc(p.At), Ended: utc(p.Ended), Policy: p.Policy, State: p.State,
			Cost: p.Plan.Cost, Makespan: p.Plan.Makespan, Actions: len(p.Plan.Actions),
		},
		Plan: p.Plan, Progress: make([]journal.ActionProgress, len(p.Plan.Actions)),
	}
	d.Plan.Target = nil // not kept on disk either
	for i := range d.Progress {
		d.Progress[i].State = journal.PlanPending
	}
	return d
}

func progress(p *journal.ActionProgress, a journal.ActionChange) {
	p.State, p.Note = a.State, a.Note
	switch {
	case a.At.IsZero(), a.State == journal.PlanPending:
	case a.State == journal.PlanRunning:
		p.Began = utc(a.At)
	default:
		p.Ended = utc(a.At)
	}
}

func (s *Store) stepCalls(step *journal.Step, u *undo) error {
	if s.callAt == nil {
		s.callAt = map[hypervisor.OpID]int{}
	}
	for _, i := range step.Intents {
		if err := check.Epoch(&i, s.epoch); err != nil {
			return err
		}
		if _, ok := s.callAt[i.Call.Op]; ok {
			return check.Duplicate("intent", i.Call.Op)
		}
		if _, ok := s.planAt[i.Plan]; i.Plan != 0 && !ok {
			return fmt.Errorf("intent %d: %w", i.Call.Op, check.NotFound("plan", i.Plan))
		}
		i.At, i.Call.Machine = utc(i.At), nil
		s.callAt[i.Call.Op] = len(s.calls)
		s.calls = append(s.calls, Call{Intent: i})
		s.nextOp = max(s.nextOp, i.Call.Op)
	}
	for _, r := range step.Results {
		at, ok := s.callAt[r.Op]
		switch {
		case !ok:
			return check.NotFound("intent", r.Op)
		case s.calls[at].Result != nil:
			return check.DuplicateResult(r.Op)
		}
		call := &s.calls[at]
		u.replaced = append(u.replaced, func() { call.Result = nil })
		r.Began, r.Ended = utc(r.Began), utc(r.Ended)
		call.Result = &r
	}
	return nil
}
