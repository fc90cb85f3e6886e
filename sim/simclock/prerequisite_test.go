package simclock_test

import (
	"testing"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/journal"
	"vjob/scheduler"
	"vjob/scheduler/admission"
)

// approveAll approves what waits.
func (p *plant) approveAll() {
	p.t.Helper()
	for _, r := range p.pending() {
		if err := p.shell.Approve(r.ID, "root"); err != nil {
			p.t.Fatal(err)
		}
	}
	p.run(time.Minute)
}

// A start that needs room on a node names the moves that make it; approved, it follows them.
func TestStartsNeedMoves(t *testing.T) {
	p := switchable(t, nil, manual(journal.RecommendStart))
	var jobs []cluster.VJobID
	for range 8 {
		p.run(time.Second)
		jobs = append(jobs, p.hour(1))
	}
	p.run(time.Minute)
	p.approveAll()
	on := map[cluster.NodeID]int{}
	for _, id := range jobs { // one stays on each node
		if on[p.at(id)]++; on[p.at(id)] == 1 {
			continue
		}
		if err := p.shell.Order(id, scheduler.OrderDelete, "u"); err != nil {
			t.Fatal(err)
		}
	}
	p.run(time.Minute)
	if got := p.where(); got != "n1:1 n2:1 n3:1 n4:1" {
		t.Fatal(got)
	}
	large, err := p.shell.Submit(admission.Submission{Owner: "u", Name: "large", VMs: []cluster.VM{{
		Reserved: cluster.Resources{CPU: 2000, Memory: 256},
		Payload:  &cluster.Payload{Image: "simulated", Program: &cluster.Program{Steps: []cluster.Step{{CPU: 500, Duration: time.Hour}}}},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	p.run(time.Minute)
	r := p.recommended(journal.RecommendationPending)
	if len(r.Prerequisites) != 1 || r.Prerequisites[0].VJob != large.ID || len(r.Prerequisites[0].Moves) != 1 || r.Prerequisites[0].Moves[0].From != r.Moves[0].To {
		t.Fatalf("%+v", r)
	}
	p.approveAll()
	if got := p.shell.Snapshot().VJob(large.ID).State; got != cluster.Running {
		t.Errorf("it is %s: %s", got, p.where())
	}
}

// A node goes off after the last VM has left it.
func TestOffAfterMoves(t *testing.T) {
	p := scattered(t, "")
	p.run(30 * time.Minute)
	n := 0
	for _, r := range p.store.Recommendations() {
		for _, node := range r.Off {
			leaves := 0
			for _, q := range r.Prerequisites {
				if q.Off != node {
					continue
				}
				for _, m := range q.Moves {
					if leaves++; m.From != node {
						t.Errorf("%s goes off after %s", node, m)
					}
				}
			}
			if r.Kind == journal.RecommendConsolidate {
				if n++; leaves == 0 {
					t.Errorf("%s goes off after nothing: %+v", node, r)
				}
			}
		}
	}
	if n == 0 {
		t.Errorf("no node goes off: %+v", p.store.Recommendations())
	}
}
