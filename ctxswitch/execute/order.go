package execute

import (
	"fmt"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/gang"
	"vjob/ctxswitch/journal"
)

// Clear ends a vjob whatever it is doing: by its owner's wish, at its walltime,
// or for good reason.
func (e *Executor) Clear(now time.Time, id cluster.VJobID, then gang.Then, cause cluster.Cause) error {
	e.now = now
	p, ok := e.gangs.live[id]
	if !ok {
		return fmt.Errorf("vjob %s: %w", id, cluster.ErrNotFound)
	}
	if p.rec.Phase == gang.Clearing && (p.rec.Then == then || p.rec.Then.InOrder()) {
		return nil // how it ends stands already
	}
	p.drop(journal.PlanDropped, cause.String())
	if p.rec.Phase == gang.Absent {
		rec := *p.rec.Clone()
		rec.Then, rec.Cause, rec.Since = then, cause, now
		e.driver.commit(p, rec)
		return nil
	}
	rec, err := p.rec.Begin(gang.Aim{Kind: cluster.Stop, Then: then, Cause: cause}, now)
	if err != nil {
		return err
	}
	e.driver.commit(p, rec)
	e.dirty[id] = true
	return nil
}

// Hold sets or takes back a vjob's hold. What follows from it is for the policy
// to decide.
func (e *Executor) Hold(now time.Time, id cluster.VJobID, held bool, cause cluster.Cause) error {
	e.now = now
	p, ok := e.gangs.live[id]
	if !ok {
		return fmt.Errorf("vjob %s: %w", id, cluster.ErrNotFound)
	}
	e.driver.hold(p, held, cause)
	return nil
}
