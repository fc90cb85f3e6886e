package simclock_test

import (
	"strings"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/energy"
	"vjob/energy/budget"
	"vjob/energy/power/cycle"
	"vjob/scheduler"
)

// draws sets the power of every node to 50 W idle, 150 W full, 4 W off and 170 W at boot, and
// the budget of all nodes.
func draws(most energy.Watts) func(*scheduler.Settings) {
	return func(set *scheduler.Settings) {
		boot := energy.Switch{Time: 2 * time.Minute, Energy: energy.Watts(170).Over(2 * time.Minute)}
		set.Energy.Power = map[cluster.NodeID]energy.Power{}
		for _, id := range set.Switching.Nodes {
			set.Energy.Power[id] = energy.Power{Idle: 50, Full: 150, Standby: 4, On: boot}
		}
		book, err := budget.New(time.UTC, []budget.Budget{{Watts: most}})
		if err != nil {
			panic(err)
		}
		set.Budgets = book
	}
}

// Four idle nodes draw 200 W, so nothing could run under a budget of 190 W. Nodes go off until
// all vjobs can run.
func TestNodesGoOffForTheirIdlePower(t *testing.T) {
	p := switchable(t, managed(), draws(190))
	job := p.hour(1)
	p.run(time.Second)
	if why := p.shell.Snapshot().VJob(job).Reason; p.state(job) != cluster.Waiting || !strings.Contains(why, "the power budget of the cluster is 190 W") {
		t.Fatalf("it is %s: %s", p.state(job), why)
	}
	p.run(3 * time.Minute)
	if p.state(job) != cluster.Running || p.count(cycle.Off) != 2 {
		t.Fatalf("it is %s: %s; %d nodes are off", p.state(job), p.shell.Snapshot().VJob(job).Reason, p.count(cycle.Off))
	}
	if p.run(2 * time.Hour); p.state(job) != cluster.Terminated {
		t.Errorf("it is %s", p.state(job))
	}
}

// A booting node draws 170 W. It is switched on for a waiting vjob once the budget has that
// much left beside the floors of running vjobs, which all keep running.
func TestNodesComeOnWithinTheBudget(t *testing.T) {
	for _, c := range []struct {
		most  energy.Watts
		early bool
	}{{300, true}, {278, true}, {277, false}} {
		p := switchable(t, managed(), draws(c.most))
		small := p.hour(1)
		p.run(15 * time.Minute)
		if p.count(cycle.Off) != 3 || p.state(small) != cluster.Running {
			t.Fatalf("%s: %d are off, the vjob is %s", c.most, p.count(cycle.Off), p.state(small))
		}
		before := len(p.presses)
		large := p.hour(2)
		p.run(10 * time.Minute)
		if on := len(p.presses) > before; on != c.early || (p.state(large) == cluster.Running) != on || p.state(small) != cluster.Running {
			t.Errorf("%s: a node comes on: %v; the vjob is %s: %s", c.most, on, p.state(large), p.shell.Snapshot().VJob(large).Reason)
		}
		if p.run(3 * time.Hour); p.state(large) != cluster.Terminated {
			t.Errorf("%s: after the other has ended it is %s: %s", c.most, p.state(large), p.shell.Snapshot().VJob(large).Reason)
		}
	}
}
