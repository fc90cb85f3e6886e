package decide

import (
	"slices"
	"time"

	"vjob/cluster"
	"vjob/energy"
	"vjob/energy/budget"
	"vjob/queue"
)

// LimitChange is a future change of the budgets, with the running vjobs that it stops.
type LimitChange struct {
	At     time.Time
	From   time.Time // when the vjobs that it stops are suspended
	Limits []budget.Limit
	Stops  []cluster.VJobID
}

// Only the first changes of budgets within a day count.
const (
	foresight   = 24 * time.Hour
	mostChanges = 6
)

// powerLimits returns the limits that the decision keeps, and their changes.
func (v *View) powerLimits() PowerLimits {
	now, budgets := v.facts.Now, v.facts.Budgets
	l := PowerLimits{Now: budgets.At(now), Kept: map[cluster.NodeID]energy.Watts{}}
	for t := now; len(l.Changes) < mostChanges; {
		next, ok := budgets.Next(t)
		if !ok || next.Sub(now) > foresight {
			break
		}
		t = next
		change := LimitChange{At: t, From: t, Limits: budgets.At(t)}
		if budget.Tightens(l.Now, change.Limits) {
			stops := v.stops(change.Limits)
			change.From = t.Add(-v.lead(stops))
			for _, i := range stops {
				change.Stops = append(change.Stops, v.VJobs[i].Job.ID)
			}
			slices.Sort(change.Stops)
		}
		l.Changes = append(l.Changes, change)
		v.recheck(t)
		if !change.From.After(now) {
			l.Now = budget.Tighter(l.Now, change.Limits)
		} else {
			v.recheck(change.From)
		}
	}
	return l
}

// stops returns the running vjobs that would have to stop under other limits.
func (v *View) stops(limits []budget.Limit) (list []int) {
	if !v.supply.Known() {
		return nil
	}
	q := v.newShareProblem(v.layout.intended, v.runningVerdicts(), limits)
	runs, _ := q.Select()
	for k, i := range q.jobs {
		if !runs[k] {
			list = append(list, i)
		}
	}
	return list
}

// Suspensions for a budget begin twice their estimated duration before it. Caps take moments.
const (
	leastLead = time.Minute
	mostLead  = 2 * time.Hour
)

// lead returns how long before a budget begins vjobs must stop for it.
func (v *View) lead(stops []int) time.Duration {
	saved := map[cluster.NodeID]time.Duration{}
	longest := time.Duration(0)
	costs, transfers := &v.settings.Execute.Costs, time.Duration(max(v.settings.Execute.Transfers, 1))
	for _, i := range stops {
		job := v.VJobs[i].Job
		for k := range job.VMs {
			vm := &job.VMs[k]
			at, runs := v.layout.intended.Host(vm.ID)
			if !runs {
				continue
			}
			takes := time.Duration(float64(costs.SuspendPer) * float64(vm.Reserved.Memory) / float64(cluster.GiB))
			saved[at] += takes
			longest = max(longest, takes, saved[at]/transfers)
		}
	}
	return min(leastLead+2*longest, mostLead)
}

// Wanted is a node that is off and should come on, with what it draws meanwhile.
type Wanted struct {
	Node  cluster.NodeID
	Watts energy.Watts
}

// keepPower keeps power within the limits for nodes that should come on, as far as the minimum
// shares of all running vjobs leave it. No vjob stops for a node.
func (v *View) keepPower() {
	if len(v.Limits.Now) == 0 || len(v.facts.Wanted) == 0 {
		return
	}
	verdicts, least := v.runningVerdicts(), v.supply.Least
	over := v.excess(verdicts)
	for _, w := range v.facts.Wanted {
		before := least[w.Node]
		least[w.Node] = max(before, w.Watts)
		if after := v.excess(verdicts); after > over {
			least[w.Node] = before
			continue
		}
		v.Limits.Kept[w.Node] = w.Watts
	}
}

// runningVerdicts returns verdicts that keep vjobs running that run or are about to.
func (v *View) runningVerdicts() []queue.Verdict {
	verdicts := make([]queue.Verdict, len(v.VJobs))
	for i := range v.VJobs {
		if v.VJobs[i].Bound == cluster.VMRunning {
			verdicts[i].Target = queue.Run
		}
	}
	return verdicts
}

// excess returns by how much the limits are exceeded together if all vjobs that should run get
// their minimum shares.
func (v *View) excess(verdicts []queue.Verdict) (sum energy.Watts) {
	q := v.newShareProblem(v.layout.intended, verdicts, v.Limits.Now)
	runs := make([]bool, len(q.Jobs))
	for k := range runs {
		runs[k] = true
	}
	for _, over := range q.Excess(runs) {
		sum += over
	}
	return sum
}
