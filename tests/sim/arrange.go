package sim

import (
	"fmt"
	"time"

	"vjob/cluster"
	"vjob/cluster/calendar"
	"vjob/ctxswitch/gang"
	"vjob/ctxswitch/journal"
	"vjob/queue"
	"vjob/queue/fairshare"
	"vjob/queue/multifactor"
	"vjob/queue/ordering"
	"vjob/queue/quota"
	"vjob/scheduler/admission"
)

// arranged reports whether a run has users, queues, shares and quotas: every fifth run.
func arranged(opts Options) bool { return opts.Seed%5 == 2 }

// arrange returns rules in which every part of a priority counts, and each user has a quota
// that is larger for some minutes. The largest vjob always fits into the quota.
func arrange(p queue.Policy) (*ordering.Settings, error) {
	list, err := ordering.NewQueues([]ordering.Queue{{Name: "batch", Priority: 1, Policy: p}, {Name: "urgent", Priority: 4, Policy: p}}, "batch")
	if err != nil {
		return nil, err
	}
	var when calendar.Window
	if err := when.UnmarshalText([]byte("00:03-00:06")); err != nil {
		return nil, err
	}
	vms, err := calendar.New(time.UTC, quota.Limits{quota.VMs: 4},
		calendar.Entry[quota.Limits]{Name: "more", When: when, Value: quota.Limits{quota.VMs: 7}})
	if err != nil {
		return nil, err
	}
	book, err := quota.New([]quota.Quota{
		{Name: "vms", User: quota.Each, Limits: vms},
		{Name: "hours", Within: time.Hour, Limits: calendar.Always(quota.Limits{quota.CPUTime: 12 * 3_600_000})},
	}, list.Names())
	return &ordering.Settings{
		Queues: list, Quotas: book, Leap: 0.02,
		Rank: multifactor.Settings{
			Weights: multifactor.Weights{User: 10, Queue: 30, Age: 1000, FairShare: 50, Size: 10}, OldAge: 24 * time.Hour, Horizon: time.Hour, Lead: 5,
		},
		Shares: fairshare.Settings{HalfLife: time.Hour, CPU: 1, Memory: 0.1, Share: 1},
	}, err
}

// assignOwner sets the owner, project and queue of a submission.
func (r *run) assignOwner(sub *admission.Submission) {
	if !arranged(r.opts) {
		return
	}
	n := len(r.check.acked)
	sub.Owner = fmt.Sprintf("u%d", n%3)
	sub.After = nil // earlier vjobs belong to other users
	if n%4 == 1 {
		sub.Queue = "urgent"
	}
	if n%2 == 0 {
		sub.Project = "p"
	}
}

// inQuota checks at the start of a vjob that its owner has no more active VMs than the quota
// ever allowed: four until the first window, and seven after it, since running vjobs continue.
// A vjob that is paused does not count, nor while it is saved or stopped from there.
func (r *run) inQuota(step journal.Step) {
	if !arranged(r.opts) {
		return
	}
	most := 7
	if r.shell.Now().Sub(r.start) < 3*time.Minute {
		most = 4
	}
	over := map[cluster.VJobID]bool{} // with this step
	was := map[cluster.VJobID]cluster.State{}
	for _, c := range step.VJobs {
		before, twice := was[c.ID] // a vjob may be paused and begin to be saved in one step
		if !twice {
			before = r.check.jobs[c.ID].State
		}
		was[c.ID] = c.State
		over[c.ID] = c.State.Terminal() || c.State.Ready()
		leaves := c.State == cluster.Suspending || c.State == cluster.Stopping
		r.stood[c.ID] = leaves && before == cluster.Paused ||
			r.stood[c.ID] && (leaves || c.State == cluster.Resuming) // or resumes in place
	}
	active := func(id cluster.VJobID) bool {
		c, known := r.check.jobs[id]
		verified := r.check.gangs[id].Then == gang.ThenVerify // its images are checked again
		return known && !over[id] && !r.stood[id] && !verified && !c.State.Ready() && !c.State.Terminal()
	}
	for _, c := range step.VJobs {
		if over[c.ID] || active(c.ID) || r.stood[c.ID] || c.State != cluster.Booting && c.State != cluster.Resuming {
			continue // it counts already, or does not start, or resumes in place
		}
		own, _ := r.store.VJob(c.ID)
		if own.Inner != 0 || !own.Reservation.IsZero() {
			continue // its container counts; a reservation was confirmed
		}
		sum := 0
		for _, row := range r.store.VJobs() {
			if row.Owner == own.Owner && (row.ID == c.ID || active(row.ID)) && row.Inner == 0 {
				sum += row.Size
			}
		}
		if sum > most {
			r.check.violate(25, "vjob %s of %s starts: %d VMs of the owner are active, the quota is %d", c.ID, own.Owner, sum, most)
		}
	}
}
