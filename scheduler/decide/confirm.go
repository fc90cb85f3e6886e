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
	"vjob/queue"
	"vjob/scheduler/supply"
)

// Claim is a reservation that is asked for: a vjob that was not submitted, on a view of its own.
// Package reservation asks a claim what there is beside the other reservations: places, quotas and
// power.
type Claim struct {
	*View
	job  *cluster.VJob
	dark bool
}

// Claim returns the claim of a vjob. With dark, nodes go off by themselves while they are not used.
func (w *Variant) Claim(job *cluster.VJob, dark bool) *Claim {
	w.Add(job, len(w.VJobs))
	return &Claim{&w.View, job, dark}
}

// Capacity returns a function that makes empty packings of the cluster, to try the vjob beside
// others.
func (c *Claim) Capacity() func() queue.Capacity {
	packings := c.layout.packings()
	return packings.capacity
}

// Quota returns a function that names the quota the vjob would exceed at an instant, beside
// reservations and the running vjobs that may still run then; "" for none. It returns nil if
// there are no quotas.
func (c *Claim) Quota() func(at time.Time) string {
	rules := c.settings.OrderingRules()
	if rules.Quotas.Empty() {
		return nil
	}
	own := quotaJob(rules, &execute.Report{Job: c.job})
	return func(at time.Time) string {
		tally := rules.Quotas.Tally(at, c.facts.Past)
		for i := range c.VJobs {
			if r := &c.VJobs[i]; r.Job.ID != c.job.ID && c.facts.runsAt(r, at) {
				other := quotaJob(rules, r)
				tally.Count(&other)
			}
		}
		return tally.Refuses(&own)
	}
}

// Power returns a function that finds the first instant in an interval at which the vjob would lack
// power beside other reservations, each with its minimum share, and why; "" if never. All other vjobs
// can get less or be suspended. Without power models Power returns nil.
func (c *Claim) Power() func(from, until time.Time) (at time.Time, why string) {
	if !c.supply.Known() {
		return nil
	}
	return func(from, until time.Time) (at time.Time, why string) {
		for _, at := range c.supply.Changes(from, until, c.reservationStarts()) {
			demand := supply.Demand{Job: c.job, Others: c.reservedBeside(at), At: at, Dark: c.dark}
			if why = cmp.Or(c.supply.Lacks(c.layout.intended.Nodes(), &demand), c.feedConflict(&demand)); why != "" {
				return at, why
			}
		}
		return at, ""
	}
}

// reservationStarts returns the beginnings of all reservations.
func (c *Claim) reservationStarts() (list []time.Time) {
	for job := range c.jobs() {
		if !job.Reservation.IsZero() {
			list = append(list, job.Reservation)
		}
	}
	return list
}

// reservedBeside returns the other vjobs with a reservation at an instant.
func (c *Claim) reservedBeside(at time.Time) (list []*cluster.VJob) {
	for i := range c.VJobs {
		if r := &c.VJobs[i]; r.Job.ID != c.job.ID && c.facts.reservedAt(r, at) {
			list = append(list, r.Job)
		}
	}
	return list
}

// feedConflict returns why the budgets of groups of nodes leave a vjob with a reservation no places,
// beside other reservations and running vjobs that are not preempted. It returns "" if they leave
// places, or if the vjob has no places even without budgets.
func (c *Claim) feedConflict(d *supply.Demand) string {
	nodes := c.layout.intended.Nodes()
	feeds := c.supply.FeedsAt(nodes, d.At, d.Dark, c.jobs())
	if feeds == nil {
		return ""
	}
	var others []cluster.VJobID
	for i := range c.VJobs {
		if r := &c.VJobs[i]; r.Job.ID != d.Job.ID && !c.facts.reservedAt(r, d.At) && c.facts.runsAt(r, d.At) && c.settings.Keeps(r.Job) {
			others = append(others, r.Job.ID)
		}
	}
	for _, job := range d.Others {
		others = append(others, job.ID)
	}
	if c.fitsBeside(d.Job.ID, others, feeds) || !c.fitsBeside(d.Job.ID, others, nil) {
		return ""
	}
	text := "the power budgets leave it no places: " + supply.FeedFigures(feeds) + "; "
	if len(others) > 0 {
		text += "beside vjobs " + names(others) + " "
	}
	return text + fmt.Sprintf("it draws %s more with %.0f %% of its CPU", c.supply.MinShareWatts(nodes, d.Job), 100*supply.MinShare(d.Job))
}

// fitsBeside reports whether a vjob finds places beside some others alone.
func (c *Claim) fitsBeside(id cluster.VJobID, others []cluster.VJobID, feeds *ctxswitch.PowerFeeds) bool {
	packings := c.layout.packings()
	packings.Needs = map[cluster.VMID]cluster.Resources{}
	for vm, is := range packings.Current.All() {
		if vm.VJob == id || slices.Contains(others, vm.VJob) {
			packings.Needs[vm] = is.Need
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
func (c *Claim) NextChange(after time.Time) (next time.Time, ok bool) {
	next, ok = c.facts.Budgets.Next(after)
	if at, changes := c.settings.OrderingRules().Quotas.Next(after); changes && (!ok || at.Before(next)) {
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
