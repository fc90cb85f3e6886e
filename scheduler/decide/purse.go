package decide

import (
	"fmt"
	"maps"

	"vjob/cluster"
	"vjob/ctxswitch/execute"
	"vjob/energy/cpushare"
	"vjob/queue"
)

// purse is the power that limits leave while vjobs are let in one after another, each with
// its floor, where a configuration has them. Those that are under way to run are in from the
// beginning.
type purse struct {
	*rationing
	picture *View
	at      *cluster.Configuration
	in      map[int]bool // by their places in the picture
	run     *cpushare.Ledger
	// still has beside those that are in also the leavers: they are on their way out under an
	// earlier plan, and their VMs still draw power. No vjob that runs stops for them, but those
	// that start wait for them: a plan knows only its own vjobs, and one that was started too
	// soon would be turned back.
	still   *cpushare.Ledger
	leavers []cluster.VJobID
}

// limited reports whether there are limits, and it is known what is drawn.
func (p *View) limited() bool { return len(p.Limits) > 0 && len(p.settings.Energy.Power) > 0 }

// purse is one with only those in it that are under way to run, or set aside there.
func (p *View) purse(at *cluster.Configuration) *purse {
	c := &purse{rationing: p.rationing(at, p.Limits), picture: p, at: at, in: map[int]bool{}}
	c.run = c.Ledger()
	for i := range p.VJobs {
		r := &p.VJobs[i]
		arrives := (!r.Idle || r.Blind) && r.Bound == cluster.VMRunning
		if arrives || p.aside[r.Job.ID] != "" && r.Job.State == cluster.Running {
			j := c.job(p, r, at)
			c.in[i] = true
			c.run.Count(&j)
		}
	}
	c.still = c.run.Clone()
	for i := range p.VJobs {
		if j := c.leaver(&p.VJobs[i]); len(j.VMs) > 0 {
			c.leavers = append(c.leavers, p.VJobs[i].Job.ID)
			c.still.Count(&j)
		}
	}
	return c
}

// leaver is what a vjob draws yet that is on its way out.
func (c *purse) leaver(r *execute.Report) (j cpushare.Job) {
	if r.Idle && !r.Blind || r.Bound == cluster.VMRunning {
		return j
	}
	j.Floor = 1
	for rank, m := range r.Record.Members {
		n, known := c.nodes[m.Node]
		if most := c.picture.books.Most(r.Job.VMs[rank].ID); known && !m.Ended && most > 0 {
			j.VMs = append(j.VMs, cpushare.VM{Node: n, CPU: float64(most)})
		}
	}
	return j
}

// clone is a purse that goes on by itself.
func (c *purse) clone() *purse {
	d := *c
	d.in, d.run, d.still = maps.Clone(c.in), c.run.Clone(), c.still.Clone()
	return &d
}

// take lets a vjob in if there is the power for its floor, and says why if not: "the power
// budget of the cluster is 400 W, with it 20 W more would be drawn".
func (c *purse) take(i int) (why string) {
	if c.in[i] {
		return ""
	}
	r := &c.picture.VJobs[i]
	j := c.job(c.picture, r, c.at)
	if short, ok := c.run.Take(&j); !ok {
		return title(&c.limits[short.Limit]) + fmt.Sprintf(", with it %s more would be drawn", short.Short)
	}
	if short, ok := c.still.Take(&j); !ok {
		if r.Job.State.Ready() {
			c.run.Drop(&j)
			return title(&c.limits[short.Limit]) + fmt.Sprintf(", and %s more would be drawn with it until %s left", short.Short, have(c.leavers))
		}
		c.still.Count(&j)
	}
	c.in[i] = true
	return ""
}

// drop takes a vjob out again.
func (c *purse) drop(i int) {
	j := c.job(c.picture, &c.picture.VJobs[i], c.at)
	c.run.Drop(&j)
	c.still.Drop(&j)
	delete(c.in, i)
}

// affords reports whether there would be the power for a vjob.
func (c *purse) affords(i int) bool {
	if c.in[i] {
		return true
	}
	j := c.job(c.picture, &c.picture.VJobs[i], c.at)
	_, ok := c.run.Take(&j)
	if ok {
		c.run.Drop(&j)
	}
	return ok
}

// have is "vjob 1 has", "vjobs 1 and 2 have".
func have(ids []cluster.VJobID) string {
	if len(ids) == 1 {
		return "vjob " + ids[0].String() + " has"
	}
	return "vjobs " + names(ids) + " have"
}

// powered is a room in which those vjobs have places for which there is the power as well. So
// power is given away in the order of the policy, as room is.
type powered struct {
	queue.Capacity
	*purse
	places map[cluster.VJobID]int // in the picture
}

// Take implements [queue.Capacity].
func (r *powered) Take(id cluster.VJobID) (ok bool, short queue.Shortage) {
	i, known := r.places[id]
	if !known || r.in[i] {
		return r.Capacity.Take(id)
	}
	if why := r.take(i); why != "" {
		return false, queue.Shortage{Limit: why, Kind: cluster.CausePower}
	}
	if ok, short = r.Capacity.Take(id); !ok {
		r.drop(i)
	}
	return ok, short
}

// limitPower puts the limits before the room: a vjob without power takes no room from others.
// Reservations that have begun, or run, have theirs before all others: that was looked at when
// they were confirmed.
func (p *View) limitPower(m *queue.Input) {
	if !p.limited() {
		return
	}
	c, places := p.purse(p.intended), make(map[cluster.VJobID]int, len(p.VJobs))
	for i := range p.VJobs {
		job := p.VJobs[i].Job
		places[job.ID] = i
		if p.begun(job) || !job.Reservation.IsZero() && job.State == cluster.Running && !job.Held {
			c.take(i)
		}
	}
	room := m.Capacity
	m.Capacity = func() queue.Capacity { return &powered{Capacity: room(), purse: c.clone(), places: places} }
}

// begun reports whether a vjob waits although its reservation has begun.
func (p *View) begun(job *cluster.VJob) bool {
	return !job.Reservation.IsZero() && !p.now.Before(job.Reservation) && job.State.Ready() && !job.Held
}

// afford sends those off that run although there is not the power for their floors, as where a
// policy never suspends, and notes which of those that stop leave their power to others.
func (p *View) afford(verdicts []queue.Verdict) {
	c := p.purse(p.intended)
	for _, i := range p.rationOrder(verdicts) {
		if why := c.take(i); why != "" {
			verdicts[i] = poor(p.VJobs[i].Job, why)
		}
	}
	p.dimmed = map[cluster.VJobID]bool{}
	for i, v := range verdicts {
		r := &p.VJobs[i]
		if stops := v.Target == queue.Suspend && r.Job.State == cluster.Running && r.Idle && !r.Blind; stops && !r.Job.Held {
			p.dimmed[r.Job.ID] = !c.affords(i)
		}
	}
}

// poor is the verdict on a vjob for which there is no power.
func poor(job *cluster.VJob, why string) queue.Verdict {
	if job.State == cluster.Running {
		return queue.Verdict{Target: queue.Suspend, Reason: "suspended: " + why, Cause: cluster.Cause{Kind: cluster.CausePower, Text: why}}
	}
	return queue.Verdict{Target: queue.Wait, Reason: "waits: " + why}
}

// overdrawn takes the wish back for those that are to start and for which there is no
// power where a plan puts them. It reports whether there are some.
func (p *View) overdrawn(d *Decision, wished []queue.Verdict, target *cluster.Configuration) (some bool) {
	if !p.limited() || target == nil {
		return false
	}
	c := p.purse(target)
	for _, i := range p.rationOrder(wished) {
		job := p.VJobs[i].Job
		why := c.take(i)
		if why == "" || !job.State.Ready() {
			continue
		}
		if d.poor == nil {
			d.poor = map[cluster.VJobID]string{}
		}
		wished[i], d.poor[job.ID], some = poor(job, why), why, true
	}
	return some
}
