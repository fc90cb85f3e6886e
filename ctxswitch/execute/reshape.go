package execute

import (
	"fmt"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/gang"
	"vjob/ctxswitch/journal"
)

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
		return fmt.Errorf("vjob %s is %s and has been started: %w", id, p.job.State, cluster.ErrConflict)
	case shape == p.job.Shape:
		return nil
	}
	job, rec := p.job.WithShape(shape), *p.rec.Clone()
	rec.Members = make([]gang.Member, len(job.VMs))
	next := newGangState(job, rec, now)
	e.gangs.live[id], e.gangs.active[id], e.dirty[id] = next, next, true
	e.changes++
	r := journal.Reshape{VJob: id, Shape: shape, Walltime: job.Walltime}
	for i := range job.VMs {
		r.Reserved = append(r.Reserved, job.VMs[i].Reserved)
	}
	e.out.Step.Reshape = append(e.out.Step.Reshape, r)
	e.event(journal.Event{Kind: journal.EventState, VJob: id, State: job.State.String(), Text: fmt.Sprintf(
		"vjob %s takes shape %d of %d: %d VMs with %s for %s", id, shape+1, len(job.Shapes), len(job.VMs), job.Reserved(), job.Walltime)})
	return nil
}
