package simclock

import (
	"context"
	"fmt"

	"vjob/cluster"
	"vjob/ctxswitch/journal"
	"vjob/energy/power/cycle"
	"vjob/queue/pool"
	"vjob/scheduler"
	"vjob/scheduler/admission"
)

// Submit submits a vjob now. Without an error the submission is acknowledged, even while the
// scheduler is down: it needs only the store.
func (s *Shell) Submit(sub admission.Submission) (*cluster.VJob, error) {
	sub.At = s.now
	if rules := s.cfg.Settings.Ordering; rules != nil {
		if _, err := sub.Route(rules); err != nil {
			return nil, err
		}
	}
	if sub.Claims() {
		if s.core == nil {
			return nil, fmt.Errorf("the scheduler is down: %w", cluster.ErrUnavailable)
		}
		s.told = s.now
		if err := s.core.Admit(s.now, &sub); err != nil {
			return nil, err
		}
	}
	job, created, err := s.cfg.Store.Submit(context.Background(), sub)
	if err != nil {
		if s.core != nil {
			s.reload()
		}
		return nil, err
	}
	if created && s.core != nil {
		if past, err := s.cfg.Store.Past(context.Background(), sub.After); err == nil {
			s.told = s.now
			s.core.VJobs.Recall(past...)
			s.core.VJobs.Submitted(s.now, sub.VJobs(job.ID)...)
		} else {
			s.reload()
		}
		return job, s.carryOut()
	}
	return job, nil
}

// Confirm returns the error with which a submission, with its reservation, would be refused
// now. It submits nothing.
func (s *Shell) Confirm(sub admission.Submission) error {
	if s.core == nil {
		return fmt.Errorf("the scheduler is down: %w", cluster.ErrUnavailable)
	}
	if s.cfg.Settings.Ordering == nil {
		sub.Queue = "" // the name of the queue does not matter
	}
	s.told = s.now
	base, err := s.core.Baseline(s.now)
	if err == nil {
		_, err = s.core.WhatIf(base, scheduler.WhatIf{Submit: &sub}, admission.Limits{})
	}
	return err
}

// Order gives an order to a vjob now.
func (s *Shell) Order(id cluster.VJobID, order scheduler.Order, by string) error {
	return s.ask(func(c *scheduler.Core) error { return c.VJobs.Order(s.now, id, order, by) })
}

// Restore restores a lost vjob from its kept images now.
func (s *Shell) Restore(id cluster.VJobID, generation int, by string) error {
	return s.ask(func(c *scheduler.Core) error { return c.VJobs.Restore(s.now, id, generation, by) })
}

// SetPool states a pool now.
func (s *Shell) SetPool(p pool.PoolStatement, by string) error {
	return s.ask(func(c *scheduler.Core) error { return c.Pools.Set(s.now, p, by) })
}

// DeletePool deletes a stated pool now.
func (s *Shell) DeletePool(name, by string) error {
	return s.ask(func(c *scheduler.Core) error { return c.Pools.Delete(s.now, name, by) })
}

// MoveVJob moves a vjob to another pool now.
func (s *Shell) MoveVJob(m scheduler.PoolMove) error {
	return s.ask(func(c *scheduler.Core) error { return c.Pools.Move(s.now, m) })
}

// SetMoves changes whether the VMs of a vjob move to improve the cluster, now.
func (s *Shell) SetMoves(m scheduler.MoveModeChange) error {
	return s.ask(func(c *scheduler.Core) error { return c.VJobs.SetMoves(s.now, m) })
}

// SetNode changes the state of a node now.
func (s *Shell) SetNode(node cluster.NodeID, state cluster.NodeState, by string) error {
	return s.ask(func(c *scheduler.Core) error { return c.Nodes.Set(s.now, []cluster.NodeID{node}, state, by) })
}

// SetPower switches a node off or on for a user now.
func (s *Shell) SetPower(node cluster.NodeID, want cycle.Want, by string) error {
	return s.ask(func(c *scheduler.Core) error { return c.Power.Set(s.now, node, want, by) })
}

// Approve approves a recommendation now.
func (s *Shell) Approve(id journal.RecommendationID, by string) error {
	return s.ask(func(c *scheduler.Core) error { return c.Improver.Approve(s.now, id, by) })
}

// Reject rejects a recommendation now.
func (s *Shell) Reject(id journal.RecommendationID, by, why string) error {
	return s.ask(func(c *scheduler.Core) error { return c.Improver.Reject(s.now, id, by, why) })
}

// ask carries out a request, unless the scheduler is down.
func (s *Shell) ask(request func(*scheduler.Core) error) error {
	if s.core == nil {
		return fmt.Errorf("the scheduler is down: %w", cluster.ErrUnavailable)
	}
	s.told = s.now
	refusal := request(s.core)
	if err := s.carryOut(); err != nil {
		return err
	}
	return refusal
}
