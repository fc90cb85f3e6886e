package decide

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/ctxswitch/execute"
	"vjob/scheduler/supply"
)

// What a new reservation has to find beside the other reservations: quotas and power. Package
// reservation asks these questions before it confirms one.

// QuotaConflict returns a function that names the quota a vjob would exceed at an instant, beside
// reservations and the running vjobs that may still run then; "" for none. It returns nil if
// there are no quotas.
func (v *View) QuotaConflict(job *cluster.VJob) func(at time.Time) string {
	rules := v.settings.OrderingRules()
	if rules.Quotas.Empty() {
		return nil
	}
	own := quotaJob(rules, &execute.Report{Job: job})
	return func(at time.Time) string {
		tally := rules.Quotas.Tally(at, v.facts.Past)
		for i := range v.VJobs {
			if r := &v.VJobs[i]; r.Job.ID != job.ID && v.runsAt(r, at) {
				other := quotaJob(rules, r)
				tally.Count(&other)
			}
		}
		return tally.Refuses(&own)
	}
}

// PowerConflict returns a function that finds the first instant in an interval at which a vjob with a
// reservation would lack power beside other reservations, each with its minimum share, and why; ""
// if never. All other vjobs can get less or be suspended. With dark, unused nodes go off by
// themselves. Without power models it returns nil.
func (v *View) PowerConflict(job *cluster.VJob, dark bool) func(from, until time.Time) (at time.Time, why string) {
	if !v.supply.Known() {
		return nil
	}
	return func(from, until time.Time) (at time.Time, why string) {
		for _, at := range v.supply.Changes(from, until, v.reservationStarts()) {
			claim := supply.Claim{Job: job, Others: v.reservedBeside(job, at), At: at, Dark: dark}
			if why = cmp.Or(v.supply.Lacks(v.layout.intended.Nodes(), &claim), v.feedConflict(&claim)); why != "" {
				return at, why
			}
		}
		return at, ""
	}
}

// reservationStarts returns the beginnings of all reservations.
func (v *View) reservationStarts() (list []time.Time) {
	for job := range v.jobs() {
		if !job.Reservation.IsZero() {
			list = append(list, job.Reservation)
		}
	}
	return list
}

// reservedBeside returns the other vjobs with a reservation at an instant.
func (v *View) reservedBeside(job *cluster.VJob, at time.Time) (list []*cluster.VJob) {
	for i := range v.VJobs {
		if r := &v.VJobs[i]; r.Job.ID != job.ID && v.reservedAt(r, at) {
			list = append(list, r.Job)
		}
	}
	return list
}

// feedConflict returns why the budgets of groups of nodes leave a vjob with a reservation no places,
// beside other reservations and running vjobs that are not preempted. It returns "" if they leave
// places, or if the vjob has no places even without budgets.
func (v *View) feedConflict(c *supply.Claim) string {
	nodes := v.layout.intended.Nodes()
	feeds := v.supply.FeedsAt(nodes, c.At, c.Dark, v.jobs())
	if feeds == nil {
		return ""
	}
	var others []cluster.VJobID
	for i := range v.VJobs {
		if r := &v.VJobs[i]; r.Job.ID != c.Job.ID && !v.reservedAt(r, c.At) && v.runsAt(r, c.At) && v.settings.Keeps(r.Job) {
			others = append(others, r.Job.ID)
		}
	}
	for _, job := range c.Others {
		others = append(others, job.ID)
	}
	if v.fitsBeside(c.Job.ID, others, feeds) || !v.fitsBeside(c.Job.ID, others, nil) {
		return ""
	}
	text := "the power budgets leave it no places: " + supply.FeedFigures(feeds) + "; "
	if len(others) > 0 {
		text += "beside vjobs " + names(others) + " "
	}
	return text + fmt.Sprintf("it draws %s more with %.0f %% of its CPU", v.supply.MinShareWatts(nodes, c.Job), 100*supply.MinShare(c.Job))
}

// fitsBeside reports whether a vjob finds places beside some others alone.
func (v *View) fitsBeside(id cluster.VJobID, others []cluster.VJobID, feeds *ctxswitch.PowerFeeds) bool {
	packings := v.layout.packings()
	for vm := range packings.Needs {
		if vm.VJob != id && !slices.Contains(others, vm.VJob) {
			delete(packings.Needs, vm)
		}
	}
	room := packings.empty(feeds)
	for _, other := range others {
		room.Take(other)
	}
	fits, _ := room.Take(id)
	return fits
}

// NextChange returns the next instant after one at which quotas or budgets change; false if none.
func (v *View) NextChange(after time.Time) (next time.Time, ok bool) {
	next, ok = v.facts.Budgets.Next(after)
	if at, changes := v.settings.OrderingRules().Quotas.Next(after); changes && (!ok || at.Before(next)) {
		next, ok = at, true
	}
	return next, ok
}

// names lists vjobs: "1, 2".
func names(ids []cluster.VJobID) string {
	list := make([]string, len(ids))
	for i, id := range ids {
		list[i] = id.String()
	}
	return strings.Join(list, ", ")
}
