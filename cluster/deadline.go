package cluster

import (
	"fmt"
	"time"
)

// Late says, of a vjob that starts at an instant or later, or goes on having run for so long,
// that it misses its deadline, or does if it uses its walltime up; "" says neither. A walltime
// is the most that a vjob may take, so the latter is no reason to refuse it.
func (j *VJob) Late(from time.Time, ran time.Duration) string {
	if j.Deadline.IsZero() || j.State.Terminal() {
		return ""
	}
	if !from.Before(j.Deadline) {
		return fmt.Sprintf("it misses its deadline at %s: it cannot have ended before %s", Clock(j.Deadline, from), Clock(from, from))
	}
	longest := j.Walltime
	for i := range j.Shapes {
		if w := j.Shapes[i].Walltime; i == 0 || w < longest {
			longest = w
		}
	}
	end := from.Add(max(0, longest-ran))
	if longest == 0 || !end.After(j.Deadline) {
		return ""
	}
	return fmt.Sprintf("it may miss its deadline at %s: if it uses its walltime up it ends at %s, %s later",
		Clock(j.Deadline, from), Clock(end, from), end.Sub(j.Deadline).Round(time.Second))
}
