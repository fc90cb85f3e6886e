package scheduler_test

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/execute"
	"vjob/ctxswitch/gang"
	"vjob/ctxswitch/journal"
	"vjob/hypervisor"
	"vjob/scheduler"
)

// rig is a core with nodes simulated by the test.
type rig struct {
	t       *testing.T
	core    *scheduler.Core
	now     time.Time
	views   map[cluster.NodeID]hypervisor.View
	plans   []journal.Plan
	events  []journal.Event
	calls   []hypervisor.Call
	wake    time.Time
	spent   []journal.Charge
	mute    bool // looks are not answered
	store   hypervisor.Store
	looks   []cluster.NodeID
	changes []journal.VJobChange
	freed   []cluster.VJobID
	lasts   time.Duration           // a decision beside the core
	beside  *scheduler.Deliberation // under way
	ponders bool                    // it is not passed back
}

func mount(t *testing.T, set scheduler.Settings, l journal.Loaded) *rig {
	t.Helper()
	r := &rig{t: t, core: scheduler.NewCore(set, l, epoch), now: epoch, views: views(l)}
	r.store.Free = hypervisor.Spaces{}
	for _, n := range l.Nodes {
		r.store.Free[n.ID] = hypervisor.Space{Pool: "shared", Free: 1 << 20}
		v := r.views[n.ID]
		v.Node = n.ID
		r.views[n.ID] = v
	}
	return r
}

// drain carries out everything but the calls.
func (r *rig) drain() {
	r.t.Helper()
	for more := true; more; {
		e := r.core.Flush(r.now)
		r.shows()
		r.plans = append(r.plans, e.Step.Plans...)
		r.changes, r.freed = append(r.changes, e.Step.VJobs...), append(r.freed, e.Step.Freed...)
		r.events = append(r.events, e.Step.Events...)
		for _, c := range e.Chains {
			r.calls = append(r.calls, c.Calls...)
		}
		r.wake = e.Wake
		r.spent = append(r.spent, e.Step.Charges...)
		r.looks = append(r.looks, e.Looks...)
		more = e.LookStore || len(r.looks) > 0 && !r.mute
		if e.Decide != nil {
			r.beside = e.Decide
			more = r.decided() || more
		}
		if e.LookStore {
			r.core.LookedStore(r.now, r.store, nil)
		}
		if !r.mute {
			for _, n := range r.looks {
				r.core.Looked(r.now, n, r.views[n], nil)
			}
			r.looks = nil
		}
	}
}

// shows holds what snapshots say of nodes, most of which is kept, against what is known now.
func (r *rig) shows() {
	r.t.Helper()
	shown, known := r.core.Snapshot().Nodes, r.core.FreshNodes()
	if len(shown) != len(known) {
		r.t.Fatalf("%d nodes are shown of %d", len(shown), len(known))
	}
	for i := range known {
		if !reflect.DeepEqual(shown[i], known[i]) {
			r.t.Fatalf("node %s is shown as\n%+v, and is\n%+v", known[i].ID, shown[i], known[i])
		}
	}
}

// decided passes back a decision that was taken beside the core. It reports whether there is one.
func (r *rig) decided() bool {
	if r.beside == nil || r.ponders {
		return false
	}
	r.beside.Decide()
	r.core.Decided(r.beside, r.lasts)
	r.beside = nil
	return true
}

// took tells how long decisions take: the last one, and those to come.
func (r *rig) took(d time.Duration) {
	r.lasts = d
	r.core.Took(d)
}

// at lets time go on to an instant after the beginning.
func (r *rig) at(since time.Duration) {
	r.now = epoch.Add(since)
	r.core.Tick(r.now)
	r.drain()
}

func TestDecideOnlyAfterTheSurvey(t *testing.T) {
	r := mount(t, settings(), state(4, 2))
	r.mute = true
	r.drain()
	looks := r.looks
	for _, n := range looks[:len(looks)-1] {
		r.core.Looked(r.now, n, r.views[n], nil)
	}
	r.drain()
	if len(r.plans) > 0 || r.core.Snapshot().Ready {
		t.Error("a decision was taken before every node was looked at")
	}
	r.core.Looked(r.now, looks[len(looks)-1], hypervisor.View{}, hypervisor.ErrUnreachable)
	r.drain()
	if len(r.plans) != 1 || !r.core.Snapshot().Ready {
		t.Errorf("%d plans after the survey", len(r.plans))
	}
}

// Between two decisions there is a rest, so that a burst of events costs one.
func TestRest(t *testing.T) {
	set := settings()
	set.Rest = time.Second
	r := mount(t, set, state(8, 0))
	r.drain()
	submit := func(id cluster.VJobID) {
		job := state(0, 1).VJobs[0].Clone()
		job.ID, job.VMs[0].ID.VJob, job.VMs[1].ID.VJob = id, id, id
		r.core.VJobs.Submitted(r.now, job)
		r.drain()
	}
	submit(100)
	submit(101)
	if len(r.plans) != 0 {
		t.Errorf("%d plans within the rest", len(r.plans))
	}
	if want := epoch.Add(time.Second); !r.wake.Equal(want) {
		t.Errorf("wakes at %s, want the end of the rest", r.wake)
	}
	r.at(time.Second)
	if len(r.plans) != 1 || len(r.plans[0].Plan.Gangs) < 2 {
		t.Errorf("%d plans after the rest, want one for all", len(r.plans))
	}
	// A decision that takes long leaves as much time for other things.
	r.took(4 * time.Second)
	submit(102)
	r.core.Took(time.Hour) // nothing was decided in it
	r.at(8 * time.Second)
	if want := epoch.Add(9 * time.Second); len(r.plans) != 1 || !r.wake.Equal(want) {
		t.Errorf("%d plans, wakes at %s; want the first one and %s", len(r.plans), r.wake, want)
	}
	r.at(9 * time.Second)
	if len(r.plans) != 2 {
		t.Errorf("%d plans after a long rest, want 2", len(r.plans))
	}
}

// A vjob that failed to start is left alone for a while, twice as long each time.
func TestBackoff(t *testing.T) {
	set := settings()
	set.Backoff = 10 * time.Second
	r := mount(t, set, state(4, 1))
	r.drain()
	fail := func() {
		for begun := 0; begun < len(r.calls); {
			begun = len(r.calls)
			for _, c := range r.calls {
				r.core.Replied(r.now, execute.Reply{Op: c.Op, Err: hypervisor.ErrRefused, Began: r.now, Ended: r.now})
			}
			r.drain()
		}
	}
	fail()
	id := cluster.VJobID(2)
	status := r.core.Snapshot().VJob(id)
	if status.State != cluster.Waiting || len(r.plans) != 1 {
		t.Fatalf("it is %s after %d plans", status.State, len(r.plans))
	}
	r.at(5 * time.Second)
	if reason := r.core.Snapshot().VJob(id).Reason; !strings.Contains(reason, "tried 1 time") {
		t.Errorf("it says %q", reason)
	}
	r.at(9900 * time.Millisecond)
	if len(r.plans) != 1 {
		t.Error("it was tried again too early")
	}
	r.at(10100 * time.Millisecond)
	if len(r.plans) != 2 {
		t.Fatalf("%d plans after the back-off", len(r.plans))
	}
	fail()
	r.at(29 * time.Second)
	if len(r.plans) != 2 {
		t.Error("the second back-off is not longer than the first")
	}
	r.at(31 * time.Second)
	if len(r.plans) != 3 {
		t.Errorf("%d plans after the second back-off", len(r.plans))
	}
}

// crowd has a vjob in every state that a user can meet.
func crowd() journal.Loaded {
	l := state(8, 1)
	add := func(s cluster.State, phase gang.Phase, held bool) {
		id := cluster.VJobID(len(l.VJobs) + 1)
		job := &cluster.VJob{ID: id, Name: "x", Owner: "u", State: s, Held: held, VMs: []cluster.VM{{
			ID: cluster.VMID{VJob: id}, Reserved: cluster.Resources{CPU: 1000, Memory: 128},
		}}, Terms: &cluster.Terms{}}
		l.VJobs = append(l.VJobs, job)
		l.Gangs = append(l.Gangs, gang.Record{VJob: id, Phase: phase, Incarnation: 1, Members: []gang.Member{{Node: "n0007"}}})
	}
	add(cluster.Waiting, gang.Absent, true)
	add(cluster.Running, gang.Active, true)
	add(cluster.Suspending, gang.Saving, false)
	add(cluster.Stopping, gang.Clearing, false)
	return l
}

// Which order is granted in which state; a refusal changes nothing.
func TestOrders(t *testing.T) {
	const running, waiting, held, suspended, suspending, stopping = 1, 3, 4, 5, 6, 7
	granted := map[scheduler.Order][]cluster.VJobID{
		scheduler.OrderHold:    {waiting, held},
		scheduler.OrderRelease: {held, suspended},
		scheduler.OrderSuspend: {running, suspended, suspending},
		scheduler.OrderResume:  {held, suspended},
		scheduler.OrderDelete:  {running, waiting, held, suspended, suspending, stopping},
	}
	for order, ids := range granted {
		for _, id := range []cluster.VJobID{running, waiting, held, suspended, suspending, stopping} {
			c := scheduler.NewCore(settings(), crowd(), epoch)
			before := c.Snapshot().VJob(id)
			err := c.VJobs.Order(epoch, id, order, "u")
			want := false
			for _, g := range ids {
				want = want || g == id
			}
			if want != (err == nil) || !want && !errors.Is(err, cluster.ErrConflict) {
				t.Errorf("%s of one that is %s (held: %v): %v", order, before.State, before.Held, err)
			}
			if after := c.Snapshot().VJob(id); err != nil && (after.State != before.State || after.Held != before.Held) {
				t.Errorf("%s was refused and did something", order)
			}
		}
	}
	c := scheduler.NewCore(settings(), crowd(), epoch)
	if err := c.VJobs.Order(epoch, 99, scheduler.OrderHold, "u"); !errors.Is(err, cluster.ErrNotFound) {
		t.Errorf("a vjob that is not there: %v", err)
	}
	if err := c.VJobs.Order(epoch, running, "dance", "u"); !errors.Is(err, cluster.ErrInvalid) {
		t.Errorf("an unknown order: %v", err)
	}
}

func TestSetNode(t *testing.T) {
	r := mount(t, settings(), state(4, 0))
	r.drain()
	if err := r.core.Nodes.Set(r.now, []cluster.NodeID{"n0000"}, cluster.Offline, "op"); !errors.Is(err, cluster.ErrConflict) || !strings.Contains(err.Error(), "1.0") {
		t.Errorf("a node with VMs was switched off, or the blocker is not named: %v", err)
	}
	if err := r.core.Nodes.Set(r.now, []cluster.NodeID{"n9"}, cluster.Offline, "op"); !errors.Is(err, cluster.ErrNotFound) {
		t.Errorf("a node that is not there: %v", err)
	}
	for range 2 { // the second time there is nothing to do
		if err := r.core.Nodes.Set(r.now, []cluster.NodeID{"n0001"}, cluster.Draining, "op"); err != nil {
			t.Error(err)
		}
	}
	if e := r.core.Flush(r.now); len(e.Step.Nodes) != 1 || e.Step.Nodes[0].State != cluster.Draining {
		t.Errorf("written: %+v", e.Step.Nodes)
	}
}

// Several nodes are changed in one step or not at all, so that nothing moves from the one
// to the next of a rack that is drained.
func TestSetNodes(t *testing.T) {
	r := mount(t, settings(), state(8, 0)) // a VM on each node
	r.drain()
	rack := []cluster.NodeID{"n0000", "n0001", "n0002", "n0003"}
	if err := r.core.Nodes.Set(r.now, append(rack[:2:2], "n9"), cluster.Draining, "op"); !errors.Is(err, cluster.ErrNotFound) {
		t.Errorf("with a node that is not there: %v", err)
	}
	if err := r.core.Nodes.Set(r.now, rack, cluster.Offline, "op"); !errors.Is(err, cluster.ErrConflict) {
		t.Errorf("nodes with VMs: %v", err)
	}
	if e := r.core.Flush(r.now); len(e.Step.Nodes) > 0 {
		t.Errorf("refused, and yet written: %+v", e.Step.Nodes)
	}
	if err := r.core.Nodes.Set(r.now, rack, cluster.Draining, "op"); err != nil {
		t.Fatal(err)
	}
	r.at(time.Second)
	moved := 0
	for _, p := range r.plans {
		for _, a := range p.Plan.Actions {
			if slices.Contains(rack, a.To) {
				t.Errorf("%s moves to %s, which is drained", a.VM, a.To)
			}
			moved++
		}
	}
	if len(r.plans) != 1 || moved != len(rack) {
		t.Errorf("%d plans with %d actions, want one with %d", len(r.plans), moved, len(rack))
	}
}

// Those that wait have a place in the queue and a reason with numbers.
func TestPlacesAndReasons(t *testing.T) {
	l := state(4, 3) // 12 CPU are free, in four pieces of 3
	for _, job := range l.VJobs[1:] {
		job.VMs[0].Reserved.CPU, job.VMs[1].Reserved.CPU = 4*cluster.CPU, 4*cluster.CPU
	}
	l.VJobs[2].Priority = 5
	l.VJobs[3].Held = true
	r := mount(t, settings(), l)
	r.drain()
	s := r.core.Snapshot()
	for id, want := range map[cluster.VJobID]struct {
		place  int
		reason string
	}{1: {0, "to make room for 3"}, 3: {0, ""}, 2: {1, "1st in line"}, 4: {0, "held"}} {
		got := s.VJob(id)
		if got.Place != want.place || want.reason != "" && !strings.Contains(got.Why("", epoch), want.reason) {
			t.Errorf("vjob %s is %s, place %d: %q", id, got.State, got.Place, got.Why("", epoch))
		}
	}
}

func TestWalltimeEnds(t *testing.T) {
	l := state(4, 0)
	l.VJobs[0].Walltime = time.Minute
	l.Ran = map[cluster.VJobID]time.Duration{1: 20 * time.Second}
	r := mount(t, settings(), l)
	r.drain()
	r.at(39 * time.Second)
	if s := r.core.Snapshot().VJob(1); s.State != cluster.Running {
		t.Errorf("before its walltime it is %s", s.State)
	}
	if want := epoch.Add(40 * time.Second); !r.wake.Equal(want) {
		t.Errorf("wakes at %s, want its walltime", r.wake)
	}
	r.at(40 * time.Second)
	if s := r.core.Snapshot().VJob(1); s.State != cluster.Stopping || !strings.Contains(s.Why("", epoch), "walltime") {
		t.Errorf("at its walltime it is %s: %s", s.State, s.Why("", epoch))
	}
}
