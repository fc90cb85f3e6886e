package api

import (
	"vjob/api/wire"
	"vjob/queue/pool"
	"vjob/scheduler"
	"vjob/scheduler/decide"
)

// wireFigures returns the figures of one side; nil without a decision.
func wireFigures(f *scheduler.WhatIfFigures) *wire.WhatIfFigures {
	if f == nil {
		return nil
	}
	w := &wire.WhatIfFigures{
		Nodes: f.Nodes, Running: f.Running, Waiting: f.Waiting, Suspended: f.Suspended,
		Imbalance: f.Imbalance.Total, Loads: make([]wire.WhatIfLoad, len(f.Loads)),
		CPU: int64(f.Capacity.CPU), Memory: int64(f.Capacity.Memory), Demand: int64(f.Demand), Served: int64(f.Served),
		Pools: wireUse(f.Pools),
		Waits: wire.WhatIfWaits{
			Known: f.Waits.Known, Unknown: f.Waits.Unknown, Mean: f.Waits.Mean.Seconds(), Longest: f.Waits.Longest.Seconds(),
			Latest: instant(f.Waits.Latest),
		},
	}
	for i, l := range f.Loads {
		w.Loads[i] = wire.WhatIfLoad{Node: string(l.Node), CPU: l.CPU, Memory: l.Memory}
	}
	if p := f.Power; p != nil {
		w.Power = &wire.WhatIfPower{Watts: watts(p.Watts), Unknown: p.Unknown}
		for _, b := range p.Budgets {
			w.Power.Budgets = append(w.Power.Budgets, wire.WhatIfBudget{Group: b.Group, Most: watts(b.Most), Drawn: watts(b.Drawn)})
		}
	}
	if b := f.Balancing; b != nil {
		w.Balancing = &wire.WhatIfBalancing{
			Imbalance: b.After.Total, Moves: wireBalanceMoves(b.Moves), Makespan: b.Plan.Makespan.Seconds(), Why: b.Why,
		}
	}
	return w
}

// wireUse returns what pools demand and are entitled to.
func wireUse(pools []decide.PoolUse) (list []wire.WhatIfUse) {
	order := treeOrder(len(pools), func(i int) int { return pools[i].Parent })
	for _, i := range order {
		p := &pools[i]
		u := wire.WhatIfUse{
			Pool: p.Name, Depth: p.Depth, VMs: p.VMs, Demand: int64(p.Wanted), Entitlement: int64(p.Given.CPU),
			Memory: int64(p.Given.Memory), Satisfied: 1,
		}
		if i == 0 {
			u.Pool = pool.Root
		}
		if p.Wanted > 0 {
			u.Satisfied = float64(p.Given.CPU) / float64(p.Wanted)
		}
		list = append(list, u)
	}
	return list
}
