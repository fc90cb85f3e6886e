package scheduler

import (
	"maps"
	"slices"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/execute"
	"vjob/ctxswitch/journal"
	"vjob/queue/ordering"
	"vjob/scheduler/decide"
	"vjob/scheduler/dependency"
)

// VJobs are the live vjobs with what the executor does not know of them: their places in the queue, and which wait
// for others.
type VJobs struct {
	settings *Settings
	exec     *execute.Executor

	order        *ordering.Order     // queue order
	dependencies *dependency.Tracker // unmet dependencies
	turnover     []turnover          // since the last step, in order
}

// turnover is a vjob that has come, or that has left before it began.
type turnover struct {
	job  *cluster.VJob
	left bool
	at   uint64 // the changes of the executor, with this one
}

// newVJobs restores the queue order, with the charges of the journal, and the dependencies.
func newVJobs(settings *Settings, loaded *journal.Loaded, exec *execute.Executor) *VJobs {
	v := &VJobs{settings: settings, exec: exec, order: ordering.NewOrder(*settings.Ordering), dependencies: dependency.New(loaded)}
	for _, c := range loaded.Charges {
		v.order.Restore(ordering.Usage(c))
	}
	v.order.SetTotal(exec.Capacity())
	v.order.Grow(len(loaded.VJobs))
	for _, job := range loaded.VJobs {
		v.order.Put(job, false)
	}
	exec.Ended = v.dependencies.Note
	return v
}

// Submitted adds vjobs that the store has accepted.
func (v *VJobs) Submitted(now time.Time, jobs ...*cluster.VJob) {
	for _, job := range jobs {
		if v.dependencies.Ended(job.ID) || !v.exec.Add(now, job) {
			continue // it was loaded meanwhile
		}
		if len(job.After) > 0 && job.Replaces == 0 {
			v.dependencies.Wait(job.ID)
		}
		v.order.Put(job, false)
		v.turnover = append(v.turnover, turnover{job: job, at: v.exec.Changes()})
	}
}

// Recall adds what the store knows of vjobs that ended before others were submitted that depend on
// them.
func (v *VJobs) Recall(past ...journal.EndedVJob) { v.dependencies.Recall(past...) }

// Again adds the next attempts that the store has written for failed vjobs.
func (v *VJobs) Again(now time.Time, jobs ...*cluster.VJob) {
	for _, job := range jobs {
		v.dependencies.Again(job)
	}
	v.Submitted(now, jobs...)
}

// Failed returns the vjobs that need another attempt since the last call.
func (v *VJobs) Failed() []cluster.VJobID { return v.dependencies.Failed() }

// Rename renames the use of a deleted user.
func (v *VJobs) Rename(user, former string) { v.order.Rename(user, former) }

// Restore reverts a vjob to images kept since it was lost; generation 0 is the newest. The vjob is held.
func (v *VJobs) Restore(now time.Time, id cluster.VJobID, generation int, by string) error {
	return v.exec.Images.Restore(now, id, generation, by)
}

// charge charges the use that the executor records in a step to the accounts of the vjobs, in the same step.
func (v *VJobs) charge(now time.Time, step *journal.Step) {
	charges := map[journal.Charge]ordering.Usage{} // by account and hour
	for _, use := range step.Usage {
		if u, ok := v.order.Charge(use.VJob, now, use.Running, use.MemorySec); ok {
			key := journal.Charge{User: u.User, Project: u.Project, Queue: u.Queue, Hour: u.Hour}
			u.CPUTime += charges[key].CPUTime
			u.MemoryTime += charges[key].MemoryTime
			charges[key] = u
		}
	}
	for _, key := range slices.SortedFunc(maps.Keys(charges), journal.Charge.Compare) {
		step.Charges = append(step.Charges, journal.Charge(charges[key]))
	}
}

// inOrder updates the order with the state of the vjobs and returns their reports in that order.
func (v *VJobs) inOrder(now time.Time) []execute.Report {
	v.order.SetTotal(v.exec.Capacity())
	for job, bound := range v.exec.Bounds() {
		v.order.Put(job, bound == cluster.VMRunning)
	}
	if v.order.Len() > v.exec.Len() { // some have ended
		v.order.VJobs(func(id cluster.VJobID) {
			if !v.exec.Has(id) {
				v.order.Drop(id)
			}
		})
	}
	return v.exec.JobsIn(v.order.Sorted(now))
}

// QueueStatus returns the status of queues, quotas and shares.
func (v *VJobs) QueueStatus(now time.Time) ordering.Status {
	tally, _ := decide.Count(v.settings.Ordering, v.exec.Jobs(), v.order.Ledger(), now)
	return v.order.Status(now, tally)
}
