package scheduler

import (
	"fmt"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/execute"
	"vjob/ctxswitch/gang"
)

// expire fails the vjobs that have not started by the end of their start window. A further attempt
// of a vjob that had started does not count. It reports whether there are any.
func expire(exec *execute.Executor, now time.Time, vjobs []execute.Report) (some bool) {
	for i := range vjobs {
		r := &vjobs[i]
		at := r.Job.NotAfter
		if at.IsZero() || now.Before(at) || r.Began || !r.Idle || r.Job.State != cluster.Waiting || r.Job.Attempts > 0 {
			continue
		}
		why := fmt.Sprintf("it will never run: it was to start by %s", at.UTC().Format(time.DateTime+" MST"))
		_ = exec.Clear(now, r.Job.ID, gang.ThenFail, cluster.Because(why)) // it is there: it was just listed
		some = true
	}
	return some
}
