package decide

import (
	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/energy"
)

// delayForPower has the actions of a plan wait for the power that others give up, so that the
// limits are not only kept at its end. What nobody has to plan for, since it is under way
// already, is left to the executor, which asks for the power of each call.
func (p *View) delayForPower(plan ctxswitch.Plan, caps map[cluster.VJobID][]cluster.MilliCPU) ctxswitch.Plan {
	if len(p.Limits) == 0 || len(p.settings.Energy.Power) == 0 || plan.Empty() {
		return plan
	}
	return ctxswitch.Within(ctxswitch.Problem{Current: p.current, Power: p.planPower(caps)}, plan)
}

// planPower is what nodes and VMs draw while a plan is carried out, and may.
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

// maxCPU is the CPU that VMs use at most: what they are about to get, and until then what
// they have. Those that have to stop for a budget get next to nothing within moments.
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
				most[id] = max(share[rank], p.books.Most(id))
			default:
				most[id] = p.books.Most(id)
			}
		}
	}
	return most
}
