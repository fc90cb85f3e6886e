package scheduler

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/tidwall/btree"

	"vjob/cluster"
	"vjob/ctxswitch/duration"
	"vjob/ctxswitch/execute"
	"vjob/ctxswitch/journal"
	"vjob/queue"
	"vjob/scheduler/decide"
	"vjob/scheduler/entitlement"
	"vjob/scheduler/failover"
)

// lastDecision is what the last decision said, for status requests.
type lastDecision struct {
	verdicts  btree.Map[cluster.VJobID, *queue.Verdict] // none of them changes
	queueing  *places                                   // of the vjobs that wait only for resources or power
	breaches  []string                                  // of rules, as it saw them
	undrained map[cluster.NodeID]string                 // drained nodes with VMs, and why
	division  *entitlement.Division                     // nil if the cluster is not divided
	failover  failover.Report                           // after the last decision; its Nodes are 0 if none may be lost
	latest    *latecomers                               // judges vjobs that come after it; nil if it failed
	open      bool                                      // it left something to be done: a vjob that waits, a node that is not drained
	late      map[cluster.VJobID]bool                   // reservations that were reported as unable to begin in time
	dropped   map[string]string                         // preferred rules that the plan broke, and why
	durations *duration.Estimates                       // as it saw them; those of the settings before the first one
}

// note records a decision, and appends what users have to know to the events.
func (l *lastDecision) note(now time.Time, v *decide.View, d *decide.Decision, events []journal.Event) []journal.Event {
	l.breaches = slices.Concat(v.Invalid.Cluster, d.Breaches)
	queueing := make([]cluster.VJobID, 0, len(l.queueing.inOrder))
	undrained := d.Undrained()
	l.open = len(undrained)+len(d.Plan.Leaves)+len(d.Plan.Dropped) > 0
	for i := range d.VJobs {
		job, verdict := d.VJobs[i].Job, d.Verdicts[i]
		if at, delayed := v.DelayedUntil(job.ID); delayed && verdict.Start.IsZero() {
			verdict.Start = at // an estimate: competition at that time is unknown
		}
		l.noteVerdict(job.ID, &verdict)
		l.open = l.open || job.State.Ready() && !job.Held && verdict.Target != queue.Run
		if v.WaitsForResources(job, &verdict) {
			queueing = append(queueing, job.ID)
		}
	}
	l.forgetOthers(d.VJobs)
	if !slices.Equal(queueing, l.queueing.inOrder) {
		l.queueing = newPlaces(queueing)
	}
	events = l.reportFailover(now, &d.Failover, events)
	return l.reportDropped(now, d, l.reportUndrained(now, undrained, l.reportLate(now, d, events)))
}

// putOff records the verdict on a vjob that has come since the decision and waits.
func (l *lastDecision) putOff(job *cluster.VJob, why string) {
	l.noteVerdict(job.ID, &queue.Verdict{Target: queue.Wait, Reason: why})
	if !job.Held {
		l.queueing, l.open = l.queueing.with(job.ID), true
	}
}

// leave forgets a vjob that has left since the decision without a room for others.
func (l *lastDecision) leave(id cluster.VJobID) {
	l.verdicts.Delete(id)
	l.queueing = l.queueing.without(id)
}

// noteVerdict keeps a verdict. One that is as before costs nothing.
func (l *lastDecision) noteVerdict(id cluster.VJobID, v *queue.Verdict) {
	if last, known := l.verdicts.Get(id); known && *last == *v {
		return
	}
	kept := *v
	l.verdicts.Set(id, &kept)
}

// forgetOthers forgets the verdicts on vjobs that the last decision does not have.
func (l *lastDecision) forgetOthers(vjobs []execute.Report) {
	if l.verdicts.Len() == len(vjobs) {
		return
	}
	there := make(map[cluster.VJobID]bool, len(vjobs))
	for i := range vjobs {
		there[vjobs[i].Job.ID] = true
	}
	for _, id := range l.verdicts.Keys() {
		if !there[id] {
			l.verdicts.Delete(id)
		}
	}
}

// verdictsByVJob returns the verdicts of the last decision.
func (l *lastDecision) verdictsByVJob() map[cluster.VJobID]queue.Verdict {
	list := make(map[cluster.VJobID]queue.Verdict, l.verdicts.Len())
	l.verdicts.Scan(func(id cluster.VJobID, v *queue.Verdict) bool {
		list[id] = *v
		return true
	})
	return list
}

// reportFailover raises an alarm once when too little is left for the loss of nodes, and records when enough is again.
func (l *lastDecision) reportFailover(now time.Time, r *failover.Report, events []journal.Event) []journal.Event {
	held := l.failover.Nodes == 0 || l.failover.Holds
	l.failover = *r
	switch {
	case r.Nodes == 0 || r.Holds == held:
	case r.Holds:
		events = append(events, journal.Event{At: now, Kind: journal.EventNode, Text: "enough is free again for " + failover.Of(r.Nodes)})
	default:
		events = append(events, journal.Event{
			At: now, Kind: journal.EventAlarm,
			Text: fmt.Sprintf("%s cannot be made up for (policy.failover): %s; no further vjob starts", failover.Of(r.Nodes), r.Why()),
		})
	}
	return events
}

// reportDropped records an event once for each preferred rule that a plan breaks.
func (l *lastDecision) reportDropped(now time.Time, d *decide.Decision, events []journal.Event) []journal.Event {
	dropped := map[string]string{}
	for _, r := range d.Plan.Dropped {
		dropped[r.Rule] = r.String()
		if l.dropped[r.Rule] == "" {
			events = append(events, journal.Event{At: now, Kind: journal.EventPlan, Text: r.String()})
		}
	}
	l.dropped = dropped
	return events
}

// reportLate raises an alarm once for each reservation that has begun and cannot start.
func (l *lastDecision) reportLate(now time.Time, d *decide.Decision, events []journal.Event) []journal.Event {
	late := map[cluster.VJobID]bool{}
	for i := range d.VJobs {
		job, verdict := d.VJobs[i].Job, &d.Verdicts[i]
		if job.Reservation.IsZero() || !job.State.Ready() || job.Held || job.Reservation.After(now) || verdict.Target == queue.Run {
			continue
		}
		late[job.ID] = true
		if !l.late[job.ID] {
			events = append(events, journal.Event{
				At: now, Kind: journal.EventAlarm, VJob: job.ID,
				Text: fmt.Sprintf("vjob %s cannot start at the time of its reservation: it %s", job.ID, verdict.Reason),
			})
		}
	}
	l.late = late
	return events
}

// reportUndrained records an event once for each drained node that keeps VMs.
func (l *lastDecision) reportUndrained(now time.Time, why map[cluster.NodeID]string, events []journal.Event) []journal.Event {
	for _, id := range slices.Sorted(maps.Keys(why)) {
		if _, told := l.undrained[id]; !told {
			events = append(events, journal.Event{At: now, Kind: journal.EventNode, Node: id, Text: fmt.Sprintf("node %s is %s", id, why[id])})
		}
	}
	l.undrained = why
	return events
}

// sameWeight is the CPU weight of VMs that nothing distinguishes: the default of cgroup v2.
const sameWeight = 100

// noteDivision keeps what VMs are entitled to, for status requests. When the cluster is no longer divided, all VMs
// weigh the same again: vjobs without weights in a decision keep those that they have.
func (l *lastDecision) noteDivision(d *decide.Decision) {
	ends := l.division != nil && d.Division == nil
	l.division = d.Division
	if !ends {
		return
	}
	d.Weights = make(map[cluster.VJobID][]int, len(d.VJobs))
	for i := range d.VJobs {
		job := d.VJobs[i].Job
		d.Weights[job.ID] = slices.Repeat([]int{sameWeight}, len(job.VMs))
	}
}

// entitled returns what the VMs of a vjob are entitled to, by rank; nil if none of them runs or the cluster is not
// divided.
func entitled(division *entitlement.Division, job *cluster.VJob) (list []entitlement.Entitled) {
	if division == nil {
		return nil
	}
	for rank := range job.VMs {
		e, known := division.VMs[job.VMs[rank].ID]
		if known && list == nil {
			list = make([]entitlement.Entitled, len(job.VMs))
		}
		if known {
			list[rank] = e
		}
	}
	return list
}
