package scheduler

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/execute"
	"vjob/ctxswitch/journal"
	"vjob/ctxswitch/placement"
	"vjob/hypervisor"
	"vjob/scheduler/nodepower"
)

// The parts of the core and of the loop alone.

var noon = time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)

// emptyNodes returns an executor with nodes on which nothing runs, all of them observed.
func emptyNodes(ids ...cluster.NodeID) *execute.Executor {
	var l journal.Loaded
	for _, id := range ids {
		l.Nodes = append(l.Nodes, cluster.Node{ID: id, Capacity: cluster.Resources{CPU: 4 * cluster.CPU, Memory: 8192}})
	}
	exec := execute.New(execute.DefaultSettings, l, noon)
	for _, id := range ids {
		exec.Looked(noon, id, hypervisor.View{Node: id}, nil)
	}
	return exec
}

func TestNodesAlone(t *testing.T) {
	exec, out := emptyNodes("n1", "n2"), journal.Step{}
	controller := nodepower.NewController(&nodepower.ControllerSettings{}, nil, nil, exec.PowerStates, &out, noon)
	nodes := newNodes(exec, controller, &out)
	if err := nodes.Maintain(noon, []cluster.NodeID{"n1", "n9"}, "", "op"); !errors.Is(err, cluster.ErrNotFound) || len(out.Nodes) > 0 {
		t.Errorf("%v, written: %v", err, out.Nodes)
	}
	if err := nodes.Maintain(noon, []cluster.NodeID{"n1"}, "new disk", "op"); err != nil {
		t.Fatal(err)
	}
	if err := nodes.Ready(noon.Add(time.Hour), []cluster.NodeID{"n1"}, "op"); err != nil {
		t.Fatal(err)
	}
	var states []cluster.NodeState
	for _, n := range out.Nodes {
		states = append(states, n.State)
	}
	if want := []cluster.NodeState{cluster.Draining, cluster.Offline, cluster.Online}; !slices.Equal(states, want) || len(out.Events) != len(want) {
		t.Errorf("n1 was %v with events %v, want %v", states, out.Events, want)
	}
	if err := nodes.Set(noon, []cluster.NodeID{"n2"}, cluster.Draining, "op"); err != nil {
		t.Fatal(err)
	}
	if n, _ := exec.Node("n2"); n.State != cluster.Draining {
		t.Errorf("n2 is %s", n.State)
	}
}

func TestRulesAlone(t *testing.T) {
	var out journal.Step
	var retries []time.Time
	rules := &Rules{exec: emptyNodes("n1"), retry: func(at time.Time) { retries = append(retries, at) }, out: &out, reader: placement.NewReader()}
	if err := rules.Set(noon, "ban($ALL_VMS, n9);", "op"); !errors.Is(err, cluster.ErrInvalid) || out.Rules != nil {
		t.Errorf("%v, written: %v", err, out.Rules)
	}
	const text = "ban($ALL_VMS, n1);"
	for range 2 { // the second time nothing changes
		if err := rules.Set(noon, text, "op"); err != nil {
			t.Fatal(err)
		}
	}
	if out.Rules == nil || out.Rules.Text != text || len(out.Events) != 1 || !slices.Equal(retries, []time.Time{noon}) {
		t.Errorf("written: %+v with %v, decisions wanted at %v", out.Rules, out.Events, retries)
	}
}

// A refused request is answered at once, a granted one with the result of the commit.
func TestInboxAnswers(t *testing.T) {
	box, core := newInbox(), &Core{}
	ask := func(request func(*Core) error) <-chan error {
		answer := make(chan error, 1)
		go func() { answer <- box.ask(context.Background(), request) }()
		_ = (<-box.events)(core) // requests never fail as events
		return answer
	}
	refusal, broken := errors.New("refused"), errors.New("disk full")
	if err := <-ask(func(*Core) error { return refusal }); !errors.Is(err, refusal) {
		t.Errorf("a refused request: %v", err)
	}
	granted := func(*Core) error { return nil }
	first, second := ask(granted), ask(granted)
	if len(box.granted) != 2 {
		t.Errorf("%d requests wait for the commit, want 2", len(box.granted))
	}
	box.answer(broken)
	for _, answer := range []<-chan error{first, second} {
		if err := <-answer; !errors.Is(err, broken) || !errors.Is(err, cluster.ErrUnavailable) {
			t.Errorf("a granted request after a failed commit: %v", err)
		}
	}
	third := ask(granted)
	box.answer(nil)
	if err := <-third; err != nil {
		t.Errorf("a granted request after a commit: %v", err)
	}
	close(box.quit)
	if err := box.ask(context.Background(), granted); !errors.Is(err, cluster.ErrUnavailable) {
		t.Errorf("after the end: %v", err)
	}
}

// The audit entry of a change is written with it; a refused change has none.
func TestInboxAudits(t *testing.T) {
	box, core := newInbox(), &Core{}
	for _, refusal := range []error{nil, errors.New("refused")} {
		go func() {
			_ = box.audited(context.Background(), journal.Audit{By: "op"}, func(*Core) error { return refusal })
		}()
		_ = (<-box.events)(core) // requests never fail as events
		box.answer(nil)
	}
	if len(core.out.Audit) != 1 {
		t.Errorf("%d audit entries, want 1", len(core.out.Audit))
	}
}

// One failed event of a burst makes the core stale.
func TestInboxTakesMore(t *testing.T) {
	box, taken := newInbox(), 0
	for i := range 3 {
		box.post(func(*Core) error {
			taken++
			if i == 1 {
				return errStale
			}
			return nil
		})
	}
	box.takeMore(nil)
	if taken != 3 || !box.stale {
		t.Errorf("%d events taken, stale: %v", taken, box.stale)
	}
}
