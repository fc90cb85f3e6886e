package decide

import (
	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/energy"
)

// delayForPower delays the actions of a plan until the power that they need is free, so that
// the limits hold during the plan. Power of actions already under way is left to the executor,
// which checks it for each call.
func (p *View) delayForPower(plan ctxswitch.Plan, caps map[cluster.VJobID][]cluster.MilliCPU) ctxswitch.Plan {
	if len(p.Limits) == 0 || len(p.settings.Energy.Power) == 0 || plan.Empty() {
		return plan
	}
	return ctxswitch.KeepBudgets(ctxswitch.Problem{Current: p.current, Power: p.planPower(caps)}, plan)
}

// planPower returns what nodes and VMs draw while a plan is carried out, and the limits.
func (p *View) planPower(caps map[cluster.VJobID][]cluster.MilliCPU) *ctxswitch.Power {
	w := &ctxswitch.Power{
		Idle: map[cluster.NodeID]energy.Watts{}, Slope: map[cluster.NodeID]energy.Watts{}, Most: p.maxCPU(caps),
		Limits: make([]ctxswitch.PowerLimit, len(p.Limits)),
	}
	for i, l := range p.Limits {
		w.Limits[i] = ctxswitch.PowerLimit{Name: l.Group.Name(), Watts: l.Watts}
	}
	for _, n := range p.current.Nodes() {
		power, known := p.settings.Energy.Power[n.ID]
		if !known {
			continue
		}
		w.Idle[n.ID] = max(power.Idle, p.least[n.ID])
		if p.off[n.ID] {
			w.Idle[n.ID] = max(power.Standby, p.least[n.ID])
		}
		w.Slope[n.ID] = power.Steepest() * energy.Watts(cluster.CPU) / energy.Watts(max(n.Capacity.CPU, 1))
		for i := range p.Limits {
			if p.Limits[i].Group.Has(n.Labels) {
				w.Limits[i].Nodes = append(w.Limits[i].Nodes, n.ID)
			}
		}
	}
	return w
}

// maxCPU returns the most CPU that each VM uses: the larger of its present and its next cap.
// A throttled vjob drops to its next cap within moments.
func (p *View) maxCPU(caps map[cluster.VJobID][]cluster.MilliCPU) map[cluster.VMID]cluster.MilliCPU {
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
				most[id] = max(share[rank], p.books.Cap(id))
			default:
				most[id] = p.books.Cap(id)
			}
		}
	}
	return most
}
