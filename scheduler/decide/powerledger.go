package decide

import (
	"fmt"
	"maps"

	"vjob/cluster"
	"vjob/ctxswitch/execute"
	"vjob/energy/cpushare"
	"vjob/queue"
	"vjob/scheduler/supply"
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
func (v *View) limited() bool { return len(v.Limits.Now) > 0 && v.supply.Known() }

// powerLedger returns a ledger with only the vjobs that are under way to run, or run in
// quarantine.
func (v *View) powerLedger(at *cluster.Configuration) *powerLedger {
	c := &powerLedger{shareProblem: emptyShareProblem(v, at, v.Limits.Now), view: v, at: at, admitted: map[int]bool{}}
	c.running = c.NewDraw()
	for i := range v.VJobs {
		r := &v.VJobs[i]
		arrives := r.Busy() && r.Bound == cluster.VMRunning
		if arrives || v.quarantined[r.Job.ID] != "" && r.Job.State == cluster.Running {
			j := c.job(v, r, at)
			c.admitted[i] = true
			c.running.Add(&j)
		}
	}
	c.withDeparting = c.running.Clone()
	for i := range v.VJobs {
		if j := c.departingJob(&v.VJobs[i]); len(j.VMs) > 0 {
			c.departing = append(c.departing, v.VJobs[i].Job.ID)
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
		if most := c.view.facts.Bookings.Cap(r.Job.VMs[rank].ID); known && !m.Ended && most > 0 {
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
		return supply.Title(&c.limits[short.Limit]) + fmt.Sprintf(", with it %s more would be drawn", short.Shortage)
	}
	if short, ok := c.withDeparting.TryAdd(&j); !ok {
		if r.Job.State.Ready() {
			c.running.Remove(&j)
			return supply.Title(&c.limits[short.Limit]) + fmt.Sprintf(", and %s more would be drawn with it until %s left", short.Shortage, have(c.departing))
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

// unpoweredVerdict returns the verdict on a vjob that lacks power.
func unpoweredVerdict(job *cluster.VJob, why string) queue.Verdict {
	if job.State == cluster.Running {
		return queue.Verdict{Target: queue.Suspend, Reason: "suspended: " + why, Cause: &cluster.Cause{Kind: cluster.CausePower, Text: why}}
	}
	return queue.Verdict{Target: queue.Wait, Reason: "waits: " + why}
}
