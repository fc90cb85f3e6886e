package simclock_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/journal"
	"vjob/energy/power/cycle"
	"vjob/scheduler"
)

// manual makes changes of some kinds wait for approval.
func manual(kinds ...journal.RecommendationKind) func(*scheduler.Settings) {
	return func(set *scheduler.Settings) {
		set.Improve.Automation.Manual = map[journal.RecommendationKind]bool{}
		for _, k := range kinds {
			set.Improve.Automation.Manual[k] = true
		}
	}
}

// recommended returns the only recommendation in a state.
func (p *plant) recommended(state journal.RecommendationState) journal.Recommendation {
	p.t.Helper()
	list := slices.DeleteFunc(p.store.Recommendations(), func(r journal.Recommendation) bool { return r.State != state })
	if len(list) != 1 {
		p.t.Fatalf("%d are %s: %+v", len(list), state, p.store.Recommendations())
	}
	return list[0]
}

// crowded returns a plant on which two VMs on n2 would draw less on n1, with consolidation that asks.
func crowded(t *testing.T) (p *plant, moves cluster.VJobID) {
	t.Helper()
	p = switchable(t, nil, saving, manual(journal.RecommendConsolidate))
	first := p.hour(2)
	p.run(time.Second)
	p.hour(4)
	p.run(15 * time.Minute)
	if err := p.shell.Order(first, scheduler.OrderDelete, "u"); err != nil {
		t.Fatal(err)
	}
	p.run(10 * time.Minute)
	return p, first + 1
}

// Moves wait for approval, with what they save and cost; after it they are carried out as they were approved.
func TestApprovedMovesAreCarriedOut(t *testing.T) {
	p, _ := crowded(t)
	if got := p.where(); got != "n1:0 n2:2 n3:2 n4:0" {
		t.Fatalf("something was moved: %s", got)
	}
	r := p.recommended(journal.RecommendationPending)
	if r.Kind != journal.RecommendConsolidate || len(r.Moves) != 2 || r.Before.Watts-r.After.Watts != 200 || r.Benefit < 4*r.Cost || r.Cost <= 0 || !strings.Contains(r.Reason, "to save 200 W") {
		t.Errorf("%+v", r)
	}
	p.run(30 * time.Minute)
	if again := p.recommended(journal.RecommendationPending); again.ID != r.ID || !again.At.Equal(r.At) {
		t.Errorf("%+v became %+v", r, again)
	}
	if err := p.shell.Approve(r.ID, "root"); err != nil {
		t.Fatal(err)
	}
	p.run(2 * time.Minute)
	done := p.recommended(journal.RecommendationApplied)
	if got := p.where(); got != "n1:2 n2:0 n3:2 n4:0" || done.By != "root" || done.Plan == 0 {
		t.Errorf("%s: %+v", got, done)
	}
	if err := p.shell.Approve(r.ID, "root"); !errors.Is(err, cluster.ErrNotFound) {
		t.Errorf("approved again: %v", err)
	}
}

// What has changed since is named, and nothing is moved.
func TestStaleApprovalIsRefused(t *testing.T) {
	p, moves := crowded(t)
	r := p.recommended(journal.RecommendationPending)
	if err := p.shell.SetNode("n1", cluster.Draining, "root"); err != nil {
		t.Fatal(err)
	}
	err := p.shell.Approve(r.ID, "root")
	if !errors.Is(err, cluster.ErrConflict) || !strings.Contains(err.Error(), "n1 takes no VMs now") {
		t.Errorf("n1 is drained: %v", err)
	}
	if got := p.recommended(journal.RecommendationRefused); !strings.Contains(got.Note, "n1 takes no VMs now") {
		t.Errorf("%+v", got)
	}
	if err := p.shell.SetNode("n1", cluster.Online, "root"); err != nil {
		t.Fatal(err)
	}
	p.run(10 * time.Minute)
	r = p.recommended(journal.RecommendationPending)
	if err := p.shell.Order(moves, scheduler.OrderDelete, "u"); err != nil {
		t.Fatal(err)
	}
	p.run(time.Minute)
	if err := p.shell.Approve(r.ID, "root"); err == nil {
		t.Error("moves of an ended vjob are approved")
	}
	if got := p.where(); got != "n1:0 n2:0 n3:0 n4:0" && got != "n1:0 n2:2 n3:0 n4:0" && got != "n1:0 n2:0 n3:2 n4:0" {
		t.Errorf("something was moved: %s", got)
	}
}

// A rejected recommendation is not made again for an hour.
func TestRejectedMovesAreNotProposedAgain(t *testing.T) {
	p, _ := crowded(t)
	r := p.recommended(journal.RecommendationPending)
	if err := p.shell.Reject(r.ID, "root", "not now"); err != nil {
		t.Fatal(err)
	}
	p.run(20 * time.Minute)
	if got := p.recommended(journal.RecommendationRejected); got.Note != "not now" || len(p.store.Recommendations()) != 1 {
		t.Errorf("%+v", p.store.Recommendations())
	}
}

// Power management asks before it switches a node off, and again before it switches it on. The answer survives
// a crash.
func TestSwitchingWaitsForApproval(t *testing.T) {
	p := switchable(t, managed(), manual(journal.RecommendPower))
	p.hour(1)
	p.run(30 * time.Minute)
	if p.count(cycle.On) != 4 {
		t.Fatalf("%d nodes are on", p.count(cycle.On))
	}
	list := p.store.Recommendations()
	at := slices.IndexFunc(list, func(r journal.Recommendation) bool {
		return r.State == journal.RecommendationPending && len(r.Off) == 1
	})
	if at < 0 {
		t.Fatalf("no node is to go off: %+v", list)
	}
	off := list[at]
	p.shell.Kill()
	p.run(time.Minute)
	if err := p.shell.Approve(off.ID, "root"); err != nil {
		t.Fatal(err)
	}
	p.run(5 * time.Minute)
	if got := p.phase(off.Off[0]); got != cycle.Off {
		t.Fatalf("%s is %s", off.Off[0], got)
	}
	p.hour(7)
	p.run(time.Minute)
	list = slices.DeleteFunc(p.store.Recommendations(), func(r journal.Recommendation) bool { return !r.Open() || len(r.On) == 0 })
	if len(list) != 1 || list[0].On[0] != off.Off[0] || !strings.Contains(list[0].Reason, "waits for room") {
		t.Fatalf("want %s on: %+v", off.Off[0], list)
	}
	if err := p.shell.Approve(list[0].ID, "root"); err != nil {
		t.Fatal(err)
	}
	p.run(10 * time.Minute)
	if p.count(cycle.On) != 4 {
		t.Errorf("%d nodes are on", p.count(cycle.On))
	}
}

// pending returns the recommendations that wait for approval, the oldest first.
func (p *plant) pending() []journal.Recommendation {
	p.t.Helper()
	list := slices.DeleteFunc(p.store.Recommendations(), func(r journal.Recommendation) bool { return r.State != journal.RecommendationPending })
	slices.Reverse(list)
	return list
}

// A start waits for approval with the nodes on which the VMs would run; others that are approved start meanwhile.
func TestStartsWaitForApproval(t *testing.T) {
	p := switchable(t, nil, manual(journal.RecommendStart))
	first := p.hour(2)
	p.run(time.Second)
	second := p.hour(2)
	p.run(time.Minute)
	list := p.pending()
	if len(list) != 2 || list[0].VJob != first || list[1].VJob != second || len(list[0].Moves) != 2 || list[0].Moves[0].To == "" {
		t.Fatalf("%+v", list)
	}
	status := p.shell.Snapshot().VJob(second)
	if status.State != cluster.Waiting || !strings.Contains(status.Reason, "its start has to be approved: recommendation 2") {
		t.Errorf("%s: %s", status.State, status.Reason)
	}
	if err := p.shell.Approve(list[1].ID, "root"); err != nil {
		t.Fatal(err)
	}
	p.run(time.Minute)
	now := p.shell.Snapshot()
	if now.VJob(first).State != cluster.Waiting || now.VJob(second).State != cluster.Running {
		t.Errorf("%s and %s", now.VJob(first).State, now.VJob(second).State)
	}
	if got := p.recommended(journal.RecommendationApplied); got.VJob != second || got.By != "root" {
		t.Errorf("%+v", got)
	}
	for _, m := range list[1].Moves {
		if got := now.VJob(second).Gang.Members[m.VM.Rank].Node; got != m.To {
			t.Errorf("%s runs on %s", m, got)
		}
	}
}

// A start cannot be approved once its nodes take no VMs; another one is recommended.
func TestStaleStartIsSuperseded(t *testing.T) {
	p := switchable(t, nil, manual(journal.RecommendStart))
	first := p.hour(2)
	p.run(time.Second)
	p.hour(6)
	p.run(time.Minute)
	r := p.pending()[0]
	if r.VJob != first {
		t.Fatalf("%+v", r)
	}
	if err := p.shell.SetNode(r.Moves[0].To, cluster.Draining, "root"); err != nil {
		t.Fatal(err)
	}
	if err := p.shell.Approve(r.ID, "root"); !errors.Is(err, cluster.ErrNotFound) { // a later one has taken its place
		t.Errorf("%v", err)
	}
	p.run(time.Minute)
	again := p.pending()[0]
	if got := p.shell.Snapshot().VJob(first).State; got != cluster.Waiting || again.VJob != first || again.Moves[0].To == r.Moves[0].To {
		t.Errorf("vjob %s is %s: %+v", first, got, again)
	}
}

// A drained node keeps its VMs until that they leave is approved, and takes no others.
func TestDrainsWaitForApproval(t *testing.T) {
	p := switchable(t, nil, manual(journal.RecommendDrain))
	p.hour(2)
	p.run(time.Minute)
	at := p.shell.Snapshot().Nodes[0].ID
	if got := p.where(); got != "n1:2 n2:0 n3:0 n4:0" {
		t.Fatal(got)
	}
	if err := p.shell.SetNode(at, cluster.Draining, "root"); err != nil {
		t.Fatal(err)
	}
	p.run(10 * time.Minute)
	list := p.pending()
	if got := p.where(); got != "n1:2 n2:0 n3:0 n4:0" || len(list) != 1 || list[0].Node != at || len(list[0].Moves) != 2 {
		t.Fatalf("%s: %+v", got, list)
	}
	if err := p.shell.Approve(list[0].ID, "root"); err != nil {
		t.Fatal(err)
	}
	p.run(5 * time.Minute)
	if got := p.where(); !strings.HasPrefix(got, "n1:0") {
		t.Errorf("%s", got)
	}
	if got := p.recommended(journal.RecommendationApplied); got.Node != at {
		t.Errorf("%+v", got)
	}
}
