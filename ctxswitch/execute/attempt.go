package execute

import (
	"fmt"

	"vjob/cluster"
	"vjob/ctxswitch/gang"
	"vjob/ctxswitch/journal"
)

// end tells of a vjob that ends, and asks for another attempt where its owner wants one.
func (e *Executor) end(p *gangState) {
	past := journal.EndedVJob{
		ID: p.job.ID, Array: p.job.Array, Outcome: p.job.Outcome, Started: p.hasStarted(), Again: e.again(p),
	}
	if past.Again {
		e.out.Step.Again = append(e.out.Step.Again, journal.Attempt{
			Of: p.job.ID, At: e.now,
			Text: fmt.Sprintf("attempt %d of %d: vjob %s failed: %s", p.job.Attempts+2, e.settings.Attempts, p.job.ID, p.rec.Cause),
		})
	}
	if e.Ended != nil {
		e.Ended(past)
	}
}

// again reports whether a vjob that ends is to be submitted again. One that fails
// without ever having been lost has failed by a decision, which would be the same again.
func (e *Executor) again(p *gangState) bool {
	return p.job.Idempotent && p.job.State == cluster.Failed && p.rec.Losses > 0 && p.job.Attempts+1 < e.settings.Attempts
}

// hasStarted reports whether the vjob has run, in this start of the scheduler or before.
func (p *gangState) hasStarted() bool {
	return !p.started.IsZero() || p.ran > 0 || p.rec.Phase == gang.Active
}
