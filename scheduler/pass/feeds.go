package pass

import (
	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/energy/budget"
	"vjob/energy/ration"
	"vjob/hypervisor"
)

// feeds are the budgets of groups of nodes as places have to leave them: who comes to a
// rack that has no power left would be turned back, though there may be room and power in
// the next one. The budget of the whole cluster is no question of places.
func (p *Picture) feeds() *ctxswitch.Feeds {
	f := &ctxswitch.Feeds{Least: map[cluster.VMID]int64{}}
	for _, l := range p.Limits {
		if l.Group != (budget.Group{}) {
			f.List = append(f.List, p.feed(&l))
		}
	}
	if len(f.List) == 0 || len(p.settings.Energy.Power) == 0 {
		return nil
	}
	for i := range p.VJobs {
		job := p.VJobs[i].Job
		floor := floorOf(job)
		for k := range job.VMs {
			vm := &job.VMs[k]
			f.Least[vm.ID] = int64(1000 * floor * float64(max(vm.Reserved.CPU, hypervisor.LeastCap)))
		}
	}
	return f
}

func (p *Picture) feed(l *budget.Limit) ctxswitch.Feed {
	f := ctxswitch.Feed{Name: l.Group.Name(), Watts: l.Watts, Nodes: map[cluster.NodeID]ration.Node{}}
	for _, n := range p.intended.Nodes() {
		if power, known := p.settings.Energy.Power[n.ID]; known && l.Group.Has(n.Labels) {
			f.Nodes[n.ID] = p.site(&n, power)
		}
	}
	return f
}
