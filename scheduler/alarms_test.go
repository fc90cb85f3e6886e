package scheduler_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/journal"
	"vjob/hypervisor"
	"vjob/scheduler"
	"vjob/scheduler/admission"
)

// vacant is a journal of nodes without vjobs.
func vacant(nodes int) journal.Loaded {
	l := state(4, 0)
	l.VJobs, l.Gangs, l.Nodes = nil, nil, l.Nodes[:nodes]
	return l
}

// stepWithout takes the effects of a core whose nodes all answer but one, and returns the step.
func (r *rig) stepWithout(dead cluster.NodeID) (all journal.Step) {
	for range 10 {
		e := r.core.Flush(r.now)
		all.Append(&e.Step)
		if e.LookStore {
			r.core.LookedStore(r.now, r.store, nil)
		}
		for _, n := range e.Looks {
			if n == dead {
				r.core.Looked(r.now, n, hypervisor.View{}, hypervisor.ErrUnreachable)
			} else {
				r.core.Looked(r.now, n, r.views[n], nil)
			}
		}
		if len(e.Looks) == 0 && !e.LookStore {
			break
		}
	}
	return all
}

// passWithout lets time go on to an instant after the beginning, in steps of ten seconds.
func (r *rig) passWithout(dead cluster.NodeID, until time.Duration) (all journal.Step) {
	for since := r.now.Sub(epoch); since <= until; since += 10 * time.Second {
		r.now = epoch.Add(since)
		r.core.Tick(r.now)
		step := r.stepWithout(dead)
		all.Append(&step)
	}
	return all
}

// A silent node raises an alarm, which is acknowledged, survives a restart with its acknowledgement, and ends when the
// node answers; the journal has each of these.
func TestAlarmOfASilentNode(t *testing.T) {
	l := vacant(2)
	dead := l.Nodes[0].ID
	r := mount(t, settings(), l)
	raised := r.passWithout(dead, 2*time.Minute)
	if len(raised.Alarms) != 1 || raised.Alarms[0].Kind != journal.AlarmNodeSilent || raised.Alarms[0].Node != dead || raised.Alarms[0].Count != 1 {
		t.Fatalf("raised %+v", raised.Alarms)
	}
	if err := r.core.Acknowledge(r.now, 1, "root", "ordered"); err != nil {
		t.Fatal(err)
	}
	if err := r.core.Acknowledge(r.now, 9, "root", ""); !errors.Is(err, cluster.ErrNotFound) {
		t.Errorf("one that is none: %v", err)
	}
	step := r.stepWithout(dead)
	if len(step.Alarms) != 1 || step.Alarms[0].AckedBy != "root" {
		t.Fatalf("acknowledged %+v", step.Alarms)
	}
	if open := r.core.Snapshot().Alarms; len(open) != 1 || open[0].Comment != "ordered" {
		t.Errorf("snapshot %+v", open)
	}

	l.Alarms, l.NextAlarm = step.Alarms, 2
	again := mount(t, settings(), l)
	again.now = epoch.Add(3 * time.Minute)
	again.core = scheduler.NewCore(settings(), l, again.now)
	kept := again.passWithout(dead, 8*time.Minute)
	if slices.ContainsFunc(kept.Alarms, func(a journal.Alarm) bool { return a.AckedBy != "root" || !a.Ended.IsZero() }) || len(again.core.Snapshot().Alarms) != 1 {
		t.Errorf("after a restart %+v", kept.Alarms)
	}
	ended := again.passWithout("", 9*time.Minute)
	if len(ended.Alarms) != 1 || ended.Alarms[0].Ended.IsZero() || len(again.core.Snapshot().Alarms) != 0 {
		t.Errorf("when it answers %+v", ended.Alarms)
	}
	if !slices.ContainsFunc(ended.Events, func(e journal.Event) bool {
		return e.Kind == journal.EventAlarm && e.State == "ended" && e.Node == dead
	}) {
		t.Errorf("events %+v", ended.Events)
	}
}

// Statements of the journal that no longer hold are an alarm until others replace them.
func TestAlarmOfPrices(t *testing.T) {
	l := vacant(2)
	l.Prices = journal.Prices{Text: "nonsense"}
	r := mount(t, settings(), l)
	r.drain()
	if open := r.core.Snapshot().Alarms; len(open) != 1 || open[0].Kind != journal.AlarmPrices {
		t.Fatalf("open %+v", open)
	}
	if err := r.core.Power.SetPrices(r.now, "", "root"); err != nil {
		t.Fatal(err)
	}
	r.drain()
	if open := r.core.Snapshot().Alarms; len(open) != 0 {
		t.Errorf("open %+v", open)
	}
}

// What a node offers is recorded when it changes, and once more only after that.
func TestCapacityIsRecorded(t *testing.T) {
	l := vacant(2)
	r := mount(t, settings(), l)
	first := r.stepWithout("")
	if len(first.Capacity) != 2 || first.Capacity[0].Has != l.Nodes[0].Capacity {
		t.Fatalf("at the start %+v", first.Capacity)
	}
	if later := r.passWithout("", 5*time.Minute); len(later.Capacity) != 0 {
		t.Errorf("without a change %+v", later.Capacity)
	}
	if err := r.core.Nodes.Set(r.now, []cluster.NodeID{l.Nodes[0].ID}, cluster.Draining, "op"); err != nil {
		t.Fatal(err)
	}
	if drained := r.stepWithout(""); len(drained.Capacity) != 0 {
		t.Errorf("drained %+v", drained.Capacity)
	}
	if err := r.core.Nodes.Set(r.now, []cluster.NodeID{l.Nodes[0].ID}, cluster.Offline, "op"); err != nil {
		t.Fatal(err)
	}
	if off := r.stepWithout(""); len(off.Capacity) != 1 || off.Capacity[0].Has != (cluster.Resources{}) {
		t.Errorf("offline %+v", off.Capacity)
	}
	silent := r.passWithout(l.Nodes[1].ID, 10*time.Minute)
	if len(silent.Capacity) != 1 || silent.Capacity[0].Node != l.Nodes[1].ID || silent.Capacity[0].Has != (cluster.Resources{}) {
		t.Errorf("silent %+v", silent.Capacity)
	}
	l.Nodes = l.Nodes[1:] // the settings no longer name the first
	l.Capacity = []journal.NodeCapacity{first.Capacity[0], {Node: l.Nodes[0].ID}}
	gone := mount(t, settings(), l)
	if step := gone.stepWithout(""); len(step.Capacity) != 2 || step.Capacity[0].Has != (cluster.Resources{}) || step.Capacity[1].Has != l.Nodes[0].Capacity {
		t.Errorf("after a restart %+v", step.Capacity)
	}
}

// The first start of a vjob counts once among the waiting times, in its queue and class.
func TestWaits(t *testing.T) {
	with(t, settings(), func(p *plant) {
		job, _ := p.submitLong(func(*admission.Submission) {})
		h := p.loop.Requests.Snapshot().Waits[job.Queue]
		sum := uint64(0)
		for _, n := range h.Classes {
			sum += n
		}
		if h.Count != 1 || sum != 1 || h.Sum <= 0 || h.Sum > 10*time.Second {
			t.Errorf("%+v", h)
		}
		if err := p.loop.Requests.Order(p.t.Context(), job.ID, scheduler.OrderSuspend, "u"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		if err := p.loop.Requests.Order(p.t.Context(), job.ID, scheduler.OrderResume, "u"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		if again := p.loop.Requests.Snapshot().Waits[job.Queue]; again.Count != 1 || h.Count != 1 {
			t.Errorf("after a resume: %+v", again)
		}
	})
}
