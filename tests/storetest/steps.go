package storetest

import (
	"testing"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/ctxswitch/journal"
	"vjob/db"
	"vjob/hypervisor"
)

func testVersions(t *testing.T, w *World) {
	job := w.submit(t, Submission("v", 1))
	try := func(c journal.VJobChange) error {
		c.ID = job.ID
		return w.Commit(t.Context(), journal.Step{VJobs: []journal.VJobChange{c}})
	}
	cases := []struct {
		name   string
		change journal.VJobChange
		want   error
	}{
		{"another reason", journal.VJobChange{State: cluster.Waiting, Cause: cluster.Because("third in line")}, nil},
		{"a state under the old version", journal.VJobChange{State: cluster.Booting}, cluster.ErrConflict},
		{"a hold under the old version", journal.VJobChange{State: cluster.Waiting, Held: true}, cluster.ErrConflict},
		{"no edge", journal.VJobChange{State: cluster.Suspended, Version: 1}, cluster.ErrConflict},
		{"a hold", journal.VJobChange{State: cluster.Waiting, Held: true, Version: 1}, nil},
		{"a release", journal.VJobChange{State: cluster.Waiting, Version: 2}, nil},
		{"booting", journal.VJobChange{State: cluster.Booting, Version: 3}, nil},
		{"stale", journal.VJobChange{State: cluster.Running, Version: 2}, cluster.ErrConflict},
		{"running", journal.VJobChange{State: cluster.Running, Version: 4, Started: Start, Cause: cluster.Because("chosen")}, nil},
		{"two edges at once", journal.VJobChange{State: cluster.Suspended, Version: 6, Cause: cluster.Because("made room"), Ended: Start}, nil},
		{"times that are not told", journal.VJobChange{State: cluster.Suspended, Version: 6, Cause: cluster.Because("made room")}, nil},
		{"times again", journal.VJobChange{
			State: cluster.Suspended, Version: 6, Cause: cluster.Because("made room"), Started: Start.Add(1), Ended: Start.Add(1),
		}, nil},
	}
	for _, c := range cases {
		if err := try(c.change); c.want != nil || err != nil {
			isError(t, c.name, err, c.want)
		}
	}
	w.reopen()
	kept := w.Kept(job.ID)
	want := job.Clone()
	want.State, want.Version, want.Cause = cluster.Suspended, 6, cluster.Because("made room")
	same(t, "kept", kept.VJob, want)
	same(t, "started", kept.Started, Start)
	same(t, "ended", kept.Ended, Start)
}

func testTerminal(t *testing.T, w *World) {
	job := w.submit(t, Submission("t", 1))
	end := Start.Add(time.Hour)
	w.commit(t, journal.Step{VJobs: []journal.VJobChange{{
		ID: job.ID, State: cluster.Failed, Outcome: cluster.Unsuccessful, Exit: cluster.Exited(137), Version: 1, Ended: end, Cause: cluster.Because("why"),
	}}})
	for _, next := range []cluster.State{cluster.Waiting, cluster.Terminated, cluster.Running} {
		err := w.Commit(t.Context(), journal.Step{VJobs: []journal.VJobChange{{ID: job.ID, State: next, Version: 5}}})
		isError(t, "failed → "+next.String(), err, cluster.ErrConflict)
	}
	w.reopen()
	same(t, "live vjobs", w.load(t).VJobs, []*cluster.VJob{})
	kept := w.Kept(job.ID)
	same(t, "state", kept.State, cluster.Failed)
	same(t, "outcome", kept.Outcome, cluster.Unsuccessful)
	same(t, "exit status", kept.Exit, cluster.Exited(137))
	same(t, "ended", kept.Ended, end)
}

// intent is a call without a result.
func intent(op hypervisor.OpID, plan journal.PlanID, epoch int64) journal.Intent {
	vm := cluster.VMID{VJob: 7, Rank: 2}
	return journal.Intent{
		Call: hypervisor.Call{
			Op: op, Verb: hypervisor.Restore, VM: vm, Node: "n1", To: "n2",
			Image:    hypervisor.ImageID{VM: vm, Generation: 3, Attempt: 4},
			Checksum: "abc", Attempt: 5, Stamp: hypervisor.Stamp{Incarnation: 6, Epoch: 1},
		},
		Plan: plan, Epoch: epoch, At: Start,
	}
}

func testIntents(t *testing.T, w *World) {
	w.load(t)
	bare := journal.Intent{Call: hypervisor.Call{Op: 3, Verb: hypervisor.Pause, VM: cluster.VMID{VJob: 1}, Node: "n"}, Epoch: 1, At: Start}
	w.commit(t, journal.Step{
		Plans:   []journal.Plan{{ID: 1, At: Start, State: journal.PlanRunning}},
		Intents: []journal.Intent{intent(1, 1, 1), intent(2, 0, 1), bare},
	})
	w.commit(t, journal.Step{Results: []journal.Result{{Op: 2, Began: Start, Ended: Start, Error: "no"}}})
	err := w.Commit(t.Context(), journal.Step{Results: []journal.Result{{Op: 2}}})
	isError(t, "a second result", err, cluster.ErrConflict)
	err = w.Commit(t.Context(), journal.Step{Results: []journal.Result{{Op: 9}}})
	isError(t, "a result without an intent", err, cluster.ErrNotFound)
	err = w.Commit(t.Context(), journal.Step{Intents: []journal.Intent{intent(1, 0, 1)}})
	isError(t, "an intent twice", err, cluster.ErrConflict)
	err = w.Commit(t.Context(), journal.Step{Intents: []journal.Intent{intent(4, 8, 1)}})
	isError(t, "an intent of an unknown plan", err, cluster.ErrNotFound)

	w.reopen()
	l := w.load(t)
	same(t, "open intents", l.Open, []journal.Intent{intent(1, 1, 1), bare})
	same(t, "next op", l.NextOp, hypervisor.OpID(4))
	w.commit(t, journal.Step{Results: []journal.Result{{Op: 1}, {Op: 3}}}) // without error or times
	same(t, "open at the end", w.load(t).Open, []journal.Intent{})
	same(t, "next op at the end", w.load(t).NextOp, hypervisor.OpID(4))
}

func testEpoch(t *testing.T, w *World) {
	w.load(t)
	w.load(t) // another scheduler has taken over
	err := w.Commit(t.Context(), journal.Step{Intents: []journal.Intent{intent(1, 0, 1)}})
	isError(t, "an intent of epoch 1 in epoch 2", err, cluster.ErrConflict)
	same(t, "open intents", w.load(t).Open, []journal.Intent{})
}

// plan has two actions, the second one after the first.
func plan(id journal.PlanID) journal.Plan {
	return journal.Plan{ID: id, At: Start, Policy: "fcfs", State: journal.PlanRunning, Plan: ctxswitch.Plan{
		Actions: []ctxswitch.Action{
			{ID: 0, Kind: cluster.Suspend, VM: cluster.VMID{VJob: 1}, From: "n1", End: time.Second, Cost: 512},
			{ID: 1, Kind: cluster.Boot, VM: cluster.VMID{VJob: 2}, To: "n1", After: []ctxswitch.ActionID{0}, Start: time.Second},
		},
		Gangs: []ctxswitch.Gang{{VJob: 1, Kind: cluster.Suspend, Actions: []ctxswitch.ActionID{0}}},
		Cost:  512, Makespan: time.Minute,
	}}
}

func testPlans(t *testing.T, w *World) {
	w.load(t)
	p := plan(1)
	w.commit(t, journal.Step{Plans: []journal.Plan{p, plan(2)}})
	later := Start.Add(time.Second)
	w.commit(t, journal.Step{Actions: []journal.ActionChange{{Plan: 1, Action: 1, State: journal.PlanRunning, At: Start}}})
	w.commit(t, journal.Step{
		Actions: []journal.ActionChange{{Plan: 1, Action: 1, State: journal.PlanFailed, At: later, Note: "no room"}},
		Skews:   []journal.SkewChange{{Plan: 1, VJob: 1, Kind: "pause", Skew: time.Millisecond}},
		Closed:  []journal.PlanChange{{ID: 1, State: journal.PlanFailed, Ended: later, Note: "given up"}},
	})
	for name, s := range map[string]journal.Step{
		"a plan":             {Closed: []journal.PlanChange{{ID: 9}}},
		"an action":          {Actions: []journal.ActionChange{{Plan: 1, Action: 2}}},
		"an action's plan":   {Actions: []journal.ActionChange{{Plan: 9}}},
		"a plan with a skew": {Skews: []journal.SkewChange{{Plan: 9}}},
	} {
		isError(t, "unknown: "+name, w.Commit(t.Context(), s), cluster.ErrNotFound)
	}
	isError(t, "a plan twice", w.Commit(t.Context(), journal.Step{Plans: []journal.Plan{p}}), cluster.ErrConflict)

	w.reopen()
	l := w.load(t)
	same(t, "running plans", l.Plans, []journal.PlanID{2})
	same(t, "next plan", l.NextPlan, journal.PlanID(3))
	same(t, "detail", w.Plan(1), journal.PlanDetail{
		PlanRow: journal.PlanRow{
			ID: 1, At: Start, Ended: later, Policy: "fcfs", State: journal.PlanFailed, Note: "given up",
			Cost: 512, Makespan: time.Minute, Actions: 2,
		},
		Plan: p.Plan,
		Progress: []journal.ActionProgress{
			{State: journal.PlanPending},
			{State: journal.PlanFailed, Began: Start, Ended: later, Note: "no room"},
		},
		Skews: []journal.SkewChange{{Plan: 1, VJob: 1, Kind: "pause", Skew: time.Millisecond}},
	})
}

func testUsage(t *testing.T, w *World) {
	job := w.submit(t, Submission("u", 1))
	u := journal.Usage{VJob: job.ID, Running: 3 * time.Second, Crowded: time.Second, CPU: 2 * time.Second, Wanted: 3 * time.Second, MemorySec: 512, Joules: 100}
	w.commit(t, journal.Step{Usage: []journal.Usage{u, u}})
	w.reopen()
	err := w.Commit(t.Context(), journal.Step{Usage: []journal.Usage{u, {VJob: 99}}})
	isError(t, "the second of two is of an unknown vjob", err, cluster.ErrNotFound)
	w.commit(t, journal.Step{Usage: []journal.Usage{u}})
	same(t, "sum", w.Kept(job.ID).Account, journal.Usage{
		VJob: job.ID, Running: 9 * time.Second, Crowded: 3 * time.Second, CPU: 6 * time.Second, Wanted: 9 * time.Second, MemorySec: 1536, Joules: 300,
	})
	l := w.load(t)
	same(t, "ran", l.Ran, map[cluster.VJobID]time.Duration{job.ID: 6 * time.Second})
	same(t, "beside that", l.Crowded, map[cluster.VJobID]time.Duration{job.ID: 3 * time.Second})
	other := w.submit(t, Submission("v", 1))
	later := Start.Add(time.Minute)
	first := journal.Meter{VJob: job.ID, At: later, CPU: []time.Duration{time.Second}}
	second := journal.Meter{VJob: job.ID, At: later.Add(time.Second), CPU: []time.Duration{2 * time.Second}}
	bare := journal.Meter{VJob: other.ID, At: later, CPU: []time.Duration{}}
	w.commit(t, journal.Step{Meters: []journal.Meter{first, bare, second}})
	w.reopen()
	same(t, "meters", w.load(t).Meters, map[cluster.VJobID]journal.Meter{job.ID: second, other.ID: bare})
	same(t, "the sums are as before", w.Kept(job.ID).Account.Running, 9*time.Second)
}

func testNodes(t *testing.T, w *World) {
	node := func(id string, memory cluster.MiB, s cluster.NodeState, rack string) cluster.Node {
		return cluster.Node{
			ID: cluster.NodeID(id), State: s, Labels: map[string]string{"rack": rack},
			Capacity: cluster.Resources{CPU: 4000, Memory: memory},
		}
	}
	save := func(list ...cluster.Node) []cluster.NodeID {
		t.Helper()
		undeclared, err := w.SaveNodes(t.Context(), list)
		if err != nil {
			t.Fatal(err)
		}
		return undeclared
	}
	same(t, "undeclared at first", save(node("b", 1, cluster.Online, "r1"), node("a", 2, cluster.Offline, "r1")), []cluster.NodeID{})
	maintained := node("b", 1, cluster.Draining, "r1")
	maintained.Maintenance = &cluster.Maintenance{By: "root", Reason: "new memory", Since: time.Date(2026, time.March, 1, 8, 0, 0, 5, time.UTC), VMs: 3}
	w.commit(t, journal.Step{Nodes: []cluster.Node{maintained}})
	w.reopen()
	same(t, "undeclared", save(node("b", 3, cluster.Online, "r2"), node("c", 4, cluster.Online, "")), []cluster.NodeID{"a"})
	bare := cluster.Node{ID: "d"}
	w.commit(t, journal.Step{Nodes: []cluster.Node{bare}})
	now := node("b", 3, cluster.Draining, "r2")
	now.Maintenance = maintained.Maintenance
	same(t, "nodes", w.load(t).Nodes, []cluster.Node{node("a", 2, cluster.Offline, "r1"), now, node("c", 4, cluster.Online, ""), bare})
	now.State, now.Maintenance = cluster.Online, nil
	w.commit(t, journal.Step{Nodes: []cluster.Node{now}})
	same(t, "after its maintenance", w.load(t).Nodes[1], now)
	_, err := w.SaveNodes(t.Context(), []cluster.Node{{}})
	isError(t, "a node without a name", err, cluster.ErrInvalid)
}

func testRules(t *testing.T, w *World) {
	same(t, "rules at first", w.load(t).Rules, journal.Rules{})
	first := journal.Rules{Text: "ban($ALL_VMS, n1);\n# why: 'quotes'", By: "root", At: Start}
	w.commit(t, journal.Step{Rules: &first})
	w.reopen()
	same(t, "rules", w.load(t).Rules, first)
	err := w.Commit(t.Context(), journal.Step{Rules: &journal.Rules{Text: "x"}, Usage: []journal.Usage{{VJob: 99}}})
	isError(t, "rules beside what is wrong", err, cluster.ErrNotFound)
	same(t, "rules after that", w.load(t).Rules, first)
	w.commit(t, journal.Step{Rules: &journal.Rules{By: "root", At: Start}})
	w.reopen()
	same(t, "no rules", w.load(t).Rules, journal.Rules{By: "root", At: Start})
}

func testAtomic(t *testing.T, w *World) {
	w.load(t)
	job := w.submit(t, Submission("a", 2))
	w.commit(t, journal.Step{Plans: []journal.Plan{plan(1)}, Intents: []journal.Intent{intent(1, 1, 1)}})
	before := w.load(t)
	events := w.Events(0)

	g := emptyGang(job.ID, 2)
	g.Incarnation, g.Members[1].Node = 1, "n1"
	step := journal.Step{
		VJobs:   []journal.VJobChange{{ID: job.ID, State: cluster.Booting, Version: 1, Started: Start}},
		Gangs:   append(before.Gangs[:0:0], g),
		Nodes:   []cluster.Node{{ID: "n9"}},
		Plans:   []journal.Plan{plan(2)},
		Closed:  []journal.PlanChange{{ID: 1, State: journal.PlanDone}},
		Actions: []journal.ActionChange{{Plan: 1, Action: 0, State: journal.PlanDone, At: Start}},
		Skews:   []journal.SkewChange{{Plan: 1, VJob: 1, Kind: "pause", Skew: 1}},
		Intents: []journal.Intent{intent(2, 2, before.Epoch)},
		Results: []journal.Result{{Op: 1}, {Op: 77}}, // the second one breaks the step
		Usage:   []journal.Usage{{VJob: job.ID, Running: time.Second}},
		Events:  []journal.Event{{At: Start, Kind: journal.EventAlarm, Text: "must not be seen"}},
	}
	detail := w.Plan(1)
	isError(t, "a step with a fault", w.Commit(t.Context(), step), cluster.ErrNotFound)
	step.Results = nil
	step.Usage = append(step.Usage, journal.Usage{VJob: 99})
	isError(t, "a step with a late fault", w.Commit(t.Context(), step), cluster.ErrNotFound)
	w.reopen()
	after := w.load(t)
	after.Epoch = before.Epoch
	same(t, "state after it", after, before)
	same(t, "log after it", w.Events(0), events)
	same(t, "plan after it", w.Plan(1), detail)
}

func testUnknown(t *testing.T, w *World) {
	for name, s := range map[string]journal.Step{
		"vjob":  {VJobs: []journal.VJobChange{{ID: 5, Version: 1}}},
		"gang":  {Gangs: append(w.load(t).Gangs, emptyGang(5, 1))},
		"usage": {Usage: []journal.Usage{{VJob: 5}}},
	} {
		isError(t, name, w.Commit(t.Context(), s), cluster.ErrNotFound)
	}
	// Logs take what was observed, known or not.
	w.commit(t, journal.Step{Events: []journal.Event{{Kind: journal.EventAlarm, VJob: 99, Node: "n", Text: "a stray machine"}}})
}

func testReplay(t *testing.T, w *World) {
	a, b := w.submit(t, Submission("a", 1)), w.submit(t, Submission("b", 1))
	for _, next := range []cluster.State{cluster.Booting, cluster.Running, cluster.Suspending, cluster.Suspended} {
		w.become(t, a, next)
	}
	w.reopen()
	w.become(t, b, cluster.Booting)
	w.become(t, a, cluster.Resuming)
	states, err := db.States(w.Events(0))
	if err != nil {
		t.Fatal(err)
	}
	same(t, "replayed", states, map[cluster.VJobID]cluster.State{a.ID: w.Kept(a.ID).State, b.ID: w.Kept(b.ID).State})
	same(t, "states", states, map[cluster.VJobID]cluster.State{a.ID: cluster.Resuming, b.ID: cluster.Booting})
}
