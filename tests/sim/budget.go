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
)

// Every third run has a power budget: what one vjob of four VMs takes at its floor beside a
// node that boots, and more by the minute.
const (
	rationedRuns = 3
	simPerCPU    = 50 // watts
)

func (o *Options) rationed() bool { return o.Seed%rationedRuns == 1 }

// wiring is to what a node is wired: racks lie beside each other, and a PDU feeds the second
// half of the first one and the first half of the second.
func wiring(node int) map[string]string {
	return map[string]string{"rack": []string{"r1", "r1", "r2"}[min(node, 2)], "pdu": []string{"p1", "p2", "p2", "p1"}[min(node, 3)]}
}

// wired are the groups that have budgets in every second of these runs.
var wired = []budget.Group{{Label: "rack", Value: "r1"}, {Label: "pdu", Value: "p2"}}

// ration gives the scheduler of a run a budget, if it is one of those.
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

// withinBudget checks that the nodes truly draw no more than they may, where nothing goes
// wrong: a node that cannot be reached cannot be capped either.
func (r *run) withinBudget() {
	if !r.opts.quiet() || r.opts.Crashes > 0 || r.opts.CrashAt > 0 {
		return
	}
	for _, l := range r.book.At(r.cluster.Now()) {
		sum := energy.Watts(0)
		for i, n := range r.cluster.Truth().Nodes {
			if power := r.opts.powerOf(i); l.Group.Has(wiring(i)) {
				sum += truly(&power, &n)
			}
		}
		if sum > l.Watts+1e-6 {
			r.check.violate(23, "%s draws %s, its budget is %s", l.Group.Name(), sum, l.Watts)
		}
	}
}

// energy checks that what nodes have drawn for vjobs is what vjobs have drawn.
func (k *Checker) energy(step *journal.Step) {
	left := int64(0)
	for _, h := range step.NodeHours {
		left += h.Millijoules - h.Unused
	}
	for _, h := range step.VJobHours {
		left -= h.Millijoules
	}
	if left != 0 {
		k.violate(24, "nodes have drawn %d mJ more for vjobs than vjobs have drawn", left)
	}
}

// truly is what a node draws, whatever anybody believes.
func truly(power *energy.Power, n *simulated.TrueNode) energy.Watts {
	switch {
	case n.Boots:
		return power.On.Power()
	case slices.Contains(n.Faults, simulated.PowerLoss):
		return power.Standby
	default:
		return power.At(float64(n.CPUUsed) / float64(n.Capacity.CPU))
	}
}

// power is what every node of a run draws. One that boots draws less than an idle one, or
// more than one with a VM on it, or more than any.
func (o *Options) power() energy.Power {
	p := energy.Power{Idle: 50, Full: 50 + 2*simPerCPU, Standby: 4}
	p.On = energy.Switch{Time: simulated.DefaultBoot, Energy: []energy.Watts{30, 110, 170}[o.Seed/rationedRuns%3].Over(simulated.DefaultBoot)}
	return p
}

// thrifty reports whether VMs of a run move to where they draw less.
func (o *Options) thrifty() bool { return o.rationed() && o.Seed/rationedRuns%4 < 2 }

// powerOf is what a node draws. In thrifty runs every other one draws less for its load.
func (o *Options) powerOf(node int) energy.Power {
	p := o.power()
	if o.thrifty() && node%2 == 1 {
		p.Full -= simPerCPU
	}
	return p
}

// consolidate has VMs of a thrifty run move for next to nothing, and often, under all ways to
// deal out shares.
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
	settings.Consolidation = &scheduler.ConsolidationSettings{
		Terms: consolidate.Terms{Horizon: time.Duration(1+chance.IntN(5)) * time.Minute, Factor: 1, MinSaving: 1}, Every: 20 * time.Second,
	}
}

// simFloor is with how much of their CPU vjobs are content in such a run.
const simFloor = 0.5
