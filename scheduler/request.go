package scheduler

import (
	"context"
	"errors"
	"fmt"

	"vjob/cluster"
	"vjob/ctxswitch/journal"
	"vjob/energy/budget"
	"vjob/energy/power/cycle"
	"vjob/queue/ordering"
	"vjob/queue/pool"
	"vjob/scheduler/admission"
)

// Requests to the loop; each runs in its goroutine.

// ask runs a request in the loop and waits for its answer. A granted request is answered after its
// changes have been committed.
func (l *Loop) ask(ctx context.Context, request func(*Core) error) error {
	answer := make(chan error, 1)
	event := func(c *Core) error {
		if refusal := request(c); refusal != nil {
			answer <- refusal
		} else {
			l.granted = append(l.granted, answer)
		}
		return nil
	}
	select {
	case l.events <- event:
	case <-l.quit:
		return fmt.Errorf("the scheduler is stopping: %w", cluster.ErrUnavailable)
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case err := <-answer:
		return err
	case <-l.quit:
		return fmt.Errorf("the scheduler is stopping: %w", cluster.ErrUnavailable)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// answer answers the granted requests with the result of the commit.
func (l *Loop) answer(err error) {
	if err != nil {
		err = fmt.Errorf("commit: %w: %w", cluster.ErrUnavailable, err)
	}
	for _, a := range l.granted {
		a <- err
	}
	l.granted = l.granted[:0]
}

// audited runs a change and records its audit entry in the same step.
func (l *Loop) audited(ctx context.Context, act journal.Audit, change func(*Core) error) error {
	return l.ask(ctx, func(c *Core) error {
		if err := change(c); err != nil {
			return err
		}
		c.out.Audit = append(c.out.Audit, act)
		return nil
	})
}

// Disown renames the use of a deleted user. The store has renamed it already.
func (l *Loop) Disown(ctx context.Context, user, former string) error {
	return l.ask(ctx, func(c *Core) error {
		c.order.Rename(user, former)
		return nil
	})
}

// Submit checks a submission against the cluster and the bounds, writes it and wakes the loop. The
// vjob is durable on return. A repeated key returns the vjob of the first time and created false.
func (l *Loop) Submit(ctx context.Context, s admission.Submission) (job *cluster.VJob, created bool, err error) {
	if err := s.Validate(l.limits, l.snapshot.Load().Declared()); err != nil {
		return nil, false, err
	}
	if err := s.Route(l.settings.OrderingRules()); err != nil {
		return nil, false, err
	}
	if err := l.settings.admitPool(s.VJob(0), l.snapshot.Load().Pools.Hierarchy); err != nil {
		return nil, false, err
	}
	s.At, s.Allowed = l.now().UTC(), l.limits.Owner
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
		l.post(func(*Core) error { return errStale })
		return nil, false, err
	}
	if created {
		jobs := s.VJobs(job.ID)
		past, err := l.past(ctx, s.After)
		l.post(func(c *Core) error {
			c.Recall(past...)
			c.Submitted(l.now(), jobs...)
			return err
		})
	}
	return job, created, nil
}

// Order carries out a request of a user for a vjob.
func (l *Loop) Order(ctx context.Context, id cluster.VJobID, order Order, by string) error {
	return l.ask(ctx, func(c *Core) error { return c.Order(l.now(), id, order, by) })
}

// OrderArray carries out a request of a user for every vjob of an array, in bounded steps between
// which other requests are answered. Once begun it ignores the end of the context. A crash between
// two steps leaves the rest as it was: the caller gets no answer and must repeat the request.
func (l *Loop) OrderArray(ctx context.Context, array cluster.VJobID, order Order, by string) error {
	o := &ArrayOrder{Array: array, Order: order, By: by}
	for more := true; more; ctx = context.WithoutCancel(ctx) {
		err := l.ask(ctx, func(c *Core) (err error) {
			more, err = o.Step(c, l.now())
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// SetWalltime changes the walltime of a vjob.
func (l *Loop) SetWalltime(ctx context.Context, s WalltimeChange) error {
	return l.ask(ctx, func(c *Core) error { return c.SetWalltime(l.now(), s) })
}

// SetNodes sets the state of some nodes, of all or none.
func (l *Loop) SetNodes(ctx context.Context, nodes []cluster.NodeID, state cluster.NodeState, act journal.Audit) error {
	return l.audited(ctx, act, func(c *Core) error { return c.SetNodes(l.now(), nodes, state, act.By) })
}

// Maintain lets some nodes enter maintenance, all or none.
func (l *Loop) Maintain(ctx context.Context, nodes []cluster.NodeID, reason string, act journal.Audit) error {
	return l.audited(ctx, act, func(c *Core) error { return c.Maintain(l.now(), nodes, reason, act.By) })
}

// Ready lets some nodes leave maintenance, all or none.
func (l *Loop) Ready(ctx context.Context, nodes []cluster.NodeID, act journal.Audit) error {
	return l.audited(ctx, act, func(c *Core) error { return c.Ready(l.now(), nodes, act.By) })
}

// SetPower switches a node off or on for a user.
func (l *Loop) SetPower(ctx context.Context, node cluster.NodeID, want cycle.Want, act journal.Audit) error {
	return l.audited(ctx, act, func(c *Core) error { return c.SetPower(l.now(), node, want, act.By) })
}

// SetRules replaces the rules of the cluster that are stated through the API.
func (l *Loop) SetRules(ctx context.Context, text string, act journal.Audit) error {
	return l.audited(ctx, act, func(c *Core) error { return c.SetRules(l.now(), text, act.By) })
}

// CheckRules returns what is wrong with rules for the cluster.
func (l *Loop) CheckRules(ctx context.Context, text string) error {
	return l.ask(ctx, func(c *Core) error { return c.CheckRules(text) })
}

// SetPool states a pool.
func (l *Loop) SetPool(ctx context.Context, s pool.PoolStatement, act journal.Audit) error {
	return l.audited(ctx, act, func(c *Core) error { return c.SetPool(l.now(), s, act.By) })
}

// DeletePool removes a stated pool.
func (l *Loop) DeletePool(ctx context.Context, name string, act journal.Audit) error {
	return l.audited(ctx, act, func(c *Core) error { return c.DeletePool(l.now(), name, act.By) })
}

// MoveVJob moves a vjob to another pool.
func (l *Loop) MoveVJob(ctx context.Context, m PoolMove) error {
	return l.ask(ctx, func(c *Core) error { return c.MoveVJob(l.now(), m) })
}

// SetBudgets replaces the power budgets that are stated through the API.
func (l *Loop) SetBudgets(ctx context.Context, lines []budget.Budget, act journal.Audit) error {
	return l.audited(ctx, act, func(c *Core) error { return c.SetBudgets(l.now(), lines, act.By) })
}

// CheckBudgets returns what is wrong with budgets.
func (l *Loop) CheckBudgets(ctx context.Context, lines []budget.Budget) error {
	return l.ask(ctx, func(c *Core) error { return c.CheckBudgets(lines) })
}

// SetPrices replaces the prices of energy that are stated through the API.
func (l *Loop) SetPrices(ctx context.Context, text string, act journal.Audit) error {
	return l.audited(ctx, act, func(c *Core) error { return c.SetPrices(l.now(), text, act.By) })
}

// CheckPrices returns what is wrong with prices.
func (*Loop) CheckPrices(_ context.Context, text string) error {
	_, err := readPrices(text)
	return err
}

// Approve approves a recommendation.
func (l *Loop) Approve(ctx context.Context, id journal.RecommendationID, act journal.Audit) error {
	return l.audited(ctx, act, func(c *Core) error { return c.Approve(l.now(), id, act.By) })
}

// Reject rejects a recommendation.
func (l *Loop) Reject(ctx context.Context, id journal.RecommendationID, why string, act journal.Audit) error {
	return l.audited(ctx, act, func(c *Core) error { return c.Reject(l.now(), id, act.By, why) })
}

// QueueStatus returns the status of queues, quotas and shares.
func (l *Loop) QueueStatus(ctx context.Context) (s ordering.Status, err error) {
	err = l.ask(ctx, func(c *Core) error { s = c.QueueStatus(l.now()); return nil })
	return s, err
}

// WhatIf returns what would be decided after some changes, and changes nothing.
func (l *Loop) WhatIf(ctx context.Context, s WhatIf) (WhatIfResult, error) {
	var answer func() WhatIfResult
	err := l.ask(ctx, func(c *Core) (err error) {
		answer, err = c.WhatIf(l.now(), s, l.limits)
		return err
	})
	if err != nil {
		return WhatIfResult{}, err
	}
	return answer(), nil // beside the loop, which goes on
}

// Forecast returns the expected schedule.
func (l *Loop) Forecast(ctx context.Context) (QueueForecast, error) {
	var answer func() QueueForecast
	err := l.ask(ctx, func(c *Core) (err error) {
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
func (l *Loop) live(ctx context.Context) (func(cluster.VJobID) bool, error) {
	if err := l.ask(ctx, func(*Core) error { return nil }); err != nil {
		return nil, fmt.Errorf("list the live vjobs: %w", err)
	}
	known := l.snapshot.Load().VJobs
	return func(id cluster.VJobID) bool {
		status, ok := known[id]
		return ok && !status.State.Terminal()
	}, nil
}
