package scheduler_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/journal"
	"vjob/queue"
	"vjob/scheduler/admission"
	"vjob/scheduler/decide"
)

// Rules of a vjob do not keep a node from being drained: where they let it not migrate it is
// suspended, to disk, and resumes elsewhere if they let it. Where it cannot be suspended the
// drain says so.
func TestDrainDespiteRules(t *testing.T) {
	for _, c := range []struct {
		name    string
		rules   string
		suspend decide.Suspension
		policy  queue.Policy
		change  func(*admission.Submission)
		after   cluster.State // a minute after the drain
		moved   bool
		reason  string // of the vjob
		problem string // of the node
		waits   bool   // it cannot leave at first
	}{
		{name: "no rules", after: cluster.Running, moved: true},
		{name: "rules that let it leave", rules: "spread($VMS);", after: cluster.Running, moved: true},
		{name: "root", rules: "root($VMS);", after: cluster.Running, moved: true},
		{name: "root, suspended in memory", rules: "root($VMS);", suspend: decide.InMemory, after: cluster.Running, moved: true},
		{name: "root, by a policy that suspends no vjob", rules: "root($VMS);", policy: queue.EASY{}, after: cluster.Running, moved: true},
		{name: "fence", rules: "fence($VMS, n1);", after: cluster.Suspended, moved: true},
		{
			name: "never makes room", rules: "root($VMS);", change: func(s *admission.Submission) { s.Preemption = cluster.Never },
			after: cluster.Running, reason: "is drained, its rules keep it there, and it never makes room",
			problem: "not drained yet: it still has vjob 1 of u (runs: it never makes room; node NODE is drained, its rules keep it there, and it never makes room)",
		},
		{
			name: "not yet", rules: "root($VMS);", change: func(s *admission.Submission) { s.MinRun = cluster.Seconds(30 * time.Second) },
			after: cluster.Running, moved: true, waits: true,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			set := settings()
			set.Live, set.Suspend = true, c.suspend
			if c.policy != nil {
				set.Policy = c.policy
			}
			with(t, set, func(p *plant) {
				s := admission.Submission{Owner: "u", Walltime: time.Hour, VMs: []cluster.VM{{
					Reserved: cluster.Resources{CPU: 1000, Memory: 512},
					Payload:  &cluster.Payload{Image: "simulated", Program: &cluster.Program{Steps: []cluster.Step{{CPU: 1000, Duration: time.Hour}}}},
				}}}
				s.Rules = c.rules
				if c.change != nil {
					c.change(&s)
				}
				job, _, err := p.loop.Requests.Submit(p.t.Context(), s)
				if err != nil {
					t.Fatal(err)
				}
				time.Sleep(5 * time.Second)
				from := p.where(job)
				if err := p.loop.Requests.SetNodes(p.t.Context(), []cluster.NodeID{from}, cluster.Draining, journal.Audit{By: "root"}); err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Minute)
				status := p.loop.Requests.Snapshot().VJob(job.ID)
				if status.State != c.after || (p.where(job) != from) != c.moved || !strings.Contains(status.Reason, c.reason) {
					t.Errorf("it is %s on %s after %s: %s", status.State, p.where(job), from, status.Reason)
				}
				problem := ""
				for _, n := range p.loop.Requests.Snapshot().Nodes {
					problem += n.Problem
				}
				want := strings.ReplaceAll(c.problem, "NODE", string(from))
				if problem != want {
					t.Errorf("the node says %q, want %q", problem, want)
				}
				told := slices.ContainsFunc(p.store.Events(0), func(e journal.Event) bool {
					return e.Kind == journal.EventNode && strings.Contains(e.Text, want) && strings.Contains(e.Text, "not drained yet")
				})
				if told != (c.problem != "" || c.waits) {
					t.Errorf("told %t", told)
				}
			})
		})
	}
}

// Each drained node says what keeps it, also if one vjob keeps several.
func TestEachDrainedNodeSaysWhy(t *testing.T) {
	l := state(4, 1)
	l.VJobs[0].Preemption, l.VJobs[0].Rules = cluster.Never, "root($VMS);"
	moldable := l.VJobs[1] // it starts in its second shape, which has more VMs
	moldable.Shapes = []cluster.Shape{{VMs: moldable.VMs[:1], Walltime: 9 * time.Hour}, {VMs: moldable.VMs, Walltime: time.Hour}}
	moldable.VMs, moldable.Walltime, l.Gangs[1].Members = moldable.VMs[:1], 9*time.Hour, l.Gangs[1].Members[:1]
	l.Gangs[1].Incarnation = 0
	l.Nodes[0].State, l.Nodes[2].State = cluster.Draining, cluster.Draining
	r := mount(t, settings(), l)
	r.drain()
	for _, n := range r.core.Snapshot().Nodes {
		keeps := strings.HasPrefix(n.Problem, "not drained yet: it still has vjob 1 of")
		if keeps != (n.ID == "n0000" || n.ID == "n0002") {
			t.Errorf("node %s says %q", n.ID, n.Problem)
		}
	}
}

// where is the node that has the VM of a vjob; "" for none.
func (p *plant) where(job *cluster.VJob) cluster.NodeID {
	for _, c := range p.driver.Truth().Copies {
		if c.VM.VJob == job.ID {
			return c.Node
		}
	}
	return ""
}
