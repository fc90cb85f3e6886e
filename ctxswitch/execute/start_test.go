package execute_test

import (
	"errors"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/execute"
	"vjob/ctxswitch/gang"
	"vjob/ctxswitch/journal"
	"vjob/hypervisor"
)

// A vjob that was just submitted is taken in once, and a plan may boot it.
func TestAdd(t *testing.T) {
	d := newHarness(t, settings(), world())
	d.settle()
	changes := d.exec.Changes()
	d.now = d.now.Add(time.Second)
	if !d.exec.Add(d.now, job(1, 2, cluster.Waiting)) || d.exec.Changes() == changes {
		t.Error("it is not new")
	}
	if wake := d.exec.Flush().Wake; !wake.Equal(d.now.Add(settings().LookEvery)) {
		t.Errorf("it wakes the scheduler at %s", wake)
	}
	if again := d.exec.Add(d.now, job(1, 3, cluster.Waiting)); again {
		t.Error("it is new for the second time")
	}
	r, live := d.exec.Job(1)
	if !live || !r.Idle || r.Ran != 0 || r.Crowded != 0 || r.Record.VJob != 1 || len(r.Record.Members) != 2 || len(r.Job.VMs) != 2 {
		t.Fatalf("it is reported as %+v", r)
	}
	d.adopt([]ctxGang{group(cluster.Boot, 1, 0, 1)}, act(cluster.Boot, 1, 0, "", "a"), act(cluster.Boot, 1, 1, "", "b"))
	d.obey()
	d.isIn(gang.Active)
	d.exec.Add(d.now, job(2, 1, cluster.Waiting))
	if r, _ := d.exec.Job(2); len(r.Record.Members) != 1 || r.Record.Members[0] != (gang.Member{}) {
		t.Errorf("it begins with %+v", r.Record)
	}
}

// A vjob that is new is looked after at once: copies under its number raise an alarm.
func TestAddWhereCopiesAre(t *testing.T) {
	d := newHarness(t, settings(), world())
	d.has(1, 0, "a", hypervisor.CopyPaused)
	d.settle()
	d.exec.Add(d.now, job(1, 1, cluster.Waiting))
	d.flush()
	if d.told("1.0 on a has incarnation 1, later than the record's 0: left alone") != 1 {
		t.Error("the copy is not told")
	}
	d.wants("")
}

// Without a node the first thing to do is a look at the store, as time goes on.
func TestAStartWithoutNodes(t *testing.T) {
	first := execute.New(settings(), journal.Loaded{}, start).Flush()
	if !first.LookStore || len(first.Looks) > 0 || !first.Wake.Equal(start.Add(settings().LookEvery)) {
		t.Errorf("it wants %+v", first)
	}
}

// A record without members, or with fewer than the vjob has VMs, is filled up.
func TestRecordsWithoutMembers(t *testing.T) {
	for _, nodes := range [][]cluster.NodeID{nil, {"a"}} {
		l := world(job(1, 2, cluster.Running))
		l.Gangs = append(l.Gangs, at(1, gang.Active, nodes...))
		l.Gangs[0].VJob = 1
		d := newHarness(t, settings(), l)
		if r, _ := d.exec.Job(1); len(r.Record.Members) != 2 || r.Record.VJob != 1 {
			t.Errorf("%v: %+v", nodes, r.Record)
		}
	}
}

// After a start all calls without a result are open, and all plans are closed. What nodes
// have drawn so far goes on.
func TestWhatAStartTakesOver(t *testing.T) {
	set := settings()
	set.Settle = 3 * time.Second
	l := world(job(1, 2, cluster.Booting), job(2, 1, cluster.Running))
	rec := at(1, gang.Creating, "", "")
	rec.Members[0].Next, rec.Members[1].Next = "a", "b"
	l.Gangs = append(l.Gangs, rec, at(2, gang.Active, "c"))
	l.NextOp = 8
	l.Plans = []journal.PlanID{3, 4}
	l.Drawn = []journal.NodeEnergy{{Node: "a", Joules: 700}, {Node: "b", Joules: 800}}
	l.Open = []journal.Intent{
		{Call: hypervisor.Call{Op: 5, Verb: hypervisor.Boot, VM: cluster.VMID{VJob: 1}, Node: "a"}, At: start.Add(-time.Minute)},
		{Call: hypervisor.Call{Op: 6, Verb: hypervisor.Boot, VM: cluster.VMID{VJob: 1, Rank: 1}, Node: "b"}, At: start.Add(-time.Hour)},
		{Call: hypervisor.Call{Op: 7, Verb: hypervisor.Tune, VM: cluster.VMID{VJob: 2}, Node: "c"}, At: start},
	}
	d := newHarness(t, set, l)
	if wake := d.exec.Flush().Wake; !wake.Equal(start.Add(3 * time.Second)) {
		t.Errorf("wakes after %s, want when the calls are settled", wake.Sub(start))
	}
	d = newHarness(t, set, l)
	d.settle()
	if got := d.progress(3, 0) + d.progress(4, 0); got != "; dropped; dropped" {
		t.Errorf("the plans of the life before: %s", got)
	}
	for _, c := range d.steps[0].Closed {
		if !c.Ended.Equal(start) {
			t.Errorf("plan %d ended at %s", c.ID, c.Ended)
		}
	}
	for node, joules := range map[cluster.NodeID]int64{"a": 700, "b": 800, "c": 0} {
		if n, _ := d.exec.Node(node); n.Joules != joules {
			t.Errorf("%s has drawn %d J, want %d", node, n.Joules, joules)
		}
	}
	d.adoptAs(5, []ctxGang{group(cluster.Suspend, 2, 0)}, act(cluster.Suspend, 2, 0, "c", ""))
	d.wants("8 pause 2.0@c") // a cap that is open is no reason to wait
	d.pass(set.Settle - time.Second)
	d.wants("8 pause 2.0@c")
	d.pass(time.Second)
	d.wants("8 pause 2.0@c, 9 boot 1.0@a, 10 boot 1.1@b")
	for _, s := range d.steps {
		for _, r := range s.Results {
			if i := int(r.Op) - 5; i < 2 && !r.Began.Equal(l.Open[i].At) {
				t.Errorf("call %d began at %s", r.Op, r.Began)
			}
		}
	}
}

// The executor wants to be woken when the next thing is due that it waits for.
func TestWake(t *testing.T) {
	set := settings()
	set.LookEvery, set.RoomTimeout, set.Settle = time.Hour, 9*time.Minute, 7*time.Minute
	set.Limits.DepartureGrace, set.Limits.StoreLag, set.Limits.MaxSkew = 8*time.Minute, 11*time.Minute, 6*time.Minute
	const never = time.Hour // but for looks
	running := func(phase gang.Phase, state cluster.State, nodes ...cluster.NodeID) journal.Loaded {
		l := world(job(1, len(nodes), state))
		l.Gangs = append(l.Gangs, at(1, phase, nodes...))
		return l
	}
	for _, c := range []struct {
		name string
		from journal.Loaded
		do   func(d *harness)
		want time.Duration
	}{
		{"nothing", world(), func(*harness) {}, never},
		{"a vjob that has ended", running(gang.Active, cluster.Running, "a"), func(d *harness) {
			d.settle()
			if err := d.exec.Clear(d.now, 1, gang.ThenFail, cluster.Because("deleted")); err != nil {
				t.Fatal(err)
			}
			d.settle()
			d.obey()
		}, never},
		{"a silent node", world(), func(d *harness) { d.dead["b"] = true }, set.Retry},
		{"a silent node that is declared down", world(), func(d *harness) {
			d.dead["b"] = true
			d.settle()
			d.exec.SetNode(d.now, cluster.Node{ID: "b", State: cluster.Down})
		}, never},
		{"a deadline", world(job(1, 1, cluster.Waiting)), func(d *harness) {
			d.adopt([]ctxGang{group(cluster.Boot, 1, 0)}, act(cluster.Boot, 1, 0, "", "a"))
		}, 35 * time.Second},
		{"a call that is lost", world(job(1, 1, cluster.Waiting)), func(d *harness) {
			d.adopt([]ctxGang{group(cluster.Boot, 1, 0)}, act(cluster.Boot, 1, 0, "", "a"))
			d.reply(1, hypervisor.ErrTimeout)
		}, set.Settle},
		{"patience", full(job(1, 1, cluster.Waiting)), func(d *harness) {
			d.adopt([]ctxGang{group(cluster.Boot, 1, 0)}, act(cluster.Boot, 1, 0, "", "a"))
		}, set.RoomTimeout},
		{"word of how a guest left", running(gang.Active, cluster.Running, "a", "b"), func(d *harness) { d.gone(1, 1, "b") }, set.Limits.DepartureGrace},
		{"an image that is to be seen", running(gang.Saving, cluster.Suspending, "a", "b"), func(d *harness) {
			d.gone(1, 0, "a")
			d.gone(1, 1, "b")
			d.settle()
			d.now = d.now.Add(9 * time.Minute)
			d.exec.Tick(d.now)
		}, 2 * time.Minute},
		{"a call that failed often", running(gang.Clearing, cluster.Stopping, "a"), func(d *harness) {
			d.settle()
			for i := range 4 {
				d.reply(hypervisor.OpID(i+1), errors.New("internal error"))
			}
		}, time.Second},
		{"a skew", running(gang.Pausing, cluster.Suspending, "a"), func(d *harness) {
			d.copies["a"][0].Job = hypervisor.JobOutgoing
		}, set.Limits.MaxSkew + time.Millisecond},
		{"a cap", running(gang.Active, cluster.Running, "a"), func(d *harness) {
			d.settle()
			d.exec.SetCaps(d.now, 1, []cluster.MilliCPU{500})
			d.settle()
			d.reply(1, errors.New("no such controller"))
		}, 5 * time.Second},
	} {
		d := newHarness(t, set, c.from)
		c.do(d)
		for _, node := range []cluster.NodeID{"a", "b", "c"} {
			d.exec.Hint(d.now, node)
		}
		d.settle()
		if got := d.exec.Flush().Wake.Sub(d.now); got != c.want {
			t.Errorf("%s: wakes after %s, want %s", c.name, got, c.want)
		}
	}
}
