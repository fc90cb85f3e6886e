package sim

import (
	"fmt"
	"math/rand/v2"
	"time"

	"vjob/cluster"
	"vjob/energy"
	"vjob/energy/budget"
	"vjob/journal"
	"vjob/scheduler"
)

// Every third run in which no node is switched has a power budget: what one vjob of four VMs takes at its floor, and
// more by the minute.
const (
	rationedRuns = 3
	simPerCPU    = 50 // watts
)

func (o *Options) rationed() bool { return o.Seed%rationedRuns == 1 && !o.Power }

// ration gives the scheduler of a run a budget, if it is one of those.
func (r *run) ration(settings *scheduler.Settings) {
	if !r.opts.rationed() {
		return
	}
	chance := rand.New(rand.NewPCG(r.opts.Seed, 0xb0d6e7))
	settings.Energy.Power = map[cluster.NodeID]energy.Power{}
	nodes := r.cluster.Nodes()
	for _, n := range nodes {
		settings.Energy.Power[n.ID] = simPower
	}
	least := energy.Watts(len(nodes))*simPower.Idle + 4*simPerCPU*simFloor
	lines := []budget.Line{{Watts: least + energy.Watts(chance.IntN(300))}}
	at := r.cluster.Now().UTC()
	for range 3 {
		from := at.Add(time.Duration(3+chance.IntN(6)) * time.Minute)
		at = from.Add(time.Duration(2+chance.IntN(4)) * time.Minute)
		lines = append(lines, budget.Line{Watts: least + energy.Watts(chance.IntN(100)), When: from.Format("15:04") + "-" + at.Format("15:04")})
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
		for _, n := range r.cluster.Truth().Nodes {
			sum += simPower.At(float64(n.CPUUsed) / float64(n.Capacity.CPU))
		}
		if sum > l.Watts+1e-6 {
			r.check.violate(23, "%s are drawn, the budget is %s", sum, l.Watts)
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

var simPower = energy.Power{Idle: 50, Full: 50 + 2*simPerCPU}

// simFloor is with how much of their CPU vjobs are content in such a run.
const simFloor = 0.5
