package decide

import (
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/execute"
	"vjob/queue"
	"vjob/queue/ordering"
	"vjob/queue/quota"
)

// applyQuotas applies the quotas: a vjob that exceeds one beside the running vjobs is ineligible,
// and one that exceeds it beside the starting vjobs gets no capacity. Reservations were checked
// when they were confirmed.
func (v *View) applyQuotas(m *queue.Input) {
	rules := v.settings.OrderingRules()
	if rules.Quotas.Empty() {
		return
	}
	tally, index := Count(rules, v.VJobs, v.facts.Past, v.facts.Now)
	v.countDueReservations(tally, index)
	for i := range m.Jobs {
		if j := &m.Jobs[i]; j.Ineligible == "" && j.Reservation.IsZero() {
			j.Ineligible = tally.Refuses(index[j.ID])
		}
	}
	room := m.Capacity
	if m.CapacityAt == nil {
		m.CapacityAt = func(time.Time) queue.Capacity { return room() }
	}
	m.Capacity = func() queue.Capacity { return tally.Capacity(room(), index) }
}

// Count counts the vjobs against the quotas that run, or are under way to or from running. A
// paused vjob that is being saved does not run. A container counts, and the vjobs inside do not.
func Count(rules *ordering.Settings, reports []execute.Report, past quota.History, now time.Time) (*quota.Tally, map[cluster.VJobID]*quota.Job) {
	tally := rules.Quotas.Tally(now, past)
	jobs, index := make([]quota.Job, len(reports)), make(map[cluster.VJobID]*quota.Job, len(reports))
	for i := range reports {
		r := &reports[i]
		jobs[i] = quotaJob(rules, r)
		index[r.Job.ID] = &jobs[i]
		if r.Job.Inner != 0 {
			continue
		}
		if !r.Job.State.Ready() && !r.Record.Paused() || r.Bound == cluster.VMRunning {
			tally.Count(&jobs[i])
		}
	}
	return tally, index
}

// quotaJob returns what quotas know of a vjob.
func quotaJob(rules *ordering.Settings, r *execute.Report) quota.Job {
	return quota.Job{
		ID: r.Job.ID, Association: rules.Association(r.Job), VMs: len(r.Job.VMs), Need: r.Job.Reserved(),
		Left: max(0, r.Job.Walltime-r.Booked), Ends: r.Job.Walltime > 0,
	}
}

// countDueReservations counts the reservations that have begun whatever the quotas say: quotas
// are checked when a reservation is confirmed.
func (v *View) countDueReservations(tally *quota.Tally, index map[cluster.VJobID]*quota.Job) {
	for i := range v.VJobs {
		if job := v.VJobs[i].Job; v.facts.reservationDue(job) {
			tally.Count(index[job.ID])
		}
	}
}
