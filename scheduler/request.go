package scheduler

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/journal"
	"vjob/energy/budget"
	"vjob/energy/power/cycle"
	"vjob/queue/ordering"
	"vjob/queue/pool"
	"vjob/scheduler/admission"
)

// Requests are the requests of users and administrators. They are safe for concurrent use: each changes the core in
// the goroutine of the loop. Requests that change one thing may have a condition on its revision, see package internal/revision.
type Requests struct {
	settings *atomic.Pointer[LoopSettings]
	store    Store
	now      func() time.Time
	inbox    *inbox
	board    *board
	desk     *desk

	// reserving is held from the confirmation of a reservation until the core knows it.
	reserving sync.Mutex
}

// Snapshot is the loop as its last step left it, with the times as of now.
func (l *Requests) Snapshot() *Snapshot { return l.board.latest().asOf(l.now()) }

// Disown renames the use of a deleted user. The store has renamed it already.
func (l *Requests) Disown(ctx context.Context, user, former string) error {
	return l.inbox.ask(ctx, func(c *Core) error {
		c.VJobs.Rename(user, former)
		return nil
	})
}

// Submit checks a submission against the cluster and the bounds, writes it and wakes the loop. The
// vjob is durable on return. A repeated key returns the vjob of the first time and created false.
func (l *Requests) Submit(ctx context.Context, s admission.Submission) (job *cluster.VJob, created bool, err error) {
	set := l.settings.Load()
	if err := s.Validate(set.Limits, l.board.latest().Declared); err != nil {
		return nil, false, err
	}
	routed, err := s.Route(set.OrderingRules())
	if err != nil {
		return nil, false, err
	}
	if err := set.admitPool(routed, l.board.latest().Pools.Hierarchy); err != nil {
		return nil, false, err
	}
	s.At, s.Allowed = l.now().UTC(), set.Limits.Owner
	if s.Claims() {
		l.reserving.Lock()
		defer l.reserving.Unlock()
		if err := l.admit(ctx, &s); err != nil {
			return nil, false, err
		}
	}
	job, created, err = l.store.Submit(ctx, s)
	switch {
	case errors.Is(err, cluster.ErrConflict) || errors.Is(err, cluster.ErrInvalid):
		return nil, false, err
	case err != nil:
		// It may have been written all the same: the loop has to find out.
		l.inbox.post(func(*Core) error { return errStale })
		return nil, false, err
	}
	if created {
		jobs := []*cluster.VJob{job}
		if len(s.Array) > 0 {
			jobs = s.VJobs(job.ID)
		}
		past, err := l.past(ctx, s.After)
		l.inbox.post(func(c *Core) error {
			c.VJobs.Recall(past...)
			c.VJobs.Submitted(l.now(), jobs...)
			return err
		})
	}
	return job, created, nil
}

// Order carries out a request of a user for a vjob.
func (l *Requests) Order(ctx context.Context, id cluster.VJobID, order Order, by string) error {
	return l.inbox.ask(ctx, guarded(ctx, ofVJob(id), func(c *Core) error { return c.VJobs.Order(l.now(), id, order, by) }))
}

// OrderArray carries out a request of a user for every vjob of an array, in bounded steps between
// which other requests are answered. Once begun it ignores the end of the context. A crash between
// two steps leaves the rest as it was: the caller gets no answer and must repeat the request.
func (l *Requests) OrderArray(ctx context.Context, array cluster.VJobID, order Order, by string) error {
	o := &ArrayOrder{Array: array, Order: order, By: by}
	for more := true; more; ctx = context.WithoutCancel(ctx) {
		err := l.inbox.ask(ctx, func(c *Core) (err error) {
			more, err = o.Step(c.VJobs, l.now())
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// SetWalltime changes the walltime of a vjob.
func (l *Requests) SetWalltime(ctx context.Context, s WalltimeChange) error {
	return l.inbox.ask(ctx, guarded(ctx, ofVJob(s.VJob), func(c *Core) error { return c.VJobs.SetWalltime(l.now(), s) }))
}

// SetMoves changes whether the VMs of a vjob move to improve the cluster.
func (l *Requests) SetMoves(ctx context.Context, m MoveModeChange) error {
	return l.inbox.ask(ctx, guarded(ctx, ofVJob(m.VJob), func(c *Core) error { return c.VJobs.SetMoves(l.now(), m) }))
}

// SetNodes sets the state of some nodes, of all or none.
func (l *Requests) SetNodes(ctx context.Context, nodes []cluster.NodeID, state cluster.NodeState, act journal.Audit) error {
	return l.inbox.audited(ctx, act, guarded(ctx, ofNodes(nodes...), func(c *Core) error { return c.Nodes.Set(l.now(), nodes, state, act.By) }))
}

// Maintain lets some nodes enter maintenance, all or none.
func (l *Requests) Maintain(ctx context.Context, nodes []cluster.NodeID, reason string, act journal.Audit) error {
	return l.inbox.audited(ctx, act, guarded(ctx, ofNodes(nodes...), func(c *Core) error { return c.Nodes.Maintain(l.now(), nodes, reason, act.By) }))
}

// Ready lets some nodes leave maintenance, all or none.
func (l *Requests) Ready(ctx context.Context, nodes []cluster.NodeID, act journal.Audit) error {
	return l.inbox.audited(ctx, act, guarded(ctx, ofNodes(nodes...), func(c *Core) error { return c.Nodes.Ready(l.now(), nodes, act.By) }))
}

// SetPower switches a node off or on for a user.
func (l *Requests) SetPower(ctx context.Context, node cluster.NodeID, want cycle.Want, act journal.Audit) error {
	return l.inbox.audited(ctx, act, guarded(ctx, ofNodes(node), func(c *Core) error { return c.Power.Set(l.now(), node, want, act.By) }))
}

// SetRules replaces the rules of the cluster that are stated through the API.
func (l *Requests) SetRules(ctx context.Context, text string, act journal.Audit) error {
	return l.inbox.audited(ctx, act, guarded(ctx, ofRules, func(c *Core) error { return c.Rules.Set(l.now(), text, act.By) }))
}

// CheckRules returns what is wrong with rules for the cluster.
func (l *Requests) CheckRules(ctx context.Context, text string) error {
	return l.inbox.ask(ctx, func(c *Core) error { return c.Rules.Check(text) })
}

// SetPool states a pool.
func (l *Requests) SetPool(ctx context.Context, s pool.PoolStatement, act journal.Audit) error {
	return l.inbox.audited(ctx, act, guarded(ctx, ofPool(s.Name), func(c *Core) error { return c.Pools.Set(l.now(), s, act.By) }))
}

// DeletePool removes a stated pool.
func (l *Requests) DeletePool(ctx context.Context, name string, act journal.Audit) error {
	return l.inbox.audited(ctx, act, guarded(ctx, ofPool(name), func(c *Core) error { return c.Pools.Delete(l.now(), name, act.By) }))
}

// MoveVJob moves a vjob to another pool.
func (l *Requests) MoveVJob(ctx context.Context, m PoolMove) error {
	return l.inbox.ask(ctx, guarded(ctx, ofVJob(m.VJob), func(c *Core) error { return c.Pools.Move(l.now(), m) }))
}

// SetBudgets replaces the power budgets that are stated through the API.
func (l *Requests) SetBudgets(ctx context.Context, lines []budget.Budget, act journal.Audit) error {
	return l.inbox.audited(ctx, act, guarded(ctx, ofBudgets, func(c *Core) error { return c.Power.SetBudgets(l.now(), lines, act.By) }))
}

// CheckBudgets returns what is wrong with budgets.
func (l *Requests) CheckBudgets(ctx context.Context, lines []budget.Budget) error {
	return l.inbox.ask(ctx, func(c *Core) error { return c.Power.CheckBudgets(lines) })
}

// SetPrices replaces the prices of energy that are stated through the API.
func (l *Requests) SetPrices(ctx context.Context, text string, act journal.Audit) error {
	return l.inbox.audited(ctx, act, guarded(ctx, ofPrices, func(c *Core) error { return c.Power.SetPrices(l.now(), text, act.By) }))
}

// CheckPrices returns what is wrong with prices.
func (*Requests) CheckPrices(_ context.Context, text string) error {
	_, err := readPrices(text)
	return err
}

// Approve approves a recommendation.
func (l *Requests) Approve(ctx context.Context, id journal.RecommendationID, act journal.Audit) error {
	return l.inbox.audited(ctx, act, func(c *Core) error { return c.Improver.Approve(l.now(), id, act.By) })
}

// Reject rejects a recommendation.
func (l *Requests) Reject(ctx context.Context, id journal.RecommendationID, why string, act journal.Audit) error {
	return l.inbox.audited(ctx, act, func(c *Core) error { return c.Improver.Reject(l.now(), id, act.By, why) })
}

// Acknowledge records that an administrator has taken note of an open alarm.
func (l *Requests) Acknowledge(ctx context.Context, id journal.AlarmID, comment string, act journal.Audit) error {
	return l.inbox.audited(ctx, act, func(c *Core) error { return c.Acknowledge(l.now(), id, act.By, comment) })
}

// QueueStatus returns the status of queues, quotas and shares.
func (l *Requests) QueueStatus(ctx context.Context) (s ordering.Status, err error) {
	err = l.inbox.ask(ctx, func(c *Core) error { s = c.VJobs.QueueStatus(l.now()); return nil })
	return s, err
}

// WhatIf returns what would be decided after some changes, and changes nothing.
func (l *Requests) WhatIf(ctx context.Context, s WhatIf) (WhatIfResult, error) {
	return l.desk.ask(ctx, s, l.prepare)
}

// prepare takes from the core what the answers to some what-ifs need, and decides on the cluster as it is.
func (l *Requests) prepare(ctx context.Context, batch []*inquiry) error {
	var now *Baseline
	err := l.inbox.ask(ctx, func(c *Core) (err error) {
		if now, err = c.Baseline(l.now()); err != nil {
			return err
		}
		for _, q := range batch {
			q.answer, q.err = c.WhatIf(now, q.WhatIf, l.settings.Load().Limits)
		}
		return nil
	})
	if err == nil {
		defer l.desk.spare.take()()
		now.Decide()
	}
	return err
}

// Forecast returns the expected schedule.
func (l *Requests) Forecast(ctx context.Context) (QueueForecast, error) {
	var answer func() QueueForecast
	err := l.inbox.ask(ctx, func(c *Core) (err error) {
		answer, err = c.Forecast(l.now())
		return err
	})
	if err != nil {
		return QueueForecast{}, err
	}
	return answer(), nil // beside the loop, which goes on
}

// live returns the live vjobs. It asks the loop, and so waits for the journal and a commit: an end
// in the snapshot after that cannot be lost with a failed commit. A vjob that the store accepts
// meanwhile is missing from the snapshot. It is safe all the same: nothing is made for a vjob before
// the loop knows it, and what is made from now on is younger than hypervisor.SweepAge, which no
// sweep touches.
func (l *Requests) live(ctx context.Context) (func(cluster.VJobID) bool, error) {
	if err := l.inbox.ask(ctx, func(*Core) error { return nil }); err != nil {
		return nil, fmt.Errorf("list the live vjobs: %w", err)
	}
	known := l.board.latest().VJobs
	return func(id cluster.VJobID) bool {
		status, ok := known.Get(id)
		return ok && !status.State.Terminal()
	}, nil
}

// past asks the store for ended vjobs that others depend on. After an error the core is loaded
// anew, with that knowledge.
func (l *Requests) past(ctx context.Context, after []cluster.Dependency) ([]journal.EndedVJob, error) {
	if len(after) == 0 {
		return nil, nil
	}
	past, err := l.store.Past(context.WithoutCancel(ctx), after)
	if err != nil {
		return nil, fmt.Errorf("look up dependencies: %w", err)
	}
	return past, nil
}
