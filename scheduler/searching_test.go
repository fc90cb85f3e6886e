package scheduler_test

import (
	"slices"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/hypervisor"
	"vjob/scheduler"
	"vjob/scheduler/balance"
	"vjob/scheduler/improve"
)

// What happens while a search for moves is made beside the core, and what is begun after that. The search is to move VMs of vjob 1 off
// node n0000.
func TestWhileASearchIsMade(t *testing.T) {
	small := cluster.Resources{CPU: cluster.CPU, Memory: 1024}
	nothing := func(*rig) error { return nil }
	for _, c := range []struct {
		name      string
		mode      cluster.MoveMode // of vjob 1, before the search
		meanwhile func(r *rig) error
		moves     bool
	}{
		{"nothing", cluster.MovesAutomatic, nothing, true},
		{"a vjob comes that waits", cluster.MovesAutomatic, func(r *rig) error {
			r.core.VJobs.Submitted(r.now, latecomer(2, 40, small))
			return nil
		}, true},
		{"its VMs demand less", cluster.MovesAutomatic, func(r *rig) error { // the search is on the facts from before
			less := r.views["n0000"]
			less.Copies = slices.Clone(less.Copies)
			for i := range less.Copies {
				less.Copies[i].CPU = 1
			}
			r.views["n0000"] = less
			r.core.Looked(r.now, "n0000", less, nil)
			return nil
		}, true},
		{"its owner has it stay", cluster.MovesAutomatic, func(r *rig) error {
			return r.core.VJobs.SetMoves(r.now, scheduler.MoveModeChange{VJob: 1, Moves: cluster.MovesNever, By: "u"})
		}, false},
		{"it is deleted", cluster.MovesAutomatic, func(r *rig) error { return r.core.VJobs.Order(r.now, 1, scheduler.OrderDelete, "u") }, false},
		{"its moves wait for approval", cluster.MovesManual, nothing, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			set := settings()
			set.Live = true
			set.Improve = improve.Settings{Balance: &improve.BalanceSettings{Settings: balance.Default, Every: 10 * time.Second}, Placement: improve.Spread}
			l := state(4, 0)
			l.VJobs[0].Moves = c.mode
			for rank := range l.Gangs[0].Members {
				l.Gangs[0].Members[rank].Node, l.VJobs[0].VMs[rank].Reserved.Memory = "n0000", 16 // only CPU matters
			}
			r := mount(t, set, l)
			r.drain()
			if len(r.plans) > 0 {
				t.Fatalf("VMs without locks are moved:\n%s", r.plans[0].Plan.String())
			}
			crowded := r.views["n0000"]
			for i := range crowded.Copies {
				crowded.Copies[i].Lock, crowded.Copies[i].State, crowded.Copies[i].CPU = true, hypervisor.CopyRunning, 1250
			}
			r.core.Looked(r.now, "n0000", crowded, nil)
			r.drain()
			r.took(time.Second)
			r.ponders = true
			r.at(11 * time.Second)
			if r.beside == nil || len(r.plans) > 0 {
				t.Fatalf("%d plans, and a search under way: %t", len(r.plans), r.beside != nil)
			}
			if err := c.meanwhile(r); err != nil {
				t.Fatal(err)
			}
			r.at(12 * time.Second)
			r.ponders = false
			r.decided()
			if plans := r.core.Flush(r.now).Step.Plans; len(plans) > 0 != c.moves { // at once: not by another search
				t.Errorf("%d plans; one is expected: %t", len(plans), c.moves)
			}
			if b := r.core.Snapshot().Balance; c.moves && (b.Moved == 0 || !b.At.Equal(r.now)) {
				t.Errorf("%d VMs were moved, at %s: %+v", b.Moved, b.At, b)
			}
		})
	}
}
