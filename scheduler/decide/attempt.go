package decide

import (
	"cmp"
	"maps"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/ctxswitch/execute"
	"vjob/queue"
	"vjob/queue/reservation"
)

// attempt is one attempt at a decision. The view stays as it is; an attempt adds what it finds out:
// the vjobs that start, those that cannot be saved, those that must stop at once.
type attempt struct {
	*View
	trial          layout                    // with the vjobs that start
	excluded       map[cluster.VJobID]string // by the gates, or for the reasons of this attempt
	nonPreemptible map[cluster.VJobID]string // vjobs that cannot be saved now, and why
	unsavable      map[cluster.VJobID]bool   // do not move through images, which have no space
	throttled      map[cluster.VJobID]bool   // must stop and release their power at once
	leavesNode     map[cluster.VJobID]bool   // leave a drained node, and do not pause there
	prepared       []cluster.VJobID          // reservations for which nodes are cleared
	failover       *failoverCheck            // nil if no failover capacity is kept
	// places are the nodes of vjobs that start, where another placement takes failover capacity; may be nil.
	places map[cluster.VMID]cluster.NodeID
}

// newAttempt begins an attempt in which some more vjobs are ineligible.
func (v *View) newAttempt(ineligible map[cluster.VJobID]string) *attempt {
	a := &attempt{
		View: v, trial: v.layout.trial(), excluded: make(map[cluster.VJobID]string, len(v.ineligible)),
		nonPreemptible: map[cluster.VJobID]string{}, unsavable: map[cluster.VJobID]bool{},
		throttled: map[cluster.VJobID]bool{}, leavesNode: map[cluster.VJobID]bool{}, failover: newFailoverCheck(v),
	}
	for id, b := range v.ineligible {
		a.excluded[id] = b.Reason
	}
	maps.Copy(a.excluded, ineligible)
	return a
}

// excludes reports whether a vjob must not start, or takes no part in the decision.
func (a *attempt) excludes(id cluster.VJobID) bool {
	return a.excluded[id] != "" || a.quarantined[id] != ""
}

// applyPolicyBeside asks the policy once. With a failover check, vjobs that start leave the failover capacity beside
// the vjobs that are known to keep running.
func (a *attempt) applyPolicyBeside(f *failoverCheck, keeps map[cluster.VJobID]bool) (verdicts []queue.Verdict, fault error) {
	packings := a.trial.packings()
	var rooms []*ctxswitch.Packing
	capacity := func(at time.Time) func() queue.Capacity {
		limits := a.Limits.Now
		if !at.IsZero() {
			limits = a.facts.Budgets.At(at)
		}
		feeds := a.supply.Feeds(a.trial.intended.Nodes(), limits, a.jobs())
		return func() queue.Capacity {
			room := packings.empty(feeds)
			rooms = append(rooms, room)
			if f != nil && at.IsZero() {
				return f.room(room, keeps, a.nonPreemptible)
			}
			return room
		}
	}
	m := &queue.Input{Now: a.facts.Now, Jobs: make([]queue.Job, 0, len(a.VJobs)), Capacity: capacity(time.Time{}), Total: a.trial.total()}
	if a.supply.Known() { // other budgets hold at other instants
		m.CapacityAt = func(at time.Time) queue.Capacity { return capacity(at)() }
	}
	verdicts, whose := make([]queue.Verdict, len(a.VJobs)), make([]int, 0, len(a.VJobs))
	for i, at := range a.eachVJob {
		r := &a.VJobs[i]
		if a.quarantined[r.Job.ID] != "" {
			verdicts[i] = a.quarantinedVerdict(r)
			continue
		}
		m.Jobs, whose = append(m.Jobs, a.job(i, at, packings.Current)), append(whose, i)
	}
	a.limitByPower(m)
	a.applyQuotas(m)
	a.applyPools(m)
	for k, verdict := range reservation.Select(queue.Preemptible{Policy: a.settings.Policy}, m, a.leads()) {
		verdicts[whose[k]] = verdict
	}
	if a.limited() {
		a.enforcePower(verdicts)
	}
	for _, room := range rooms {
		fault = cmp.Or(fault, room.Err())
	}
	return verdicts, fault
}

// job adds to [View.job] what this attempt has found out.
func (a *attempt) job(i, at int, counts *cluster.Configuration) queue.Job {
	job := a.View.job(i, at, counts)
	job.Ineligible, job.NonPreemptible = a.excluded[job.ID], a.nonPreemptible[job.ID]
	return job
}

// job returns what policies know of a vjob, given its index among the applicants. Other vjobs need what their VMs count for.
func (v *View) job(i, at int, counts *cluster.Configuration) queue.Job {
	r := &v.VJobs[i]
	job := queue.Job{
		VJob: r.Job, Busy: r.Busy(), Bound: bound(r), Ran: r.Ran, Since: r.Record.Since, Ineligible: v.ineligible[r.Job.ID].Reason,
	}
	if rules := v.settings.Ordering; rules != nil {
		job.Level = rules.Level(r.Job)
	}
	if at >= 0 {
		job.Need = v.layout.applicants[at].Total
		return job
	}
	for k := range r.Job.VMs {
		job.Need = job.Need.Plus(counts.Need(r.Job.VMs[k].ID))
	}
	return job
}

// bound returns the target to which the actions under way lead.
func bound(r *execute.Report) queue.Target {
	switch r.Bound {
	case cluster.VMRunning:
		return queue.Run
	case cluster.VMSleeping:
		return queue.Suspend
	case cluster.VMPaused:
		return queue.Pause
	default:
		return queue.Wait
	}
}

// quarantinedVerdict returns the verdict on a quarantined vjob.
func (v *View) quarantinedVerdict(r *execute.Report) queue.Verdict {
	why := "it is set aside: " + v.quarantined[r.Job.ID]
	switch {
	case r.Busy():
		return queue.Verdict{Target: bound(r), Reason: "is " + r.Job.State.String() + "; " + why}
	case r.Job.State == cluster.Running:
		return queue.Verdict{Target: queue.Run, Reason: "runs; " + why}
	default:
		return queue.Verdict{Target: queue.Wait, Reason: "waits: " + why}
	}
}
