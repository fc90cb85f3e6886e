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
	"vjob/scheduler/admission"
)

// What others ask of the loop: each request runs in its goroutine.

// ask runs a request in the loop and waits for its answer. A request that was
// granted is answered only after what it changed has been committed.
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

// answer tells those whose requests were granted what became of the commit.
func (l *Loop) answer(err error) {
	if err != nil {
		err = fmt.Errorf("write it down: %w: %w", cluster.ErrUnavailable, err)
	}
	for _, a := range l.granted {
		a <- err
	}
	l.granted = l.granted[:0]
}

// audited asks for a change, and has its entry of the audit list written in the same step.
func (l *Loop) audited(ctx context.Context, act journal.Audit, change func(*Core) error) error {
	return l.ask(ctx, func(c *Core) error {
		if err := change(c); err != nil {
			return err
		}
		c.out.Audit = append(c.out.Audit, act)
		return nil
	})
}

// Disown has what a user has used count for a former user: the account was deleted, and the
// store knows that already.
func (l *Loop) Disown(ctx context.Context, user, former string) error {
	return l.ask(ctx, func(c *Core) error {
		c.order.Rename(user, former)
		return nil
	})
}

// Submit checks a submission against the cluster and the bounds, writes it down
// and wakes the loop. Once it returns, the vjob will not be lost. A repeated key
// returns the vjob of the first time and created false.
func (l *Loop) Submit(ctx context.Context, s admission.Submission) (job *cluster.VJob, created bool, err error) {
	if err := s.Validate(l.limits, l.snapshot.Load().Declared()); err != nil {
		return nil, false, err
	}
	if err := s.Route(l.settings.OrderingRules()); err != nil {
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

// Order carries out what a user asks of a vjob.
func (l *Loop) Order(ctx context.Context, id cluster.VJobID, order Order, by string) error {
	return l.ask(ctx, func(c *Core) error { return c.Order(l.now(), id, order, by) })
}

// OrderArray carries out what a user asks of every vjob of an array, in bounded steps between
// which other requests are answered. Once begun it goes on without its caller. A crash between
// two steps leaves the rest as it was: the caller has no answer, and asks again.
func (l *Loop) OrderArray(ctx context.Context, array cluster.VJobID, order Order, by string) error {
	o := &ArrayOrder{Array: array, Order: order, By: by}
	for more := true; more; ctx = context.WithoutCancel(ctx) {
		err := l.ask(ctx, func(c *Core) (err error) {
			more, err = c.OrderArray(l.now(), o)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// SetWalltime gives a vjob another walltime.
func (l *Loop) SetWalltime(ctx context.Context, s WalltimeChange) error {
	return l.ask(ctx, func(c *Core) error { return c.SetWalltime(l.now(), s) })
}

// SetNodes changes what is decreed of some nodes, of all or none.
func (l *Loop) SetNodes(ctx context.Context, nodes []cluster.NodeID, state cluster.NodeState, act journal.Audit) error {
	return l.audited(ctx, act, func(c *Core) error { return c.SetNodes(l.now(), nodes, state, act.By) })
}

// SetPower switches a node off or on, in the name of somebody.
func (l *Loop) SetPower(ctx context.Context, node cluster.NodeID, want cycle.Want, act journal.Audit) error {
	return l.audited(ctx, act, func(c *Core) error { return c.SetPower(l.now(), node, want, act.By) })
}

// SetRules replaces the rules of the cluster that are stated through the API.
func (l *Loop) SetRules(ctx context.Context, text string, act journal.Audit) error {
	return l.audited(ctx, act, func(c *Core) error { return c.SetRules(l.now(), text, act.By) })
}

// CheckRules says what is wrong with rules that are to be those of the cluster.
func (l *Loop) CheckRules(ctx context.Context, text string) error {
	return l.ask(ctx, func(c *Core) error { return c.CheckRules(text) })
}

// SetBudgets replaces the power budgets that are stated through the API.
func (l *Loop) SetBudgets(ctx context.Context, lines []budget.Line, act journal.Audit) error {
	return l.audited(ctx, act, func(c *Core) error { return c.SetBudgets(l.now(), lines, act.By) })
}

// CheckBudgets says what is wrong with budgets that are to be stated.
func (l *Loop) CheckBudgets(ctx context.Context, lines []budget.Line) error {
	return l.ask(ctx, func(c *Core) error { return c.CheckBudgets(lines) })
}

// SetPrices replaces the prices of energy that are stated through the API.
func (l *Loop) SetPrices(ctx context.Context, text string, act journal.Audit) error {
	return l.audited(ctx, act, func(c *Core) error { return c.SetPrices(l.now(), text, act.By) })
}

// CheckPrices says what is wrong with prices that are to be stated.
func (*Loop) CheckPrices(_ context.Context, text string) error {
	_, err := readPrices(text)
	return err
}

// QueueStatus is how queues, quotas and shares stand now.
func (l *Loop) QueueStatus(ctx context.Context) (s ordering.Status, err error) {
	err = l.ask(ctx, func(c *Core) error { s = c.QueueStatus(l.now()); return nil })
	return s, err
}

// WhatIf says what would be decided if things were otherwise, and changes nothing.
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

// Forecast tells the schedule as it is going to be.
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

// live tells the vjobs that have not ended. It asks the loop, and so waits until the
// journal has been loaded and a commit has been made: the snapshot that follows holds
// nobody as ended whose end could still be lost with a commit that fails, as the core
// itself might. A vjob that the store accepts meanwhile, or has accepted and not yet told
// the loop, is missing from it. It counts as live all the same: nothing is made for a vjob
// before the loop knows it, and what is made from now on is younger than
// hypervisor.SweepAge, which no sweep touches.
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
