package decide

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/execute"
	"vjob/energy"
	"vjob/energy/budget"
)

// What budgets of the whole cluster will leave for reservations and forecasts. Future places are
// unknown, so a CPU counts with its mean power. Budgets of groups depend on places: grouppower.go,
// forecastpower.go.

// perMilli returns what a thousandth of a CPU draws on average beside its idle node.
func (p *View) perMilli() energy.Watts {
	n := averageNode(p.intended.Nodes(), p.settings.Energy.Power)
	if n.CPU <= 0 {
		return 0
	}
	return n.Power.Full / energy.Watts(n.CPU)
}

// idle returns what the nodes draw without load as they are switched now; with dark all are off.
func (p *View) idle(dark bool) (sum energy.Watts) {
	for _, n := range p.intended.Nodes() {
		power, known := p.settings.Energy.Power[n.ID]
		switch {
		case !known:
		case dark:
			sum += power.Standby
		case p.off[n.ID]:
			sum += max(power.Standby, p.least[n.ID])
		default:
			sum += max(power.Idle, p.least[n.ID])
		}
	}
	return sum
}

// minShareWatts returns what a vjob draws with its minimum share, beside idle nodes.
func (p *View) minShareWatts(job *cluster.VJob) energy.Watts {
	return p.perMilli() * energy.Watts(minShare(job)*float64(job.Reserved().CPU))
}

// clusterBudget returns the budget of the whole cluster at an instant.
func (p *View) clusterBudget(at time.Time) (l budget.Limit, ok bool) {
	limits := p.budgets.At(at)
	i := slices.IndexFunc(limits, func(l budget.Limit) bool { return l.Group == budget.Group{} })
	if i < 0 || len(p.settings.Energy.Power) == 0 {
		return l, false
	}
	return limits[i], true
}

// Power returns a function that finds the first instant in an interval at which a vjob with a
// reservation would lack power beside other reservations, each with its minimum share, and why; ""
// if never. All other vjobs can get less or be suspended. With dark, unused nodes go off by
// themselves. Without power models Power returns nil.
func (p *View) Power(job *cluster.VJob, dark bool) func(from, until time.Time) (at time.Time, why string) {
	if len(p.settings.Energy.Power) == 0 {
		return nil
	}
	return func(from, until time.Time) (at time.Time, why string) {
		for _, at := range p.powerChanges(from, until) {
			if why = cmp.Or(p.clusterPowerConflict(job, at, dark), p.groupPowerConflict(job, at, dark)); why != "" {
				return at, why
			}
		}
		return at, ""
	}
}

// clusterPowerConflict returns why power is missing at an instant; "" if it suffices.
func (p *View) clusterPowerConflict(job *cluster.VJob, at time.Time, dark bool) string {
	l, limited := p.clusterBudget(at)
	if !limited {
		return ""
	}
	own, others, need, names := p.minShareWatts(job), energy.Watts(0), job.Reserved(), []string(nil)
	for i := range p.VJobs {
		if r := &p.VJobs[i]; r.Job.ID != job.ID && p.reservedAt(r, at) {
			others, need = others+p.minShareWatts(r.Job), need.Plus(r.Job.Reserved())
			names = append(names, r.Job.ID.String())
		}
	}
	base := p.idle(dark) + p.wakeWatts(need, dark)
	if base+own+others <= l.Watts {
		return ""
	}
	text := fmt.Sprintf("%s: idle nodes draw %s", title(&l), base)
	if len(names) > 0 {
		word := "reservations"
		if len(names) == 1 {
			word = "reservation"
		}
		text += fmt.Sprintf(", %s go to %s %s", others, word, strings.Join(names, ", "))
	}
	return text + fmt.Sprintf(", and it draws %s with %.0f %% of its CPU", own, 100*minShare(job))
}

// title names a limit with its figure.
func title(l *budget.Limit) string {
	return fmt.Sprintf("the power budget of %s is %s", l.Group.Name(), figure(l))
}

// figure returns "240 W (18:00-20:00)".
func figure(l *budget.Limit) string {
	if l.When == "" {
		return l.Watts.String()
	}
	return l.Watts.String() + " (" + l.When + ")"
}

// wakeWatts returns the additional idle power of the nodes that must come on for a need, those that
// draw least first. With dark all nodes are off.
func (p *View) wakeWatts(need cluster.Resources, dark bool) (sum energy.Watts) {
	var off []cluster.Node
	more := func(n *cluster.Node) energy.Watts {
		power := p.settings.Energy.Power[n.ID]
		return power.Idle - power.Standby
	}
	for _, n := range p.intended.Nodes() {
		switch {
		case !n.Hosts():
		case dark || p.off[n.ID]:
			off = append(off, n)
		default:
			need = need.Minus(n.Capacity)
		}
	}
	slices.SortStableFunc(off, func(a, b cluster.Node) int { return cmp.Compare(more(&a), more(&b)) })
	for i := range off {
		if need.CPU <= 0 && need.Memory <= 0 {
			break
		}
		need, sum = need.Minus(off[i].Capacity), sum+more(&off[i])
	}
	return sum
}

// reservedAt reports whether the reservation of a vjob covers an instant.
func (p *View) reservedAt(r *execute.Report, at time.Time) bool {
	return !r.Job.Reservation.IsZero() && p.runsAt(r, at)
}

// maxPowerChanges bounds at how many instants budgets are checked.
const maxPowerChanges = 100

// powerChanges returns the instants of an interval at which there may be less power: its start,
// and when budgets change or reservations begin.
func (p *View) powerChanges(from, until time.Time) []time.Time {
	list := []time.Time{from}
	for at, ok := p.budgets.Next(from); ok && at.Before(until) && len(list) < maxPowerChanges; at, ok = p.budgets.Next(at) {
		list = append(list, at)
	}
	for i := range p.VJobs {
		if at := p.VJobs[i].Job.Reservation; at.After(from) && at.Before(until) {
			list = append(list, at)
		}
	}
	slices.SortFunc(list, time.Time.Compare)
	return list
}

// NextChange returns the next instant after one at which quotas or budgets change; false if none.
func (p *View) NextChange(after time.Time) (next time.Time, ok bool) {
	next, ok = p.budgets.Next(after)
	if at, changes := p.settings.OrderingRules().Quotas.Next(after); changes && (!ok || at.Before(next)) {
		next, ok = at, true
	}
	return next, ok
}
