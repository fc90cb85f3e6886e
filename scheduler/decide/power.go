package decide

import (
	"slices"

	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/energy"
	"vjob/hypervisor"
	"vjob/queue"
)

// limitByPower checks power before capacity: a vjob without power takes no capacity from others.
// Reservations that run or have begun get power first: it was checked when they were confirmed.
func (a *attempt) limitByPower(m *queue.Input) {
	if !a.limited() {
		return
	}
	c, places := a.powerLedger(a.trial.intended), make(map[cluster.VJobID]int, len(a.VJobs))
	for i := range a.VJobs {
		job := a.VJobs[i].Job
		places[job.ID] = i
		if a.facts.reservationDue(job) || !job.Reservation.IsZero() && job.State == cluster.Running && !job.Held {
			c.admit(i)
		}
	}
	room := m.Capacity
	m.Capacity = func() queue.Capacity {
		return &poweredCapacity{Capacity: room(), powerLedger: c.clone(), places: places}
	}
}

// enforcePower suspends running vjobs that lack power for their minimum shares, as under a policy
// that never suspends. It marks the stopping vjobs that must release their power at once.
func (a *attempt) enforcePower(verdicts []queue.Verdict) {
	c := a.powerLedger(a.trial.intended)
	for _, i := range powerOrder(a.View, verdicts) {
		if why := c.admit(i); why != "" {
			verdicts[i] = unpoweredVerdict(a.VJobs[i].Job, why)
		}
	}
	a.throttled = map[cluster.VJobID]bool{}
	for i, v := range verdicts {
		r := &a.VJobs[i]
		if stops := v.Target == queue.Suspend && r.Job.State == cluster.Running && r.Idle && !r.Blind; stops && !r.Job.Held {
			a.throttled[r.Job.ID] = !c.affords(i)
		}
	}
}

// overdrawn makes starting vjobs wait that lack power where a plan puts them. It reports whether
// there are any.
func (s *planning) overdrawn(target *cluster.Configuration) (some bool) {
	if !s.limited() || target == nil {
		return false
	}
	c := s.powerLedger(target)
	for _, i := range powerOrder(s.View, s.targets) {
		job := s.VJobs[i].Job
		why := c.admit(i)
		if why == "" || !job.State.Ready() {
			continue
		}
		if s.unpowered == nil {
			s.unpowered = map[cluster.VJobID]string{}
		}
		s.targets[i], s.unpowered[job.ID], some = unpoweredVerdict(job, why), why, true
	}
	return some
}

// powering is the stage that gives VMs their CPU caps and the actions of a plan their power.
type powering struct{ *attempt }

// caps returns the caps of vjobs after the verdicts: the shares of running vjobs, and next to
// nothing for throttled ones, so that budgets hold before these have stopped.
func (p powering) caps(verdicts []queue.Verdict, target *cluster.Configuration) map[cluster.VJobID][]cluster.MilliCPU {
	caps := map[cluster.VJobID][]cluster.MilliCPU{}
	if !p.sharesCPU() {
		return caps
	}
	verdicts = slices.Clone(verdicts)
	for i := range verdicts {
		if r := &p.VJobs[i]; p.throttled[r.Job.ID] {
			caps[r.Job.ID] = slices.Repeat([]cluster.MilliCPU{hypervisor.MinCap}, len(r.Job.VMs))
			verdicts[i].Target = queue.Suspend // also if it cannot be saved yet
		}
	}
	if target == nil {
		target = p.trial.current
	}
	q := newShareProblem(p.View, target, verdicts, p.Limits.Now)
	runs := make([]bool, len(q.Jobs))
	for k := range runs {
		runs[k] = true
	}
	for k, yield := range q.Share(runs) {
		job := p.VJobs[q.jobs[k]].Job
		list := make([]cluster.MilliCPU, len(job.VMs))
		for rank := range list {
			list[rank] = max(cluster.MilliCPU(yield*float64(job.VMs[rank].Reserved.CPU)+1e-6), hypervisor.MinCap)
		}
		caps[job.ID] = list
	}
	return caps
}

// delay delays the actions of a plan until the power that they need is free, so that
// the limits hold during the plan. Power of actions already under way is left to the executor,
// which checks it for each call.
func (p powering) delay(plan ctxswitch.Plan, caps map[cluster.VJobID][]cluster.MilliCPU) ctxswitch.Plan {
	if !p.limited() || plan.Empty() {
		return plan
	}
	return ctxswitch.KeepBudgets(ctxswitch.Problem{Current: p.trial.current, Transfers: p.transfers(), Power: p.draw(caps)}, plan)
}

// draw returns what nodes and VMs draw while a plan is carried out, and the limits.
func (p powering) draw(caps map[cluster.VJobID][]cluster.MilliCPU) *ctxswitch.Power {
	w := &ctxswitch.Power{
		Idle: map[cluster.NodeID]energy.Watts{}, Slope: map[cluster.NodeID]energy.Watts{}, Most: p.maxCPU(caps),
		Limits: make([]ctxswitch.PowerLimit, len(p.Limits.Now)),
	}
	for i, l := range p.Limits.Now {
		w.Limits[i] = ctxswitch.PowerLimit{Name: l.Group.Name(), Watts: l.Watts}
	}
	for _, n := range p.trial.current.Nodes() {
		power, known := p.supply.Models[n.ID]
		if !known {
			continue
		}
		w.Idle[n.ID] = p.supply.Idle(n.ID, power)
		w.Slope[n.ID] = power.Steepest() * energy.Watts(cluster.CPU) / energy.Watts(max(n.Capacity.CPU, 1))
		for i := range p.Limits.Now {
			if p.Limits.Now[i].Group.Has(n.Labels) {
				w.Limits[i].Nodes = append(w.Limits[i].Nodes, n.ID)
			}
		}
	}
	return w
}

// maxCPU returns the most CPU that each VM uses: the larger of its present and its next cap.
// A throttled vjob drops to its next cap within moments.
func (p powering) maxCPU(caps map[cluster.VJobID][]cluster.MilliCPU) map[cluster.VMID]cluster.MilliCPU {
	most := map[cluster.VMID]cluster.MilliCPU{}
	for i := range p.VJobs {
		job := p.VJobs[i].Job
		share, given := caps[job.ID]
		for rank := range job.VMs {
			id := job.VMs[rank].ID
			switch {
			case given && p.throttled[job.ID]:
				most[id] = share[rank]
			case given:
				most[id] = max(share[rank], p.facts.Bookings.Cap(id))
			default:
				most[id] = p.facts.Bookings.Cap(id)
			}
		}
	}
	return most
}
