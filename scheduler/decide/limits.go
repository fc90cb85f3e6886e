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

// lookahead is the stage that finds what coming changes of the budgets mean now.
type lookahead struct {
	*View
	running []queue.Verdict // once they are needed
	changes []LimitChange
}

// powerLimits returns the limits that the decision keeps, and their changes.
func (v *View) powerLimits() PowerLimits {
	now := v.facts.Now
	l := PowerLimits{Now: v.facts.Budgets.At(now), Kept: map[cluster.NodeID]energy.Watts{}}
	k := &lookahead{View: v}
	for _, t := range v.supply.Changes(now, now.Add(v.settings.lookahead()), nil)[1:] {
		change := LimitChange{At: t, From: t, Limits: v.facts.Budgets.At(t)}
		if budget.Tightens(l.Now, change.Limits) {
			change.Stops = k.stops(change.Limits)
			change.From = t.Add(-k.lead(change.Stops))
		}
		k.changes = append(k.changes, change)
		v.recheck(t)
		if !change.From.After(now) {
			l.Now = budget.Tighter(l.Now, change.Limits)
		} else {
			v.recheck(change.From)
		}
	}
	l.Changes = k.changes
	k.keep(&l)
	return l
}

// stops returns the running vjobs that would have to stop under other limits. Daily windows state
// the same limits again and again.
func (k *lookahead) stops(limits []budget.Limit) (list []cluster.VJobID) {
	if !k.supply.Known() {
		return nil
	}
	for i := range k.changes {
		if c := &k.changes[i]; slices.Equal(c.Limits, limits) {
			return c.Stops
		}
	}
	q := newShareProblem(k.View, k.layout.intended, k.stay(), limits)
	runs, _ := q.Select()
	for n, i := range q.jobs {
		if !runs[n] {
			list = append(list, k.VJobs[i].Job.ID)
		}
	}
	slices.Sort(list)
	return list
}

// Suspensions for a budget begin twice their estimated duration before it. Caps take moments.
const (
	leastLead = time.Minute
	mostLead  = 2 * time.Hour
)

// lead returns how long before a budget begins vjobs must stop for it.
func (k *lookahead) lead(stops []cluster.VJobID) time.Duration {
	saved := map[cluster.NodeID]time.Duration{}
	longest := time.Duration(0)
	costs, transfers := k.costs, time.Duration(max(k.settings.Execute.Transfers, 1))
	for job := range k.jobs() {
		if _, stopped := slices.BinarySearch(stops, job.ID); !stopped {
			continue
		}
		for rank := range job.VMs {
			vm := &job.VMs[rank]
			at, runs := k.layout.intended.Host(vm.ID)
			if !runs {
				continue
			}
			takes := costs.Duration(cluster.Suspend, vm.Reserved.Memory, at, "")
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

// keep keeps power within the limits for nodes that should come on, as far as the minimum shares of
// all running vjobs leave it. No vjob stops for a node.
func (k *lookahead) keep(l *PowerLimits) {
	if len(l.Now) == 0 || len(k.facts.Wanted) == 0 {
		return
	}
	least := k.supply.Least
	over := k.excess(l.Now)
	for _, w := range k.facts.Wanted {
		before := least[w.Node]
		least[w.Node] = max(before, w.Watts)
		if after := k.excess(l.Now); after > over {
			least[w.Node] = before
			continue
		}
		l.Kept[w.Node] = w.Watts
	}
}

// stay returns [View.runningVerdicts], computed once.
func (k *lookahead) stay() []queue.Verdict {
	if k.running == nil {
		k.running = k.runningVerdicts()
	}
	return k.running
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

// excess returns by how much the limits are exceeded together if all running vjobs get their minimum
// shares.
func (k *lookahead) excess(limits []budget.Limit) (sum energy.Watts) {
	q := newShareProblem(k.View, k.layout.intended, k.stay(), limits)
	runs := make([]bool, len(q.Jobs))
	for n := range runs {
		runs[n] = true
	}
	for _, over := range q.Excess(runs) {
		sum += over
	}
	return sum
}
