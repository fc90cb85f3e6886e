package decide

import (
	"slices"
	"time"

	"vjob/cluster"
	"vjob/energy/budget"
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

// limit sets the limits of the view: those of now, and those that begin so soon that the vjobs
// they stop must be suspended now.
func (p *View) limit(budgets budget.Schedules) {
	p.Limits = budgets.At(p.now)
	for t := p.now; len(p.Changes) < mostChanges; {
		next, ok := budgets.Next(t)
		if !ok || next.Sub(p.now) > foresight {
			break
		}
		t = next
		change := LimitChange{At: t, From: t, Limits: budgets.At(t)}
		if budget.Tightens(p.Limits, change.Limits) {
			stops := p.stops(change.Limits)
			change.From = t.Add(-p.lead(stops))
			for _, i := range stops {
				change.Stops = append(change.Stops, p.VJobs[i].Job.ID)
			}
			slices.Sort(change.Stops)
		}
		p.Changes = append(p.Changes, change)
		p.recheck(t)
		if !change.From.After(p.now) {
			p.Limits = budget.Tighter(p.Limits, change.Limits)
		} else {
			p.recheck(change.From)
		}
	}
}

// stops returns the running vjobs that would have to stop under other limits.
func (p *View) stops(limits []budget.Limit) (list []int) {
	if len(p.settings.Energy.Power) == 0 {
		return nil
	}
	q := p.newShareProblem(p.intended, p.runningVerdicts(), limits)
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
func (p *View) lead(stops []int) time.Duration {
	saved := map[cluster.NodeID]time.Duration{}
	longest := time.Duration(0)
	costs, transfers := &p.settings.Execute.Costs, time.Duration(max(p.settings.Execute.Transfers, 1))
	for _, i := range stops {
		job := p.VJobs[i].Job
		for k := range job.VMs {
			vm := &job.VMs[k]
			at, runs := p.intended.Host(vm.ID)
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
