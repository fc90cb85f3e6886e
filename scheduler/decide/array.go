package decide

import (
	"fmt"

	"vjob/cluster"
	"vjob/ctxswitch/execute"
)

// limitArrays makes the waiting vjobs of an array ineligible beyond its limit of concurrent
// vjobs. A vjob that has begun counts until it ends.
func (p *View) limitArrays() {
	left := map[cluster.VJobID]int{}
	for i := range p.VJobs {
		r := &p.VJobs[i]
		if r.Job.MaxConcurrent == 0 || r.Job.Array == 0 {
			continue
		}
		if _, known := left[r.Job.Array]; !known {
			left[r.Job.Array] = r.Job.MaxConcurrent
		}
		if !waitsToBegin(r) {
			left[r.Job.Array]--
		}
	}
	if len(left) == 0 {
		return
	}
	for i := range p.VJobs {
		r := &p.VJobs[i]
		n, limited := left[r.Job.Array]
		if !limited || !waitsToBegin(r) || r.Job.Held || p.ineligible[r.Job.ID] != "" || p.quarantined[r.Job.ID] != "" {
			continue
		}
		if n <= 0 {
			p.ineligible[r.Job.ID] = fmt.Sprintf("array %s runs %d of its vjobs at once", r.Job.Array, r.Job.MaxConcurrent)
			continue
		}
		left[r.Job.Array]--
	}
}

// waitsToBegin reports whether a vjob waits and nothing has begun for it.
func waitsToBegin(r *execute.Report) bool { return r.Job.State == cluster.Waiting && r.Idle }
