package decide

import (
	"fmt"
	"maps"

	"vjob/cluster"
	"vjob/ctxswitch/execute"
	"vjob/energy/cpushare"
	"vjob/queue"
)

// powerLedger is the power that limits leave while vjobs are admitted one after another, each
// with its minimum share, at their places in a configuration. vjobs under way to run are admitted
// from the beginning.
type powerLedger struct {
	*shareProblem
	view     *View
	at       *cluster.Configuration
	admitted map[int]bool // by their index in the view
	running  *cpushare.Draw
	// withDeparting also counts the departing vjobs: they leave under an earlier plan, and their
	// VMs still draw power. No running vjob stops for them, but starting vjobs wait for them: a
	// plan knows only its own vjobs, and the executor would refuse one that starts too soon.
	withDeparting *cpushare.Draw
	departing     []cluster.VJobID
}

// limited reports whether there are power limits and power models.
func (p *View) limited() bool { return len(p.Limits) > 0 && len(p.settings.Energy.Power) > 0 }

// powerLedger returns a ledger with only the vjobs that are under way to run, or run in
// quarantine.
func (p *View) powerLedger(at *cluster.Configuration) *powerLedger {
	c := &powerLedger{shareProblem: p.emptyShareProblem(at, p.Limits), view: p, at: at, admitted: map[int]bool{}}
	c.running = c.NewDraw()
	for i := range p.VJobs {
		r := &p.VJobs[i]
		arrives := (!r.Idle || r.Blind) && r.Bound == cluster.VMRunning
		if arrives || p.quarantined[r.Job.ID] != "" && r.Job.State == cluster.Running {
			j := c.job(p, r, at)
			c.admitted[i] = true
			c.running.Add(&j)
		}
	}
	c.withDeparting = c.running.Clone()
	for i := range p.VJobs {
		if j := c.departingJob(&p.VJobs[i]); len(j.VMs) > 0 {
			c.departing = append(c.departing, p.VJobs[i].Job.ID)
			c.withDeparting.Add(&j)
		}
	}
	return c
}

// departingJob returns what a departing vjob still draws.
func (c *powerLedger) departingJob(r *execute.Report) (j cpushare.Job) {
	if r.Idle && !r.Blind || r.Bound == cluster.VMRunning {
		return j
	}
	j.Floor = 1
	for rank, m := range r.Record.Members {
		n, known := c.nodes[m.Node]
		if most := c.view.books.Cap(r.Job.VMs[rank].ID); known && !m.Ended && most > 0 {
			j.VMs = append(j.VMs, cpushare.VM{Node: n, CPU: float64(most)})
		}
	}
	return j
}

// clone returns an independent copy.
func (c *powerLedger) clone() *powerLedger {
	d := *c
	d.admitted, d.running, d.withDeparting = maps.Clone(c.admitted), c.running.Clone(), c.withDeparting.Clone()
	return &d
}

// admit admits a vjob if there is power for its minimum share, and returns why otherwise: "the
// power budget of the cluster is 400 W, with it 20 W more would be drawn".
func (c *powerLedger) admit(i int) (why string) {
	if c.admitted[i] {
		return ""
	}
	r := &c.view.VJobs[i]
	j := c.job(c.view, r, c.at)
	if short, ok := c.running.TryAdd(&j); !ok {
		return title(&c.limits[short.Limit]) + fmt.Sprintf(", with it %s more would be drawn", short.Shortage)
	}
	if short, ok := c.withDeparting.TryAdd(&j); !ok {
		if r.Job.State.Ready() {
			c.running.Remove(&j)
			return title(&c.limits[short.Limit]) + fmt.Sprintf(", and %s more would be drawn with it until %s left", short.Shortage, have(c.departing))
		}
		c.withDeparting.Add(&j)
	}
	c.admitted[i] = true
	return ""
}

// remove takes an admitted vjob out again.
func (c *powerLedger) remove(i int) {
	j := c.job(c.view, &c.view.VJobs[i], c.at)
	c.running.Remove(&j)
	c.withDeparting.Remove(&j)
	delete(c.admitted, i)
}

// affords reports whether there is power for a vjob.
func (c *powerLedger) affords(i int) bool {
	if c.admitted[i] {
		return true
	}
	j := c.job(c.view, &c.view.VJobs[i], c.at)
	_, ok := c.running.TryAdd(&j)
	if ok {
		c.running.Remove(&j)
	}
	return ok
}

// have returns "vjob 1 has" or "vjobs 1 and 2 have".
func have(ids []cluster.VJobID) string {
	if len(ids) == 1 {
		return "vjob " + ids[0].String() + " has"
	}
	return "vjobs " + names(ids) + " have"
}

// poweredCapacity admits vjobs only if there is power as well as capacity. So power is assigned
// in the order of the policy, as capacity is.
type poweredCapacity struct {
	queue.Capacity
	*powerLedger
	places map[cluster.VJobID]int // index in the view
}

// Take implements [queue.Capacity].
func (r *poweredCapacity) Take(id cluster.VJobID) (ok bool, short queue.Shortage) {
	i, known := r.places[id]
	if !known || r.admitted[i] {
		return r.Capacity.Take(id)
	}
	if why := r.admit(i); why != "" {
		return false, queue.Shortage{Limit: why, Kind: cluster.CausePower}
	}
	if ok, short = r.Capacity.Take(id); !ok {
		r.remove(i)
	}
	return ok, short
}

// limitByPower checks power before capacity: a vjob without power takes no capacity from others.
// Reservations that run or have begun get power first: it was checked when they were confirmed.
func (p *View) limitByPower(m *queue.Input) {
	if !p.limited() {
		return
	}
	c, places := p.powerLedger(p.intended), make(map[cluster.VJobID]int, len(p.VJobs))
	for i := range p.VJobs {
		job := p.VJobs[i].Job
		places[job.ID] = i
		if p.reservationDue(job) || !job.Reservation.IsZero() && job.State == cluster.Running && !job.Held {
			c.admit(i)
		}
	}
	room := m.Capacity
	m.Capacity = func() queue.Capacity {
		return &poweredCapacity{Capacity: room(), powerLedger: c.clone(), places: places}
	}
}

// reservationDue reports whether a vjob waits although its reservation has begun.
func (p *View) reservationDue(job *cluster.VJob) bool {
	return !job.Reservation.IsZero() && !p.now.Before(job.Reservation) && job.State.Ready() && !job.Held
}

// enforcePower suspends running vjobs that lack power for their minimum shares, as under a policy
// that never suspends. It marks the stopping vjobs that must release their power at once.
func (p *View) enforcePower(verdicts []queue.Verdict) {
	c := p.powerLedger(p.intended)
	for _, i := range p.powerOrder(verdicts) {
		if why := c.admit(i); why != "" {
			verdicts[i] = unpoweredVerdict(p.VJobs[i].Job, why)
		}
	}
	p.throttled = map[cluster.VJobID]bool{}
	for i, v := range verdicts {
		r := &p.VJobs[i]
		if stops := v.Target == queue.Suspend && r.Job.State == cluster.Running && r.Idle && !r.Blind; stops && !r.Job.Held {
			p.throttled[r.Job.ID] = !c.affords(i)
		}
	}
}

// unpoweredVerdict returns the verdict on a vjob that lacks power.
func unpoweredVerdict(job *cluster.VJob, why string) queue.Verdict {
	if job.State == cluster.Running {
		return queue.Verdict{Target: queue.Suspend, Reason: "suspended: " + why, Cause: cluster.Cause{Kind: cluster.CausePower, Text: why}}
	}
	return queue.Verdict{Target: queue.Wait, Reason: "waits: " + why}
}

// overdrawn makes starting vjobs wait that lack power where a plan puts them. It reports whether
// there are any.
func (p *View) overdrawn(d *Decision, wished []queue.Verdict, target *cluster.Configuration) (some bool) {
	if !p.limited() || target == nil {
		return false
	}
	c := p.powerLedger(target)
	for _, i := range p.powerOrder(wished) {
		job := p.VJobs[i].Job
		why := c.admit(i)
		if why == "" || !job.State.Ready() {
			continue
		}
		if d.unpowered == nil {
			d.unpowered = map[cluster.VJobID]string{}
		}
		wished[i], d.unpowered[job.ID], some = unpoweredVerdict(job, why), why, true
	}
	return some
}
