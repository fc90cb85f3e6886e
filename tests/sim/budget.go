package sim

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/journal"
	"vjob/energy"
	"vjob/energy/budget"
	"vjob/energy/consolidate"
	"vjob/hypervisor/simulated"
	"vjob/scheduler"
	"vjob/scheduler/improve"
)

// Every third run has a power budget: enough for one vjob of four VMs at its least share and a
// node that boots. The budget changes every few minutes.
const (
	rationedRuns = 3
	simPerCPU    = 50 // watts
)

func (o *Options) rationed() bool { return o.Seed%rationedRuns == 1 }

// wiring returns the rack and the PDU of a node. One PDU feeds nodes of both racks, so that
// the groups overlap.
func wiring(node int) map[string]string {
	return map[string]string{"rack": []string{"r1", "r1", "r2"}[min(node, 2)], "pdu": []string{"p1", "p2", "p2", "p1"}[min(node, 3)]}
}

// wired are the groups with a budget, in every second run with budgets.
var wired = []budget.Group{{Label: "rack", Value: "r1"}, {Label: "pdu", Value: "p2"}}

// ration gives the scheduler of a run its power budget, if the run has one.
func (r *run) ration(settings *scheduler.Settings) {
	if !r.opts.rationed() {
		return
	}
	chance := rand.New(rand.NewPCG(r.opts.Seed, 0xb0d6e7))
	settings.Energy.Power = map[cluster.NodeID]energy.Power{}
	nodes := r.cluster.Nodes()
	power := r.opts.power()
	for i, n := range nodes {
		settings.Energy.Power[n.ID] = r.opts.powerOf(i)
	}
	r.consolidate(settings, chance)
	least := energy.Watts(len(nodes))*power.Idle + 4*simPerCPU*simFloor + max(0, power.On.Power()-power.Idle)
	lines := []budget.Budget{{Watts: least + energy.Watts(chance.IntN(300))}}
	at := r.cluster.Now().UTC()
	for range 3 {
		from := at.Add(time.Duration(3+chance.IntN(6)) * time.Minute)
		at = from.Add(time.Duration(2+chance.IntN(4)) * time.Minute)
		lines = append(lines, budget.Budget{Watts: least + energy.Watts(chance.IntN(100)), When: from.Format("15:04") + "-" + at.Format("15:04")})
	}
	if r.opts.Seed/rationedRuns%2 == 1 {
		for _, g := range wired {
			others := slices.DeleteFunc(slices.Clone(nodes), func(n cluster.Node) bool { return g.Has(n.Labels) })
			lines = append(lines, budget.Budget{Group: g, Watts: least - energy.Watts(len(others))*power.Idle + energy.Watts(chance.IntN(100))})
		}
	}
	book, err := budget.New(time.UTC, lines)
	if err != nil {
		panic(fmt.Sprintf("budgets of seed %d: %v", r.opts.Seed, err))
	}
	settings.Budgets = book
	r.book = book
}

// withinBudget checks that the nodes draw no more than the budget. It does so only in runs
// without faults, since an unreachable node cannot be capped.
func (r *run) withinBudget() {
	if !r.opts.quiet() || r.opts.Crashes > 0 || r.opts.CrashAt > 0 {
		return
	}
	for _, l := range r.book.At(r.cluster.Now()) {
		sum := energy.Watts(0)
		for i, n := range r.cluster.Truth().Nodes {
			if l.Group.Has(wiring(i)) {
				power := r.opts.powerOf(i)
				sum += truePower(&power, &n)
			}
		}
		if sum > l.Watts+1e-6 {
			r.check.violate(23, "%s draws %s, its budget is %s", l.Group.Name(), sum, l.Watts)
		}
	}
}

// energy checks that the energy that nodes spent on vjobs is the energy charged to vjobs.
func (k *Checker) energy(step *journal.Step) {
	left := int64(0)
	for _, h := range step.NodeHours {
		left += h.Millijoules - h.Unused
	}
	for _, h := range step.VJobHours {
		left -= h.Millijoules
	}
	if left != 0 {
		k.violate(24, "nodes have drawn %d mJ more for vjobs than was charged to vjobs", left)
	}
}

// truePower returns the power that a node really draws.
func truePower(power *energy.Power, n *simulated.TrueNode) energy.Watts {
	switch {
	case n.Boots:
		return power.On.Power()
	case slices.Contains(n.Faults, simulated.PowerLoss):
		return power.Standby
	default:
		return power.At(float64(n.CPUUsed) / float64(n.Capacity.CPU))
	}
}

// power returns the power model of the nodes of a run. By the seed, a booting node draws less
// than an idle one, or more than a node with one VM, or more than any other node.
func (o *Options) power() energy.Power {
	p := energy.Power{Idle: 50, Full: 50 + 2*simPerCPU, Standby: 4}
	p.On = energy.Switch{Time: simulated.DefaultBoot, Energy: []energy.Watts{30, 110, 170}[o.Seed/rationedRuns%3].Over(simulated.DefaultBoot)}
	return p
}

// thrifty reports whether the run consolidates VMs to save power.
func (o *Options) thrifty() bool { return o.rationed() && o.Seed/rationedRuns%4 < 2 }

// powerOf returns the power model of a node. In thrifty runs every other node draws less for
// its load.
func (o *Options) powerOf(node int) energy.Power {
	p := o.power()
	if o.thrifty() && node%2 == 1 {
		p.Full -= simPerCPU
	}
	return p
}

// consolidate lets VMs of a thrifty run move often and for a small saving, under each way to
// distribute CPU shares.
func (r *run) consolidate(settings *scheduler.Settings, chance *rand.Rand) {
	if !r.opts.thrifty() {
		return
	}
	switch chance.IntN(3) {
	case 1:
		settings.Energy.Yield = 0.8
	case 2:
		settings.Energy.Lambda = 0.6
	}
	settings.Improve.Consolidation = &improve.ConsolidationSettings{
		Criteria: consolidate.Criteria{Horizon: time.Duration(1+chance.IntN(5)) * time.Minute, Factor: 1, MinSaving: 1}, Every: 20 * time.Second,
	}
}

// simFloor is the least CPU share of vjobs in runs with a power budget.
const simFloor = 0.5
