package simclock_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/journal"
	"vjob/scheduler"
	"vjob/scheduler/admission"
)

// later submits vjobs of one VM that become busy after ten minutes, with a mode of moves.
func (p *plant) later(n int, mode cluster.MoveMode) (list []cluster.VJobID) {
	p.t.Helper()
	for range n {
		p.run(time.Second) // its name is the time
		job, err := p.shell.Submit(admission.Submission{
			Owner: "u", Terms: cluster.Terms{Moves: mode},
			VMs: []cluster.VM{{
				Reserved: cluster.Resources{CPU: 200, Memory: 128},
				Payload:  &cluster.Payload{Image: "simulated", Program: &cluster.Program{Steps: []cluster.Step{{CPU: 50, Duration: 10 * time.Minute}, {CPU: 500, Duration: 5 * time.Hour}}}},
			}},
		})
		if err != nil {
			p.t.Fatal(err)
		}
		list = append(list, job.ID)
	}
	return list
}

// at returns the node of the first VM of a vjob.
func (p *plant) at(id cluster.VJobID) cluster.NodeID {
	return p.shell.Snapshot().VJob(id).Gang.Members[0].Node
}

// moved returns the vjobs that have left n1.
func (p *plant) moved(list ...cluster.VJobID) (left []cluster.VJobID) {
	for _, id := range list {
		if p.at(id) != "n1" {
			left = append(left, id)
		}
	}
	return left
}

// VMs of a vjob that never moves stay on a crowded node, which says so; they leave it when it is drained.
func TestHeldVMsStay(t *testing.T) {
	p := switchable(t, nil, balanced)
	held, free := p.later(6, cluster.MovesNever), p.later(2, cluster.MovesAutomatic)
	p.run(3 * time.Hour)
	if left := p.moved(held...); len(left) > 0 {
		t.Errorf("vjobs %v have moved: %s", left, p.where())
	}
	if left := p.moved(free...); len(left) != 2 {
		t.Errorf("of %v only %v have moved", free, left)
	}
	now := p.shell.Snapshot().Balance
	if len(now.Held) != 1 || !now.Held[0].Over || !strings.Contains(now.Held[0].Why, "6 fixed: held by its owner (never)") {
		t.Errorf("%+v", now.Held)
	}
	if err := p.shell.SetNode("n1", cluster.Draining, "root"); err != nil {
		t.Fatal(err)
	}
	p.run(10 * time.Minute)
	if left := p.moved(held...); len(left) != 6 {
		t.Errorf("only %v have left a drained node", left)
	}
}

// Where moves are automatic those of manual vjobs wait for approval, while others begin.
func TestManualMovesWaitBesideOthers(t *testing.T) {
	p := switchable(t, nil, balanced)
	manual, free := p.later(6, cluster.MovesManual), p.later(2, cluster.MovesAutomatic)
	p.run(6 * time.Minute)
	if list := p.pending(); !slices.ContainsFunc(list, func(r journal.Recommendation) bool {
		return slices.ContainsFunc(r.Prerequisites, func(q journal.Prerequisite) bool { return q.Plan != 0 })
	}) {
		t.Errorf("nothing waits for the context switch that moves the others: %+v", list)
	}
	p.run(84 * time.Minute)
	if left := p.moved(manual...); len(left) > 0 {
		t.Fatalf("vjobs %v have moved without approval: %s", left, p.where())
	}
	if left := p.moved(free...); len(left) != 2 {
		t.Errorf("of %v only %v have moved", free, left)
	}
	now := p.shell.Snapshot().Balance
	if !strings.Contains(now.Why, "moves that wait for approval") || len(now.Waiting) == 0 || len(now.Held) != 1 || !strings.Contains(now.Held[0].Why, "its moves wait for approval (manual)") {
		t.Errorf("%+v", now)
	}
	list := p.pending()
	if len(list) < 2 {
		t.Fatalf("%+v", list)
	}
	for _, r := range list {
		for _, m := range r.Moves {
			if r.Kind != journal.RecommendBalance || !slices.Contains(manual, m.VM.VJob) || r.Before.Imbalance <= r.After.Imbalance {
				t.Errorf("%+v", r)
			}
		}
		if err := p.shell.Approve(r.ID, "root"); err != nil {
			t.Fatal(err)
		}
	}
	p.run(5 * time.Minute)
	if got := p.shell.Snapshot().Balance.Moved; got != p.switches() || got < 4 {
		t.Errorf("%d moves are counted, %d were made", got, p.switches())
	}
	for _, r := range list {
		for _, m := range r.Moves {
			if at := p.at(m.VM.VJob); at != m.To {
				t.Errorf("%s runs on %s", m, at)
			}
		}
	}
}

// A vjob that is held from now on takes back what is recommended for it; one that is held no longer moves.
func TestMoveModeChanges(t *testing.T) {
	p := switchable(t, nil, balanced)
	list := p.later(8, cluster.MovesManual)
	p.run(40 * time.Minute)
	first := p.pending()[0]
	change := func(id cluster.VJobID, mode cluster.MoveMode) error {
		return p.shell.SetMoves(scheduler.MoveModeChange{VJob: id, Moves: mode, By: "u"})
	}
	id := first.Moves[0].VM.VJob
	if err := change(id, cluster.MovesNever); err != nil {
		t.Fatal(err)
	}
	p.run(time.Second)
	all := p.store.Recommendations()
	at := slices.IndexFunc(all, func(r journal.Recommendation) bool { return r.ID == first.ID })
	if r := all[at]; r.State != journal.RecommendationSuperseded || !strings.Contains(r.Note, "is held by its owner (never)") {
		t.Errorf("%+v", r)
	}
	for _, id := range list {
		if err := change(id, cluster.MovesNever); err != nil {
			t.Fatal(err)
		}
	}
	p.run(time.Hour)
	if got := p.where(); got != "n1:8 n2:0 n3:0 n4:0" || len(p.pending()) > 0 {
		t.Errorf("%s: %+v", got, p.pending())
	}
	p.shell.Kill()
	p.run(20 * time.Minute)
	if got := p.where(); got != "n1:8 n2:0 n3:0 n4:0" {
		t.Errorf("after a restart: %s", got)
	}
	for _, id := range list {
		if err := change(id, cluster.MovesAutomatic); err != nil {
			t.Fatal(err)
		}
	}
	p.run(90 * time.Minute)
	if got := p.where(); got != "n1:2 n2:2 n3:2 n4:2" {
		t.Errorf("%s", got)
	}
	if err := change(99, cluster.MovesNever); !errors.Is(err, cluster.ErrNotFound) {
		t.Errorf("an unknown vjob: %v", err)
	}
}

// What is recommended for a vjob cannot be approved once it is held.
func TestHeldVMsAreNotApproved(t *testing.T) {
	p := switchable(t, nil, balanced, manual(journal.RecommendBalance))
	p.later(8, cluster.MovesAutomatic)
	p.run(40 * time.Minute)
	r := p.pending()[0]
	if err := p.shell.SetMoves(scheduler.MoveModeChange{VJob: r.Moves[0].VM.VJob, Moves: cluster.MovesNever, By: "u"}); err != nil {
		t.Fatal(err)
	}
	if err := p.shell.Approve(r.ID, "root"); err == nil {
		t.Error("it is approved")
	}
	p.run(time.Minute)
	if got := p.where(); got != "n1:8 n2:0 n3:0 n4:0" {
		t.Errorf("moved: %s", got)
	}
}

// Consolidation leaves a vjob that never moves where it is, and asks for one that is manual.
func TestConsolidationHeedsMoveModes(t *testing.T) {
	for _, mode := range []cluster.MoveMode{cluster.MovesNever, cluster.MovesManual} {
		p := switchable(t, nil, saving)
		first := p.hour(2)
		p.run(time.Second)
		p.hour(4)
		p.run(time.Minute)
		for id := first; id <= first+1; id++ {
			if err := p.shell.SetMoves(scheduler.MoveModeChange{VJob: id, Moves: mode, By: "u"}); err != nil {
				t.Fatal(err)
			}
		}
		p.run(14 * time.Minute)
		if err := p.shell.Order(first, scheduler.OrderDelete, "u"); err != nil {
			t.Fatal(err)
		}
		p.run(20 * time.Minute)
		if got := p.where(); got != "n1:0 n2:2 n3:2 n4:0" {
			t.Fatalf("%s: moved: %s", mode, got)
		}
		switch list := p.pending(); {
		case mode == cluster.MovesNever && len(list) > 0:
			t.Errorf("never: %+v", list)
		case mode == cluster.MovesManual:
			r := p.recommended(journal.RecommendationPending)
			if r.Kind != journal.RecommendConsolidate {
				t.Fatalf("%+v", r)
			}
			if err := p.shell.Approve(r.ID, "root"); err != nil {
				t.Fatal(err)
			}
			p.run(2 * time.Minute)
			if got := p.where(); got != "n1:2 n2:0 n3:2 n4:0" {
				t.Errorf("approved: %s", got)
			}
		}
	}
}
