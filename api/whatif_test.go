package api_test

import (
	"context"
	"fmt"
	"net/http"
	"testing"

	"vjob/api/wire"
	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/queue"
	"vjob/scheduler"
)

// Administrators may suppose everything and see everything; users a submission of
// theirs, and what becomes of their own vjobs.
func TestWhatIf(t *testing.T) {
	b := newFixture(t)
	all := read[wire.WhatIfResult](t, b.as("root", "POST", "/v1/what-if", `{"drain":["n1"],"without":[2],"rules":""}`), http.StatusOK)
	if len(all.VJobs) != 2 || len(all.Plan.Actions) != 2 || all.VJobs[1].Then != "suspend" || all.VJobs[1].Now != "run" || len(all.Broken) != 1 {
		t.Errorf("root sees %+v", all)
	}
	const submission = `"submit":{"name":"s","template":{"cpu_milli":1,"memory_mib":1},"count":2}`
	own := read[wire.WhatIfResult](t, b.as("alice", "POST", "/v1/what-if", "{"+submission+"}"), http.StatusOK)
	if len(own.VJobs) != 2 || own.VJobs[0].ID != 1 || own.VJobs[1].ID != 0 || own.VJobs[1].VMCount != 2 || len(own.Plan.Actions) != 1 || len(own.Broken) != 0 {
		t.Errorf("alice sees %+v", own)
	}
	for _, c := range []struct {
		caller, body string
		status       int
		field        string
	}{
		{"alice", `{"drain":["n1"]}`, http.StatusForbidden, ""},
		{"alice", `{"rules":""}`, http.StatusForbidden, ""},
		{"alice", `{"submit":{}}`, http.StatusBadRequest, "vms"},
		{"root", `{"drain":["n9"]}`, http.StatusNotFound, ""},
		{"root", `{"drain":["n1"],"lose":["n1"]}`, http.StatusBadRequest, "lose[0]"},
		{"root", `{"drain":["../n"]}`, http.StatusBadRequest, "drain[0]"},
		{"root", `{"without":[0]}`, http.StatusBadRequest, "without[0]"},
		{"root", `{"budget":1}`, http.StatusBadRequest, "budget"},
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
	for node := range s.Nodes {
		if node != "n1" {
			return scheduler.WhatIfResult{}, fmt.Errorf("node %s: %w", node, cluster.ErrNotFound)
		}
	}
	f := scheduler.WhatIfResult{Nodes: 1, Breaches: []string{"a rule is broken"}}
	for i, owner := range []string{"alice", "bob"} {
		id := cluster.VJobID(i + 1)
		f.VJobs = append(f.VJobs, scheduler.WhatIfVJob{
			VJob: &cluster.VJob{ID: id, Owner: owner}, Now: queue.Verdict{Target: queue.Run}, Then: queue.Verdict{Target: queue.Suspend, Reason: "no room"},
		})
		f.Plan.Actions = append(f.Plan.Actions, ctxswitch.Action{ID: ctxswitch.ActionID(i), Kind: cluster.Suspend, VM: cluster.VMID{VJob: id}})
	}
	if s.Submit != nil {
		f.VJobs = append(f.VJobs, scheduler.WhatIfVJob{VJob: s.Submit.VJob(0)})
	}
	return f, nil
}
