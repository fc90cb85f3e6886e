package api_test

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"time"

	"vjob/api/wire"
	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/queue"
	"vjob/queue/pool"
	"vjob/scheduler"
	"vjob/scheduler/decide"
)

// Administrators may suppose everything and see everything; users a submission of
// theirs, and what becomes of their own vjobs.
func TestWhatIf(t *testing.T) {
	b := newFixture(t)
	all := read[wire.WhatIfResult](t, b.as("root", "POST", "/v1/what-if", `{"drain":["n1"],"without":[2],"rules":""}`), http.StatusOK)
	if len(all.VJobs) != 2 || len(all.Plan.Actions) != 2 || all.VJobs[1].Then != "suspend" || all.VJobs[1].Now != "run" || len(all.Broken) != 1 {
		t.Errorf("root sees %+v", all)
	}
	if f := all.After; f == nil || f.Power == nil || f.Power.Budgets[0].Drawn != 12.5 || len(f.Pools) != 2 || f.Pools[1].Satisfied != 0.5 || f.Waits.Mean != 60 || all.Before == nil {
		t.Errorf("root sees %+v", f)
	}
	const submission = `"submit":{"name":"s","template":{"cpu_milli":1,"memory_mib":1},"count":2}`
	own := read[wire.WhatIfResult](t, b.as("alice", "POST", "/v1/what-if", "{"+submission+"}"), http.StatusOK)
	if len(own.VJobs) != 2 || own.VJobs[0].ID != 1 || own.VJobs[1].ID != 0 || own.VJobs[1].VMCount != 2 || len(own.Plan.Actions) != 1 || len(own.Broken) != 0 {
		t.Errorf("alice sees %+v", own)
	}
	if own.Before != nil || own.After != nil {
		t.Errorf("alice sees figures of the cluster: %+v", own.After)
	}
	b.as("root", "POST", "/v1/what-if", `{"add":[{"count":2,"like":"n1"},{"name":"x","like":"n1"}],"off":["n1"],`+
		`"demand":[{"pool":"a","percent":30},{"vjob":12,"cpu_milli":2500}],"pools":[{"name":"a","cpu":{"limit":"2"}}]}`)
	asked := b.scheduler.asked
	if len(asked.Add) != 3 || asked.Add[2].Name != "x" || asked.Add[0].Name != "" || len(asked.Off) != 1 || len(asked.Nodes) != 0 {
		t.Errorf("asked %+v", asked)
	}
	if d := asked.Demand; len(d) != 2 || *d[0].Factor != 1.3 || d[0].Pool != "a" || d[1].VJob != 12 || d[1].CPU != 2500 || d[1].Factor != nil {
		t.Errorf("asked %+v", d)
	}
	if asked.Pools == nil || len(*asked.Pools) != 1 || (*asked.Pools)[0].CPU.Limit != "2" {
		t.Errorf("asked %+v", asked.Pools)
	}
	for _, c := range []struct {
		caller, body string
		status       int
		field        string
	}{
		{"alice", `{"drain":["n1"]}`, http.StatusForbidden, ""},
		{"alice", `{"rules":""}`, http.StatusForbidden, ""},
		{"alice", `{"submit":{}}`, http.StatusBadRequest, "submit.vms"},
		{"root", `{"drain":["n9"]}`, http.StatusNotFound, ""},
		{"root", `{"drain":["n1"],"lose":["n1"]}`, http.StatusBadRequest, "lose[0]"},
		{"root", `{"drain":["../n"]}`, http.StatusBadRequest, "drain[0]"},
		{"root", `{"without":[0]}`, http.StatusBadRequest, "without[0]"},
		{"root", `{"budget":1}`, http.StatusBadRequest, "budget"},
		{"root", `{"drain":["n1"],"off":["n1"]}`, http.StatusBadRequest, "off[0]"},
		{"root", `{"add":[{"like":"n1"},{"name":"n4"}]}`, http.StatusBadRequest, "add[1].like"},
		{"root", `{"add":[{"name":"n4","like":"n1"},{"name":"n4","like":"n1"}]}`, http.StatusBadRequest, "add[1].name"},
		{"root", `{"add":[{"name":"n4","count":2,"like":"n1"}]}`, http.StatusBadRequest, "add[0].count"},
		{"root", `{"add":[{"count":1000,"like":"n1"},{"count":1,"like":"n1"}]}`, http.StatusBadRequest, "add[1].count"},
		{"root", `{"demand":[{"percent":30}]}`, http.StatusBadRequest, "demand[0].vjob"},
		{"root", `{"demand":[{"all":true,"pool":"a","percent":30}]}`, http.StatusBadRequest, "demand[0].vjob"},
		{"root", `{"demand":[{"all":true}]}`, http.StatusBadRequest, "demand[0].percent"},
		{"root", `{"demand":[{"all":true,"percent":30,"cpu_milli":1}]}`, http.StatusBadRequest, "demand[0].percent"},
		{"root", `{"demand":[{"all":true,"percent":-101}]}`, http.StatusBadRequest, "demand[0].percent"},
		{"root", `{"demand":[{"all":true,"percent":"+30%"}]}`, http.StatusBadRequest, "demand[0].percent"},
		{"root", `{"demand":[{"vjob":12,"cpu_milli":-1}]}`, http.StatusBadRequest, "demand[0].cpu_milli"},
		{"root", `{"pools":[{"name":"a","cpu":{"limit":"30%"}}]}`, http.StatusBadRequest, "pools[0].cpu.limit"},
		{"alice", `{"add":[{"like":"n1"}]}`, http.StatusForbidden, ""},
		{"alice", `{"off":["n1"]}`, http.StatusForbidden, ""},
		{"alice", `{"demand":[{"all":true,"percent":30}]}`, http.StatusForbidden, ""},
		{"alice", `{"pools":[]}`, http.StatusForbidden, ""},
	} {
		if e := read[wire.Error](t, b.as(c.caller, "POST", "/v1/what-if", c.body), c.status); e.Error.Field != c.field {
			t.Errorf("%s %s: %+v", c.caller, c.body, e.Error)
		}
	}
	if done := b.scheduler.recorded(); len(done) != 0 {
		t.Errorf("supposing did %v", done)
	}
}

func (l *fakeScheduler) WhatIf(_ context.Context, s scheduler.WhatIf) (scheduler.WhatIfResult, error) {
	l.mu.Lock()
	l.asked = s
	l.mu.Unlock()
	for node := range s.Nodes {
		if node != "n1" {
			return scheduler.WhatIfResult{}, fmt.Errorf("node %s: %w", node, cluster.ErrNotFound)
		}
	}
	f := scheduler.WhatIfResult{Nodes: 1, Breaches: []string{"a rule is broken"}}
	for i, owner := range []string{"alice", "bob"} {
		id := cluster.VJobID(i + 1)
		f.VJobs = append(f.VJobs, scheduler.WhatIfVJob{
			VJob: &cluster.VJob{ID: id, Owner: owner, Terms: &cluster.Terms{}}, Now: queue.Verdict{Target: queue.Run}, Then: queue.Verdict{Target: queue.Suspend, Reason: "no room"},
		})
		f.Plan.Actions = append(f.Plan.Actions, ctxswitch.Action{ID: ctxswitch.ActionID(i), Kind: cluster.Suspend, VM: cluster.VMID{VJob: id}})
	}
	f.Before, f.After = &scheduler.WhatIfFigures{}, whatIfFigures()
	if s.Submit != nil {
		f.VJobs = append(f.VJobs, scheduler.WhatIfVJob{VJob: s.Submit.VJob(0)})
	}
	return f, nil
}

func whatIfFigures() *scheduler.WhatIfFigures {
	f := &scheduler.WhatIfFigures{Waits: scheduler.WaitFigures{Known: 2, Mean: time.Minute, Longest: time.Hour, Latest: time.Unix(0, 0)}}
	f.Loads = []decide.Load{{Node: "n1", CPU: 1.5, Memory: 0.5}}
	f.Power = &decide.PowerFigures{Watts: 12.5, Budgets: []decide.BudgetUse{{Group: "rack=r1", Most: 10, Drawn: 12.5}}}
	f.Pools = make([]decide.PoolUse, 2)
	f.Pools[0].Member, f.Pools[1].Member = pool.Member{Name: pool.Root, Parent: -1}, pool.Member{Name: "a"}
	f.Pools[1].Wanted, f.Pools[1].Given.CPU = 2000, 1000
	f.Balancing = &decide.Balancing{Moves: []decide.BalanceMove{{Move: cluster.Move{From: "n1", To: "n2"}, Gain: 0.1}}}
	return f
}
