package energy_test

import (
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/ctxswitch/execute"
	"vjob/ctxswitch/journal"
	"vjob/daemon/settings"
	"vjob/energy"
	"vjob/energy/budget"
	"vjob/energy/consolidate"
	"vjob/energy/dpm"
	"vjob/energy/power/cycle"
	"vjob/hypervisor/simulated"
	"vjob/queue"
	"vjob/scheduler"
	"vjob/scheduler/decide"
	"vjob/scheduler/improve"
	"vjob/scheduler/nodepower"
	"vjob/sim/simclock"
	"vjob/tests/simstore"
)

// Nodes of two generations, by turns: what draws most for its work is not what is switched
// off first.
var generations = [2]energy.Power{
	{Idle: 80, Full: 300, Standby: 5, On: energy.Switch{Time: 2 * time.Minute, Energy: 20000}, Off: energy.Switch{Time: 30 * time.Second, Energy: 3000}},
	{Idle: 45, Full: 165, Standby: 5, On: energy.Switch{Time: 2 * time.Minute, Energy: 12000}, Off: energy.Switch{Time: 30 * time.Second, Energy: 2000}},
}

var (
	dayRank = flag.Int("rank", 0, "with -full, the day before which so many have more work in them")
	dayName = flag.String("thrift", "", "with -full, only runs with this in their names")
)

// thrift is how a day is run.
type thrift struct {
	name        string
	policy      queue.Policy
	energy      decide.Energy
	lines       []budget.Budget
	alike       bool // all nodes are of the first generation
	manage      bool
	consolidate bool
}

// newThriftyDay is a day on nodes of two generations.
func newThriftyDay(t *testing.T, h *thrift) *day {
	t.Helper()
	book, err := budget.New(time.UTC, h.lines)
	if err != nil {
		t.Fatal(err)
	}
	d := &day{t: t, store: simstore.Open(t), book: book, power: map[cluster.NodeID]energy.Power{}}
	config := simulated.Config{Profile: simulated.Thesis, Locks: true, Seed: 1}
	set := nodepower.ControllerSettings{Limits: cycle.DefaultLimits, Reply: time.Second}
	for i := range dayNodes {
		id := cluster.NodeID(fmt.Sprintf("n%02d", i+1))
		config.Nodes = append(config.Nodes, simulated.Node{ID: id, Capacity: cluster.Resources{CPU: 4 * cluster.CPU, Memory: 4 * cluster.GiB}})
		d.power[id], set.Nodes = generations[i%2], append(set.Nodes, id)
		if h.alike {
			d.power[id] = generations[0]
		}
	}
	d.cluster = simulated.New(config)
	e := execute.DefaultSettings
	e.Costs = settings.SimulatedCosts(simulated.Thesis)
	d.since = d.cluster.Now()
	h.energy.Power = d.power
	loop := scheduler.Settings{
		Settings: decide.Settings{Execute: e, Policy: h.policy, Planner: ctxswitch.Repacker{}, Backoff: 5 * time.Second, Live: true, Energy: h.energy},
		Rest:     time.Second, Budgets: book,
	}
	if h.manage {
		loop.Switching = set
		loop.NodePower = &nodepower.PolicySettings{Settings: dpm.Default, Every: 5 * time.Minute, Boot: 2 * time.Minute}
	}
	if h.consolidate {
		loop.Improve.Consolidation = &improve.ConsolidationSettings{Criteria: consolidate.Default, Every: 10 * time.Minute, Always: true}
	}
	d.shell, err = simclock.New(simclock.Config{
		Settings: loop, Cluster: d.cluster, Store: d.store,
		Committed: func(_ time.Time, step journal.Step) { d.committed(&step) },
	})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// draws is what a node truly draws.
func (d *day) draws(n *simulated.TrueNode) energy.Watts {
	power, differs := d.power[n.ID]
	switch {
	case !differs:
		power = dayPower
	case n.Boots:
		return power.On.Power()
	case slices.Contains(n.Faults, simulated.PowerLoss):
		return power.Standby
	}
	return power.At(float64(n.CPUUsed) / float64(n.Capacity.CPU))
}

// What VMs' moving to where they draw less brings over a day, and what it costs in yield.
func TestADayOfThrift(t *testing.T) {
	jobs := dayOf(t, *dayRank)
	work, many := int64(0), len(jobs)
	for _, j := range jobs {
		work += j.Run * j.Processors
	}
	t.Logf("%d jobs, %d processor hours", many, work/3600)
	full := energy.Watts(0)
	for i := range dayNodes {
		full += generations[i%2].Full
	}
	night := []budget.Budget{{Watts: full}, {Watts: full / 2, When: "18:00-08:00"}}
	runs := []thrift{
		{name: "easy", policy: queue.EASY{}},
		{name: "easy, nodes switched", policy: queue.EASY{}, manage: true},
		{name: "firstfit", policy: queue.FirstFit{Count: queue.Observed}},
		{name: "firstfit, nodes switched", policy: queue.FirstFit{Count: queue.Observed}, manage: true},
		{name: "firstfit, nodes alike and switched", policy: queue.FirstFit{Count: queue.Observed}, alike: true, manage: true},
		{name: "bounded-power", policy: queue.FirstFit{Count: queue.Observed}, lines: night},
		{name: "bounded-power, nodes switched", policy: queue.FirstFit{Count: queue.Observed}, lines: night, manage: true},
		{name: "bounded-yield 0.8", policy: queue.FirstFit{Count: queue.Observed}, energy: decide.Energy{Yield: 0.8}, manage: true},
		{name: "mixed 0.5", policy: queue.FirstFit{Count: queue.Observed}, energy: decide.Energy{Lambda: 0.5}, manage: true},
	}
	if !*whole {
		jobs, runs = jobs[:len(jobs)/4], runs[3:4]
	}
	t.Log("| policy | moved | all jobs done | energy | of vjobs | yield | plans | VMs moved | reckoned |")
	for _, h := range runs {
		if !strings.Contains(h.name, *dayName) {
			continue
		}
		without := energy.Joules(0)
		for _, h.consolidate = range []bool{false, true} {
			d := newThriftyDay(t, &h)
			long := d.run(jobs)
			s := d.shell.Snapshot().Consolidation
			t.Logf("| %s | %v | %s | %.1f kWh | %.1f kWh | %.3f | %d | %d | %.1f for %.2f kWh |", h.name, h.consolidate, long.Round(time.Minute), d.joules.KWh(),
				energy.Joules(d.energyOfVJobs).KWh(), min(1, float64(d.got)/float64(d.wanted)), s.Switches, s.Moves, s.Saves.KWh(), s.Costs.KWh())
			if h.consolidate && !h.alike && (s.Moves == 0 || d.joules >= without) {
				t.Errorf("%s: %.1f kWh with %d VMs moved, %.1f kWh without", h.name, d.joules.KWh(), s.Moves, without.KWh())
			}
			without = d.joules
		}
	}
}
