package dependency

import (
	"maps"
	"slices"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/execute"
	"vjob/ctxswitch/gang"
)

// VJobs gives access to live vjobs. The executor implements it.
type VJobs interface {
	Job(id cluster.VJobID) (execute.Report, bool)
	// Members are those of an array.
	Members(array cluster.VJobID) []execute.Report
	// Clear ends one, Hold holds it.
	Clear(now time.Time, id cluster.VJobID, then gang.Then, cause *cluster.Cause) error
	Hold(now time.Time, id cluster.VJobID, held bool, cause *cluster.Cause) error
}

// Settle updates all waiting vjobs. It returns those that are freed, and treats vjobs with a
// dependency that can never be met as their owners want.
func (k *Tracker) Settle(now time.Time, vjobs VJobs) (freed []cluster.VJobID) {
	k.forget(vjobs)
	if len(k.waits) == 0 {
		return nil
	}
	for settled := false; !settled; {
		settled = true
		asked := map[cluster.Dependency]status{}
		// In order: a vjob is mostly submitted after its dependencies.
		for _, id := range slices.Sorted(maps.Keys(k.waits)) {
			r, live := vjobs.Job(id)
			if !live {
				delete(k.waits, id)
				continue
			}
			why, never := k.of(r.Job, vjobs, asked)
			k.waits[id] = why
			if never {
				unmet(now, r.Job, vjobs, why)
				settled = false
			}
			if never || why == "" {
				delete(k.waits, id)
			}
			if why == "" || never && r.Job.Unmet != cluster.UnmetFails {
				freed = append(freed, id)
			}
		}
	}
	return freed
}

// unmet treats a vjob with a dependency that can never be met as its owner wants. The vjob was just
// listed.
func unmet(now time.Time, job *cluster.VJob, vjobs VJobs, why string) {
	switch job.Unmet {
	case cluster.UnmetFails:
		_ = vjobs.Clear(now, job.ID, gang.ThenFail, &cluster.Cause{Kind: cluster.CauseDependency, Text: why})
	case cluster.UnmetHolds:
		_ = vjobs.Hold(now, job.ID, true, &cluster.Cause{Kind: cluster.CauseDependency, Text: why})
	case cluster.UnmetRuns:
	}
}
