package simclock_test

import (
	"strings"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/ctxswitch/execute"
	"vjob/energy"
	"vjob/energy/budget"
	"vjob/hypervisor/simulated"
	"vjob/queue"
	"vjob/scheduler"
	"vjob/scheduler/admission"
	"vjob/scheduler/decide"
	"vjob/sim/simclock"
	"vjob/tests/simstore"
)

// A vjob that needs the power of a departing job waits in the queue with a reason, instead of
// being started and rolled back repeatedly.
func TestDepartingVJobsKeepTheirPower(t *testing.T) {
	s := &scene{t: t, store: simstore.Open(t)}
	nodes := []simulated.Node{
		{ID: "a", Capacity: cluster.Resources{CPU: 4000, Memory: 16384}}, {ID: "b", Capacity: cluster.Resources{CPU: 4000, Memory: 16384}},
	}
	s.cluster = simulated.New(simulated.Config{Seed: 1, Nodes: nodes})
	set := decide.Settings{Execute: execute.DefaultSettings, Policy: queue.FirstFit{}, Planner: ctxswitch.Repacker{}, Backoff: 5 * time.Second}
	set.Execute.LookEvery, set.Execute.Costs = time.Minute, ctxswitch.ThesisCosts
	set.Energy.Power = map[cluster.NodeID]energy.Power{"a": {Idle: 100, Full: 300}, "b": {Idle: 100, Full: 300}}
	book, err := budget.New(time.UTC, []budget.Budget{{Watts: 300}})
	if err != nil {
		t.Fatal(err)
	}
	if s.shell, err = simclock.New(simclock.Config{
		Settings: scheduler.Settings{Settings: set, Budgets: book, Rest: 100 * time.Millisecond}, Cluster: s.cluster, Store: s.store,
	}); err != nil {
		t.Fatal(err)
	}
	submit := func(size cluster.MiB) cluster.VJobID {
		sub := admission.Submission{Owner: "u", VMs: []cluster.VM{{Reserved: cluster.Resources{CPU: 2000, Memory: size}}}}
		sub.VMs[0].Payload = &cluster.Payload{Image: "simulated", Program: &cluster.Program{Steps: []cluster.Step{{CPU: 2000, Duration: 24 * time.Hour}}}}
		job, err := s.shell.Submit(sub)
		if err != nil {
			t.Fatal(err)
		}
		return job.ID
	}
	first := submit(8192) // it takes minutes to save
	s.run(time.Minute)
	if err := s.shell.Order(first, scheduler.OrderSuspend, "u"); err != nil {
		t.Fatal(err)
	}
	s.run(10 * time.Second)
	second := submit(512)
	var left, began time.Time
	told, turned := false, 0
	for range 3600 {
		s.run(time.Second)
		snap := s.shell.Snapshot()
		if left.IsZero() && snap.VJob(first).State == cluster.Suspended {
			left = s.shell.Now()
		}
		v := snap.VJob(second)
		told = told || strings.Contains(v.Reason, "more would be drawn with it until vjob 1 has left")
		if strings.HasPrefix(v.Reason, "waits: tried ") {
			turned++
		}
		if began.IsZero() && v.State == cluster.Running {
			began = s.shell.Now()
		}
	}
	t.Logf("it runs %s after the other has left, and was in back-off for %d s after its rollback", began.Sub(left), turned)
	if left.IsZero() || began.IsZero() || began.Before(left) || began.Sub(left) > 30*time.Second || turned > 0 {
		t.Errorf("the first left at %s, the second started at %s, rolled back for %d s", left, began, turned)
	}
	if !told {
		t.Error("the reason does not name the power")
	}
}
