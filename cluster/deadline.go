package cluster

import (
	"fmt"
	"time"
)

// DeadlineWarning returns that a vjob misses its deadline if it runs from an instant on, or may miss it if
// it uses up its walltime; "" if neither. ran is how long it has run before. A walltime is only an
// upper bound, so that the second case is no reason to reject the vjob.
func (j *VJob) DeadlineWarning(from time.Time, ran time.Duration) string {
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
