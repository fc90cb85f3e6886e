package execute_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/ctxswitch/execute"
	"vjob/ctxswitch/gang"
	"vjob/ctxswitch/journal"
	"vjob/hypervisor"
)

// makesRoom is a plan that stops vjob 1 to boot vjob 2, which 3 does not wait for.
func makesRoom(t *testing.T) *harness {
	t.Helper()
	set := settings()
	set.Limits.StopGrace = 0
	l := world(job(1, 4, cluster.Running), job(2, 1, cluster.Waiting), job(3, 1, cluster.Waiting))
	l.Gangs = append(l.Gangs, at(1, gang.Active, "a", "a", "a", "b"))
	d := newHarness(t, set, l)
	d.settle()
	d.adopt([]ctxGang{
		group(cluster.Suspend, 1, 0, 1, 2, 3), group(cluster.Boot, 2, 4), group(cluster.Boot, 3, 5),
	}, act(cluster.Suspend, 1, 0, "a", ""), act(cluster.Suspend, 1, 1, "a", ""), act(cluster.Suspend, 1, 2, "a", ""),
		act(cluster.Suspend, 1, 3, "b", ""), act(cluster.Boot, 2, 0, "", "a", 0), act(cluster.Boot, 3, 0, "", "c"))
	return d
}

// What waits for nothing begins at once, what waits for an action only after it.
func TestPlansGoByDependencies(t *testing.T) {
	d := makesRoom(t)
	d.wants("1 pause 1.0@a, 2 pause 1.1@a, 3 pause 1.2@a, 4 pause 1.3@b, 5 boot 3.0@c")
	if got := d.progress(1, 6); got != "running running running running  running; running" {
		t.Errorf("got %q", got)
	}
	for _, r := range d.exec.Jobs() {
		if r.Idle {
			t.Errorf("vjob %s counts as idle although a plan disposes of it", r.Job.ID)
		}
	}
}

// When a gang gives up, only the gangs that wait for its room are dropped.
func TestDependentsAreDropped(t *testing.T) {
	d := makesRoom(t)
	d.has(3, 0, "c", hypervisor.CopyRunning)
	d.reply(5, nil)
	// A guest crashes instead of being paused: the gang is lost as a whole.
	d.copies["a"] = nil
	d.gone(1, 3, "b")
	for op := range hypervisor.OpID(4) {
		d.reply(op+1, hypervisor.ErrNoSuchVM)
	}
	if got := d.progress(1, 6); got != "failed failed failed failed dropped done; failed" {
		t.Errorf("got %q", got)
	}
	if n := d.told("context switch 1 ended early"); n != 1 {
		t.Errorf("it was told %d times that the plan ended early", n)
	}
	r, _ := d.exec.Job(2)
	if !r.Idle || r.Job.State != cluster.Waiting || r.Failures != 0 {
		t.Errorf("the vjob that was dropped: %+v", r)
	}
	if d.told("lost:") != 1 {
		t.Errorf("%d alarms, want one", d.told("lost:"))
	}
}

// An empty hop: a member that is where the plan wants it needs no call.
func TestPlanIsDone(t *testing.T) {
	d := booting(t, settings())
	d.has(1, 0, "a", hypervisor.CopyRunning)
	d.reply(1, nil)
	if got := d.progress(1, 1); got != "done; done" {
		t.Errorf("got %q", got)
	}
	if d.told("context switch 1 is done") != 1 || d.told("vjob 1 is running") != 1 {
		t.Error("no event")
	}
}

// Clear ends a vjob in every phase: what it was doing is given up, what follows
// is the same protocol.
func TestClearInEveryPhase(t *testing.T) {
	states := map[gang.Phase]cluster.State{
		gang.Absent: cluster.Waiting, gang.Creating: cluster.Booting, gang.Active: cluster.Running,
		gang.Pausing: cluster.Suspending, gang.Saving: cluster.Suspending, gang.Saved: cluster.Suspended,
		gang.Restoring: cluster.Resuming, gang.Resuming: cluster.Resuming, gang.Moving: cluster.Migrating,
		gang.Shifting: cluster.Migrating, gang.Clearing: cluster.Stopping,
	}
	for phase, state := range states {
		t.Run(phase.String(), func(t *testing.T) {
			set := settings()
			set.Limits.StopGrace = 0
			rec := at(1, phase, "a")
			switch phase {
			case gang.Pausing:
				rec.Then = gang.ThenSave
			case gang.Saved, gang.Restoring:
				rec.Members[0] = gang.Member{Image: &gang.Image{ID: hypervisor.ImageID{VM: cluster.VMID{VJob: 1}, Generation: 1, Attempt: 1}, Node: "a"}}
			case gang.Absent:
				rec.Members[0].Node = ""
			default: // as it is
			}
			l := world(job(1, 1, state))
			l.Gangs = append(l.Gangs, rec)
			d := newHarness(t, set, l)
			if err := d.exec.Clear(d.now, 1, gang.ThenTerminate, cluster.Because("deleted by u")); err != nil {
				t.Fatal(err)
			}
			if err := d.exec.Clear(d.now, 1, gang.ThenTerminate, cluster.Because("deleted by u")); phase != gang.Absent && err != nil {
				t.Errorf("the second time: %v", err)
			}
			d.settle()
			d.obey()
			if _, live := d.exec.Job(1); live {
				d.isIn(gang.Absent)
			}
			if d.told("vjob 1 has ended: deleted by u") != 1 {
				t.Errorf("it has not ended; calls were %s", d.wanted())
			}
		})
	}
}

// obey simulates nodes that carry out their calls, until no call is left.
func (d *harness) obey() { d.obeyIn(0) }

// obeyIn does so where each call takes its time.
func (d *harness) obeyIn(took time.Duration) {
	for ; d.obeyed < len(d.calls); d.obeyed++ {
		d.carryOut(d.calls[d.obeyed], took)
	}
}

// carryOut plays a node that carries a call out, and says so.
func (d *harness) carryOut(c hypervisor.Call, took time.Duration) {
	d.does(c)
	if list := d.copies[c.Node]; c.Verb == hypervisor.Boot {
		list[len(list)-1].Stamp = c.Stamp
	}
	began := d.now
	d.now = d.now.Add(took)
	d.exec.Replied(d.now, execute.Reply{Op: c.Op, Began: began, Ended: d.now, Receipt: hypervisor.Receipt{Incarnation: 1}})
	d.settle()
}

// does gives a call its effect on copies and images.
func (d *harness) does(c hypervisor.Call) {
	id, rank := c.VM.VJob, c.VM.Rank
	switch c.Verb {
	case hypervisor.Boot, hypervisor.Unpause:
		d.has(id, rank, c.Node, hypervisor.CopyRunning)
	case hypervisor.Pause, hypervisor.Restore:
		d.has(id, rank, c.Node, hypervisor.CopyPaused)
	case hypervisor.Save:
		d.gone(id, rank, c.Node)
		d.store.Images = append(d.store.Images, hypervisor.Image{ID: c.Image, Node: c.Node, Complete: true})
	case hypervisor.Migrate:
		for _, moved := range d.copies[c.Node] {
			if moved.VM == c.VM {
				d.has(id, rank, c.To, moved.State)
			}
		}
		d.gone(id, rank, c.Node)
	case hypervisor.Destroy, hypervisor.Shutdown:
		d.gone(id, rank, c.Node)
	case hypervisor.Discard:
		d.store.Images = slices.DeleteFunc(d.store.Images, func(i hypervisor.Image) bool { return i.ID == c.Image })
	default: // leaves things as they are
	}
}

func TestClearOfAnUnknownVJob(t *testing.T) {
	d := newHarness(t, settings(), world())
	if err := d.exec.Clear(d.now, 7, gang.ThenTerminate, cluster.Because("")); !errors.Is(err, cluster.ErrNotFound) {
		t.Errorf("got %v", err)
	}
	if err := d.exec.Hold(d.now, 7, true, cluster.Because("")); !errors.Is(err, cluster.ErrNotFound) {
		t.Errorf("got %v", err)
	}
}

// A vjob that is cleared drops its part of a plan, and the vjobs that waited for it go on.
func TestClearDropsThePlan(t *testing.T) {
	d := makesRoom(t)
	if err := d.exec.Clear(d.now, 3, gang.ThenTerminate, cluster.Because("deleted by u")); err != nil {
		t.Fatal(err)
	}
	d.settle()
	if got := d.progress(1, 6); got != "running running running running  dropped; running" {
		t.Errorf("got %q", got)
	}
}

func TestHoldIsWrittenOnce(t *testing.T) {
	d := newHarness(t, settings(), world(job(1, 1, cluster.Waiting)))
	d.settle()
	changes := d.exec.Changes()
	for range 2 {
		if err := d.exec.Hold(d.now, 1, true, cluster.Because("held by u")); err != nil {
			t.Fatal(err)
		}
	}
	d.settle()
	r, _ := d.exec.Job(1)
	if !r.Job.Held || r.Job.Version != 1 || d.exec.Changes() != changes+1 || d.told("held by u") != 1 {
		t.Errorf("got %+v, %d changes", r.Job, d.exec.Changes()-changes)
	}
}

// What administrators should know of a node is an event when it is new, and stands in the
// report as long as it holds.
func TestNodeWarnings(t *testing.T) {
	d := newHarness(t, settings(), world())
	d.settle()
	d.steps = nil
	events := 0
	for i, warnings := range [][]string{{"not confined"}, {"not confined"}, nil, {"not confined", "in the clear"}} {
		d.exec.Looked(d.now, "b", hypervisor.View{Node: "b", Warnings: warnings}, nil)
		d.settle()
		if len(warnings) > 0 && i != 1 {
			events++
		}
		if n := d.told("node b: "); n != events || !slices.Equal(d.exec.Nodes()[1].Warnings, warnings) {
			t.Errorf("look %d: %d events, want %d; reported %q, want %q", i, n, events, d.exec.Nodes()[1].Warnings, warnings)
		}
	}
	for _, e := range d.events(journal.EventNode) {
		if e.Node != "b" {
			t.Errorf("the warnings of b are an event of node %q", e.Node)
		}
	}
}

// A node that falls silent causes one event, and so does its return.
func TestSilence(t *testing.T) {
	d := newHarness(t, settings(), world())
	d.settle()
	d.dead["b"] = true
	d.pass(time.Minute)
	if d.told("node b does not answer") != 1 || !d.exec.Nodes()[1].Silent {
		t.Errorf("told %d times", d.told("node b does not answer"))
	}
	d.dead["b"] = false
	d.pass(time.Minute)
	if d.told("node b answers") != 2 || d.exec.Nodes()[1].Silent {
		t.Errorf("told %d times", d.told("node b answers"))
	}
}

// Nothing is decided before every node was looked at, with or without success.
func TestSurvey(t *testing.T) {
	d := newHarness(t, settings(), world())
	d.flush()
	d.exec.Looked(d.now, "a", hypervisor.View{Node: "a"}, nil)
	d.exec.Looked(d.now, "b", hypervisor.View{}, hypervisor.ErrUnreachable)
	if d.exec.AllSeen() {
		t.Error("c was not looked at")
	}
	d.exec.SetNode(d.now, cluster.Node{ID: "c", State: cluster.Down})
	if !d.exec.AllSeen() {
		t.Error("a node that is proven dead needs no look")
	}
}

// A migration of several hops goes on from hop to hop, and is one move of the gang.
func TestHops(t *testing.T) {
	for name, live := range map[string]bool{"paused": false, "live": true} {
		t.Run(name, func(t *testing.T) { hops(t, live) })
	}
}

func hops(t *testing.T, live bool) {
	t.Helper()
	l := world(job(1, 1, cluster.Running))
	l.Gangs = append(l.Gangs, at(1, gang.Active, "a"))
	d := newHarness(t, settings(), l)
	d.settle()
	first, second := act(cluster.Migrate, 1, 0, "a", "b"), act(cluster.Migrate, 1, 0, "b", "c", 0)
	first.Live, second.Live = live, live
	d.adopt([]ctxGang{group(cluster.Migrate, 1, 0, 1)}, first, second)
	for i := 0; i < len(d.calls) && i < 10; i++ {
		state := hypervisor.CopyPaused
		switch c := d.calls[i]; c.Verb {
		case hypervisor.Migrate:
			if live {
				state = hypervisor.CopyRunning
			}
			d.gone(1, 0, c.Node)
			d.has(1, 0, c.To, state)
		case hypervisor.Unpause:
			d.has(1, 0, c.Node, hypervisor.CopyRunning)
		default:
			d.has(1, 0, c.Node, state)
		}
		d.reply(d.calls[i].Op, nil)
	}
	want := "1 pause 1.0@a, 2 migrate 1.0@a>b, 3 migrate 1.0@b>c, 4 unpause 1.0@c"
	if live {
		want = "1 migrate 1.0@a>b, 2 migrate 1.0@b>c"
	}
	d.wants(want)
	d.isIn(gang.Active)
	if got := d.progress(1, 2); got != "done done; done" {
		t.Errorf("got %q", got)
	}
}

// A member that goes over many pivots may take more hops than a call has tries.
func TestManyHops(t *testing.T) {
	l := world(job(1, 1, cluster.Running))
	l.Gangs = append(l.Gangs, at(1, gang.Active, "a"))
	for _, id := range []cluster.NodeID{"d", "e", "f"} {
		n := l.Nodes[0]
		n.ID = id
		l.Nodes = append(l.Nodes, n)
	}
	d := newHarness(t, settings(), l)
	d.settle()
	var actions []ctxswitch.Action
	var ids []ctxswitch.ActionID
	way := []cluster.NodeID{"a", "b", "c", "d", "e", "f"}
	for i, to := range way[1:] {
		a := act(cluster.Migrate, 1, 0, way[i], to)
		if i > 0 {
			a = act(cluster.Migrate, 1, 0, way[i], to, ctxswitch.ActionID(i-1))
		}
		a.Live = true
		actions, ids = append(actions, a), append(ids, ctxswitch.ActionID(i))
	}
	d.adopt([]ctxGang{group(cluster.Migrate, 1, ids...)}, actions...)
	for i := 0; i < len(d.calls) && i < 20; i++ {
		if i%3 < 2 { // each hop may fail twice
			d.reply(d.calls[i].Op, hypervisor.ErrRefused)
			continue
		}
		d.gone(1, 0, d.calls[i].Node)
		d.has(1, 0, d.calls[i].To, hypervisor.CopyRunning)
		d.reply(d.calls[i].Op, nil)
	}
	if len(d.calls) != 3*(len(way)-1) {
		t.Errorf("%d calls for %d hops", len(d.calls), len(way)-1)
	}
	d.isIn(gang.Active)
}
