package scheduler_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/queue"
	"vjob/scheduler"
	"vjob/scheduler/admission"
)

// suppose asks, and checks that nothing comes of it.
func (r *rig) suppose(s scheduler.WhatIf) (scheduler.WhatIfResult, error) {
	r.t.Helper()
	plans, calls := len(r.plans), len(r.calls)
	base, err := r.core.Baseline(r.now)
	if err != nil {
		return scheduler.WhatIfResult{}, err
	}
	answer, err := r.core.WhatIf(base, s, admission.Limits{})
	if err != nil {
		return scheduler.WhatIfResult{}, err
	}
	base.Decide()
	f, err := answer()
	r.drain()
	if len(r.plans) != plans || len(r.calls) != calls {
		r.t.Error("what was supposed is done")
	}
	return f, err
}

func lots(f scheduler.WhatIfResult) string {
	var words []string
	for _, lot := range f.VJobs {
		words = append(words, lot.ID.String()+" "+lot.Now.Target.String()+" "+lot.Then.Target.String())
	}
	return strings.Join(words, ", ")
}

// Four nodes of 4 CPU run a vjob of two VMs each with 1 CPU; it is asked what would be.
func TestSuppose(t *testing.T) {
	r := mount(t, settings(), state(4, 0))
	r.drain()
	all := scheduler.WhatIf{Nodes: map[cluster.NodeID]cluster.NodeState{}}
	for _, n := range r.core.Snapshot().Nodes[1:] {
		all.Nodes[n.ID] = cluster.Draining
	}
	none, ban := "", "ban($ALL_VMS, n0000);"
	one := &admission.Submission{Owner: "u", VMs: []cluster.VM{{Reserved: cluster.Resources{CPU: 2000, Memory: 64}}}}
	large := &admission.Submission{Owner: "u", VMs: slices.Repeat([]cluster.VM{{Reserved: cluster.Resources{CPU: 4000, Memory: 64}}}, 4)}
	for _, c := range []struct {
		name  string
		s     scheduler.WhatIf
		lots  string
		check func(f scheduler.WhatIfResult) bool
	}{
		{"nothing", scheduler.WhatIf{}, "", func(f scheduler.WhatIfResult) bool { return f.Plan.Empty() && f.Nodes == 4 }},
		{
			"a node drained",
			scheduler.WhatIf{Nodes: map[cluster.NodeID]cluster.NodeState{"n0000": cluster.Draining}},
			"",
			func(f scheduler.WhatIfResult) bool { return f.Nodes == 3 && leaves(f, "n0000") },
		},
		{
			"a node lost",
			scheduler.WhatIf{Nodes: map[cluster.NodeID]cluster.NodeState{"n0000": cluster.Down}},
			"1 run run",
			func(f scheduler.WhatIfResult) bool {
				elsewhere := !slices.ContainsFunc(f.Plan.Actions, func(a ctxswitch.Action) bool { return a.Kind != cluster.Boot || a.To == "n0000" })
				return f.Nodes == 3 && len(f.Plan.Actions) == 4 && elsewhere && strings.HasPrefix(f.VJobs[0].Then.Reason, "lost with its node")
			},
		},
		{"a rule", scheduler.WhatIf{Rules: &ban}, "", func(f scheduler.WhatIfResult) bool { return len(f.Breaches) == 1 && leaves(f, "n0000") }},
		{"no rules", scheduler.WhatIf{Rules: &none}, "", func(f scheduler.WhatIfResult) bool { return f.Plan.Empty() }},
		{"a vjob more", scheduler.WhatIf{Submit: one}, "0 wait run", func(f scheduler.WhatIfResult) bool {
			return len(f.Plan.Actions) == 1 && f.Plan.Actions[0].Kind == cluster.Boot && f.Plan.Actions[0].VM.VJob == 0 && f.VJobs[0].Hypothetical()
		}},
		{"a vjob more than there is room for", scheduler.WhatIf{Submit: large}, "0 wait wait", func(f scheduler.WhatIfResult) bool {
			return f.Plan.Empty() && !strings.Contains(f.VJobs[0].Then.Reason+f.Why, "922337")
		}},
		{"a vjob less", scheduler.WhatIf{Delete: []cluster.VJobID{1}}, "", func(f scheduler.WhatIfResult) bool { return f.Plan.Empty() }},
		{"nearly all drained", all, "", func(f scheduler.WhatIfResult) bool { return f.Nodes == 1 && len(f.Plan.Actions) > 0 }},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, err := r.suppose(c.s)
			if err != nil || lots(f) != c.lots || !c.check(f) {
				t.Errorf("%v: %s (want %s), %+v", err, lots(f), c.lots, f)
			}
		})
	}
}

// leaves reports whether every action takes something off the node.
func leaves(f scheduler.WhatIfResult, node cluster.NodeID) bool {
	return len(f.Plan.Actions) > 0 && !slices.ContainsFunc(f.Plan.Actions, func(a ctxswitch.Action) bool { return a.From != node || a.To == node })
}

// A what-if drain is the drain that would be: a vjob that its rules keep on the node is suspended, and
// one that cannot be suspended stays and is named.
func TestSupposeDrainDespiteRules(t *testing.T) {
	for _, c := range []struct {
		name       string
		preemption cluster.Preemption
		lots       string
		stays      string
	}{
		{"rooted", cluster.BySuspension, "1 run suspend", ""},
		{"rooted, never preempted", cluster.Never, "", "vjob 1 of"},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := state(4, 0)
			l.VJobs[0].Rules, l.VJobs[0].Preemption = "root($VMS);", c.preemption
			r := mount(t, settings(), l)
			r.drain()
			f, err := r.suppose(scheduler.WhatIf{Nodes: map[cluster.NodeID]cluster.NodeState{"n0000": cluster.Draining}})
			if err != nil || lots(f) != c.lots || (f.Undrained["n0000"] == "") != (c.stays == "") || !strings.Contains(f.Undrained["n0000"], c.stays) {
				t.Errorf("%v: %s, want %s; undrained %v", err, lots(f), c.lots, f.Undrained)
			}
			if f, err = r.suppose(scheduler.WhatIf{}); err != nil || len(f.VJobs)+len(f.Undrained) > 0 {
				t.Errorf("the question changed the view: %+v, %v", f, err)
			}
		})
	}
}

func TestSupposeNonsense(t *testing.T) {
	r := mount(t, settings(), state(4, 0))
	bad := "near($ALL_VMS);"
	if _, err := r.suppose(scheduler.WhatIf{}); !errors.Is(err, cluster.ErrUnavailable) {
		t.Errorf("before the nodes were looked at: %v", err)
	}
	r.drain()
	for name, c := range map[string]struct {
		s    scheduler.WhatIf
		want error
	}{
		"a node that is not there": {scheduler.WhatIf{Nodes: map[cluster.NodeID]cluster.NodeState{"n9": cluster.Down}}, cluster.ErrNotFound},
		"a vjob that is not there": {scheduler.WhatIf{Delete: []cluster.VJobID{99}}, cluster.ErrNotFound},
		"invalid rules":            {scheduler.WhatIf{Rules: &bad}, cluster.ErrInvalid},
		"an empty submission":      {scheduler.WhatIf{Submit: &admission.Submission{}}, cluster.ErrInvalid},
	} {
		if _, err := r.suppose(c.s); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Rules are written down before they hold, move what is against them, and go again.
func TestSetRules(t *testing.T) {
	r := mount(t, settings(), state(4, 0))
	r.drain()
	if err := r.core.Rules.Set(r.now, "ban($ALL_VMS, n9);", "op"); !errors.Is(err, cluster.ErrInvalid) || !strings.Contains(err.Error(), "there is no node n9") {
		t.Errorf("a node that is not there: %v", err)
	}
	if err := r.core.Rules.Set(r.now, "spread({1.0, 99.0});", "op"); !errors.Is(err, cluster.ErrInvalid) || !strings.Contains(err.Error(), "there is no VM 99.0") {
		t.Errorf("a VM that is not there: %v", err)
	}
	if e := r.core.Flush(r.now); !e.Step.Empty() || r.core.Snapshot().Rules.Stated.Text != "" {
		t.Error("rules that were refused are there")
	}
	const text = "ban($ALL_VMS, n0000);"
	if err := r.core.Rules.Set(r.now, text, "op"); err != nil {
		t.Fatal(err)
	}
	if e := r.core.Flush(r.now); e.Step.Rules == nil || e.Step.Rules.Text != text || e.Step.Rules.By != "op" {
		t.Fatalf("written: %+v", e.Step)
	}
	r.at(time.Second)
	if len(r.plans) != 1 {
		t.Fatalf("plans: %+v", r.plans)
	}
	for _, a := range r.plans[0].Plan.Actions {
		if a.From != "n0000" || a.To == "n0000" {
			t.Errorf("%+v", a)
		}
	}
	if err := r.core.Rules.Set(r.now, text, "op"); err != nil {
		t.Error(err)
	}
	if e := r.core.Flush(r.now); e.Step.Rules != nil {
		t.Error("the same rules are written again")
	}
}

// A rule that nothing can keep is kept as far as it can be, and what runs goes on.
func TestRulesThatCannotBeKept(t *testing.T) {
	set := settings()
	set.Policy = queue.FCFS{}
	r := mount(t, set, state(4, 0))
	r.drain()
	if err := r.core.Rules.Set(r.now, "capacity($ALL_NODES, 0); ban($ALL_VMS, n0000);", "op"); err != nil {
		t.Fatal(err)
	}
	r.at(time.Second)
	if len(r.plans) != 1 || len(r.plans[0].Plan.Leaves) != 1 || !strings.HasPrefix(r.plans[0].Plan.Leaves[0], "capacity(") {
		t.Fatalf("%+v", r.plans)
	}
	for _, a := range r.plans[0].Plan.Actions {
		if a.Kind != cluster.Migrate || a.From != "n0000" {
			t.Errorf("%+v", a)
		}
	}
}

// Rules that name a node which is gone with a restart are left out, and told.
func TestRulesOfNodesThatAreGone(t *testing.T) {
	l := state(4, 0)
	l.Rules.Text = "ban($ALL_VMS, n9);"
	r := mount(t, settings(), l)
	r.drain()
	if broken := r.core.Snapshot().Rules.Broken; len(broken) != 1 || !strings.Contains(broken[0], "there is no node n9") || len(r.plans) != 0 {
		t.Errorf("%q, %d plans", broken, len(r.plans))
	}
}
