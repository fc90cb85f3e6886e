package scheduler

import (
	"context"
	"errors"
	"fmt"

	"vjob/cluster"
	"vjob/energy/budget"
	"vjob/scheduler/intake"
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

// Submit checks a submission against the cluster and the bounds, writes it down
// and wakes the loop. Once it returns, the vjob will not be lost. A repeated key
// returns the vjob of the first time and created false.
func (l *Loop) Submit(ctx context.Context, s intake.Submission) (job *cluster.VJob, created bool, err error) {
	if err := s.Validate(l.limits, l.snapshot.Load().Declared()); err != nil {
		return nil, false, err
	}
	if err := s.Route(l.settings.Arranged()); err != nil {
		return nil, false, err
	}
	s.At = l.now().UTC()
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

// SetNode changes what is decreed of a node.
func (l *Loop) SetNode(ctx context.Context, node cluster.NodeID, state cluster.NodeState, by string) error {
	return l.ask(ctx, func(c *Core) error { return c.SetNode(l.now(), node, state, by) })
}

// SetRules replaces the rules of the cluster that are stated through the API.
func (l *Loop) SetRules(ctx context.Context, text, by string) error {
	return l.ask(ctx, func(c *Core) error { return c.SetRules(l.now(), text, by) })
}

// CheckRules says what is wrong with rules that are to be those of the cluster.
func (l *Loop) CheckRules(ctx context.Context, text string) error {
	return l.ask(ctx, func(c *Core) error { return c.CheckRules(text) })
}

// SetBudgets replaces the power budgets that are stated through the API.
func (l *Loop) SetBudgets(ctx context.Context, lines []budget.Line, by string) error {
	return l.ask(ctx, func(c *Core) error { return c.SetBudgets(l.now(), lines, by) })
}

// CheckBudgets says what is wrong with budgets that are to be stated.
func (l *Loop) CheckBudgets(ctx context.Context, lines []budget.Line) error {
	return l.ask(ctx, func(c *Core) error { return c.CheckBudgets(lines) })
}

// Suppose says what would be decided if things were otherwise, and changes nothing.
func (l *Loop) Suppose(ctx context.Context, s Supposition) (Forecast, error) {
	var answer func() Forecast
	err := l.ask(ctx, func(c *Core) (err error) {
		answer, err = c.Suppose(l.now(), s, l.limits)
		return err
	})
	if err != nil {
		return Forecast{}, err
	}
	return answer(), nil // beside the loop, which goes on
}

// Foresee tells the schedule as it is going to be.
func (l *Loop) Foresee(ctx context.Context) (Foreseen, error) {
	var answer func() Foreseen
	err := l.ask(ctx, func(c *Core) (err error) {
		answer, err = c.Foresee(l.now())
		return err
	})
	if err != nil {
		return Foreseen{}, err
	}
	return answer(), nil // beside the loop, which goes on
}
