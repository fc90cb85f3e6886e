package scheduler_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/hypervisor"
	"vjob/scheduler"
)

// What happens while a decision is taken beside the core, and what is begun after that. The decision is to start vjob 100.
func TestWhileADecisionIsTaken(t *testing.T) {
	const id, other = 100, 101
	small := cluster.Resources{CPU: cluster.CPU, Memory: 1024}
	opens := latecomer(other, 3, small)
	opens.NotBefore = epoch.Add(3500 * time.Millisecond)
	for _, c := range []struct {
		name      string
		other     *cluster.VJob // has come before; may be nil
		meanwhile func(r *rig) error
		avoids    cluster.NodeID   // boots nothing there
		boots     []cluster.VJobID // by that decision, or the next ones
		why       string           // that vjob 100 waits after it
	}{
		{
			name: "nothing", boots: []cluster.VJobID{id},
			meanwhile: func(*rig) error { return nil },
		},
		{
			name: "another vjob comes", boots: []cluster.VJobID{id, other},
			meanwhile: func(r *rig) error { r.core.VJobs.Submitted(r.now, latecomer(other, 3, small)); return nil },
		},
		{
			name: "another vjob ends", boots: []cluster.VJobID{id},
			meanwhile: func(r *rig) error { return r.core.VJobs.Order(r.now, 1, scheduler.OrderDelete, "u") },
		},
		{
			name:      "it is deleted",
			meanwhile: func(r *rig) error { return r.core.VJobs.Order(r.now, id, scheduler.OrderDelete, "u") },
		},
		{
			name: "it is held", why: "is held",
			meanwhile: func(r *rig) error { return r.core.VJobs.Order(r.now, id, scheduler.OrderHold, "u") },
		},
		{
			name: "a node that it does not use is drained", boots: []cluster.VJobID{id},
			meanwhile: func(r *rig) error {
				return r.core.Nodes.Set(r.now, []cluster.NodeID{"n0003"}, cluster.Draining, "op")
			},
		},
		{
			name: "its node is drained", avoids: "n0000", boots: []cluster.VJobID{id},
			meanwhile: func(r *rig) error {
				return r.core.Nodes.Set(r.now, []cluster.NodeID{"n0000"}, cluster.Draining, "op")
			},
		},
		{
			name: "its node is silent", avoids: "n0000", boots: []cluster.VJobID{id},
			meanwhile: func(r *rig) error {
				r.mute = true
				r.core.Looked(r.now, "n0000", hypervisor.View{}, hypervisor.ErrUnreachable)
				return nil
			},
		},
		{
			name: "a start window opens", boots: []cluster.VJobID{id, other}, other: opens,
			meanwhile: func(*rig) error { return nil },
		},
		{
			name: "a rule bans it", why: "waits: needs 3 CPU and 3 GiB more",
			meanwhile: func(r *rig) error { return r.core.Rules.Set(r.now, "ban($ALL_VMS, n[0000..0003]);", "op") },
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := mount(t, settings(), state(4, 0))
			r.drain()
			r.took(time.Second)
			r.ponders = true
			r.core.VJobs.Submitted(r.now, latecomer(id, 3, small))
			if c.other != nil {
				r.core.VJobs.Submitted(r.now, c.other)
			}
			r.at(3 * time.Second)
			if r.beside == nil || len(r.plans) > 0 {
				t.Fatalf("%d plans, and a decision under way: %t", len(r.plans), r.beside != nil)
			}
			if err := c.meanwhile(r); err != nil {
				t.Fatal(err)
			}
			r.at(4 * time.Second)
			if len(r.plans) > 0 {
				t.Errorf("it decided on something else meanwhile:\n%s", r.plans[0].Plan.String())
			}
			r.ponders = false
			r.decided()
			r.drain()
			r.at(5 * time.Second)
			if got := r.boots(); !slices.Equal(got, c.boots) {
				t.Errorf("it boots %v, want %v", got, c.boots)
			}
			for _, call := range r.calls {
				if call.Verb == hypervisor.Boot && call.Node == c.avoids {
					t.Errorf("it boots %s on %s", call.VM, call.Node)
				}
			}
			if why := r.core.Snapshot().VJob(id).Reason; !strings.Contains(why, c.why) {
				t.Errorf("it says %q, want %q", why, c.why)
			}
		})
	}
}

// ponderous is a planner that takes its time.
type ponderous struct{ ctxswitch.Planner }

// Plan makes a plan in a second.
func (p ponderous) Plan(problem ctxswitch.Problem) (ctxswitch.Plan, error) {
	time.Sleep(time.Second)
	return p.Planner.Plan(problem)
}

// Requests are answered while a decision is taken, and nothing starts that is deleted meanwhile.
func TestNoRequestWaitsForADecision(t *testing.T) {
	set := settings()
	set.Planner = ponderous{set.Planner}
	with(t, set, func(p *plant) {
		// The loop learns from the first decision how long they take. When the rest after it is over, it takes the second one.
		for _, wait := range []time.Duration{2100 * time.Millisecond, 500 * time.Millisecond} {
			if _, _, err := p.submit(""); err != nil {
				t.Fatal(err)
			}
			time.Sleep(wait)
		}
		began := time.Now()
		if err := p.loop.Requests.Order(p.t.Context(), 2, scheduler.OrderDelete, "u"); err != nil {
			t.Fatal(err)
		}
		if waited := time.Since(began); waited > 0 || p.state(2) != cluster.Terminated {
			t.Errorf("after %s vjob 2 %s", waited, p.state(2).Clause())
		}
		p.calls = func(call hypervisor.Call) time.Duration {
			if call.VM.VJob == 2 {
				t.Errorf("%s %s", call.Verb, call.VM)
			}
			return 0
		}
		time.Sleep(10 * time.Second)
		if p.state(1) != cluster.Running {
			t.Errorf("vjob 1 %s", p.state(1).Clause())
		}
	})
}

// boots are the vjobs with VMs that are booted, in order.
func (r *rig) boots() (ids []cluster.VJobID) {
	for _, c := range r.calls {
		if c.Verb == hypervisor.Boot {
			ids = append(ids, c.VM.VJob)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}
