package execute_test

import (
	"errors"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/ctxswitch/execute"
	"vjob/ctxswitch/gang"
	"vjob/ctxswitch/journal"
	"vjob/hypervisor"
)

// lookedAt answers a look that was wanted before something else happened.
func (d *harness) lookedAt(node cluster.NodeID, copies ...hypervisor.Copy) {
	d.exec.Looked(d.now, node, hypervisor.View{Node: node, Copies: copies}, nil)
	d.flush()
}

// A look that began before a call has ended does not show what the call did: another look
// follows, and nothing is done before it.
func TestALookThatBeganTooEarly(t *testing.T) {
	d := booting(t, settings())
	d.exec.Hint(d.now, "a")
	d.flush()
	d.exec.Replied(d.now, execute.Reply{Op: 1, Began: d.now, Ended: d.now})
	d.flush()
	d.lookedAt("a")
	d.wants("1 boot 1.0@a")
	d.isIn(gang.Creating)
	if len(d.looks) != 2 {
		t.Errorf("looks at a: %d, want the early one and another", len(d.looks))
	}
	d.has(1, 0, "a", hypervisor.CopyRunning)
	d.lookedAt("a", d.copies["a"]...)
	d.isIn(gang.Active)
	d.looks = nil
	d.settle()
	if len(d.looks) > 0 {
		t.Errorf("more looks: %v", d.looks)
	}

	d.exec.Hint(d.now, "a")
	d.exec.Hint(d.now, "a")
	d.flush()
	d.looks = nil
	d.exec.Looked(d.now, "a", hypervisor.View{}, hypervisor.ErrUnreachable)
	if d.flush(); len(d.looks) > 0 {
		t.Errorf("a node that does not answer is looked at again at once: %v", d.looks)
	}
}

// The same holds for looks at the image store.
func TestAStoreLookThatBeganTooEarly(t *testing.T) {
	set := settings()
	set.Costs.SuspendPer = time.Hour
	l := world(job(1, 1, cluster.Suspending))
	l.Gangs = append(l.Gangs, at(1, gang.Saving, "a"))
	d := newHarness(t, set, l)
	d.has(1, 0, "a", hypervisor.CopyPaused)
	d.settle()
	d.pass(6*settings().LookEvery - time.Second)
	d.now = d.now.Add(time.Second)
	d.exec.Tick(d.now)
	if d.flush(); !d.looking {
		t.Fatal("the store is not looked at")
	}
	d.looking = false
	before := d.store
	d.saved(0)
	d.exec.Replied(d.now, execute.Reply{Op: 1, Began: d.now, Ended: d.now})
	d.flush()
	looks := d.looks
	d.looks = nil
	for _, node := range looks {
		d.lookedAt(node, d.copies[node]...)
	}
	d.exec.LookedStore(d.now, before, nil)
	d.flush()
	d.wants("1 save 1.0@a")
	if !d.looking {
		t.Error("no other look at the store follows")
	}
	d.settle()
	d.wants("1 save 1.0@a, 2 seal 1.0@a")
}

// A node that is declared down holds nothing, whatever a look shows that was under way.
func TestANodeThatIsDown(t *testing.T) {
	l := world(job(1, 1, cluster.Running), job(2, 1, cluster.Running), job(3, 1, cluster.Waiting))
	l.Gangs = append(l.Gangs, at(1, gang.Active, "a"), at(2, gang.Active, "b"))
	d := newHarness(t, settings(), l)
	d.settle()
	d.exec.Hint(d.now, "a")
	d.flush()
	changes := d.exec.Changes()
	n, _ := d.exec.Node("a")
	n.State = cluster.Down
	d.now = d.now.Add(time.Second)
	d.exec.SetNode(d.now, n.Node)
	if d.exec.Changes() == changes {
		t.Error("no new decision is wanted")
	}
	d.flush()
	if d.told("1.0 was on a, which is down") == 0 {
		t.Error("vjob 1 is not lost")
	}
	d.lookedAt("a", d.copies["a"]...)
	d.looks = nil
	d.settle()
	if n, _ := d.exec.Node("a"); n.Silent || len(n.VMs) > 0 {
		t.Errorf("it is reported as %+v", n)
	}
	if r, _ := d.exec.Job(1); r.Record.Losses != 1 || r.Record.Phase != gang.Absent {
		t.Errorf("vjob 1 is %+v", r.Record)
	}
	if r, _ := d.exec.Job(2); r.Record.Phase != gang.Active {
		t.Errorf("vjob 2 is %+v", r.Record)
	}
	d.exec.Hint(d.now, "a")
	if d.flush(); len(d.looks) > 0 {
		t.Errorf("it is looked at")
	}
	d.adopt([]ctxGang{group(cluster.Boot, 3, 0)}, act(cluster.Boot, 3, 0, "", "a"))
	d.wants("") // nothing is booted there
	if err := d.exec.Clear(d.now, 3, gang.ThenTerminate, cluster.Because("deleted by u")); err != nil {
		t.Fatal(err)
	}
	d.settle()
	n.State = cluster.Online
	d.exec.SetNode(d.now, n.Node)
	d.settle()
	d.wants("1 destroy 1.0@a") // it was not dead
}

// Nodes are counted once until all were looked at, and each new one counts.
func TestSurveyCountsOnce(t *testing.T) {
	d := newHarness(t, settings(), world())
	d.flush()
	changes := d.exec.Changes()
	for range 2 {
		d.exec.SetNode(d.now, cluster.Node{ID: "c", State: cluster.Down})
		d.exec.Looked(d.now, "a", hypervisor.View{Node: "a"}, nil)
		d.exec.Looked(d.now, "x", hypervisor.View{Node: "x"}, nil) // not known
	}
	if d.exec.AllSeen() {
		t.Error("b was not looked at")
	}
	if d.exec.Changes() == changes {
		t.Error("no new decision is wanted")
	}
	changes = d.exec.Changes()
	d.exec.Looked(d.now, "b", hypervisor.View{}, hypervisor.ErrUnreachable)
	if !d.exec.AllSeen() {
		t.Error("all were looked at")
	}
	if d.exec.Changes() == changes {
		t.Error("no decision is wanted after the last node was looked at")
	}
	d.exec.SetNode(d.now, cluster.Node{ID: "d"})
	if d.exec.AllSeen() {
		t.Error("d is new")
	}
}

// When a node falls silent or answers again, the vjobs there learn of it at once, a decision
// is wanted, and an event names the node; a node that is switched off has no event.
func TestSilenceIsNoticed(t *testing.T) {
	l := world(job(1, 1, cluster.Suspending))
	rec := at(1, gang.Pausing, "b")
	rec.Then = gang.ThenSave
	l.Gangs = append(l.Gangs, rec)
	d := newHarness(t, settings(), l)
	d.settle()
	d.exec.PowerStates.Set(d.now, "c", time.Minute, 0)
	for _, silent := range []bool{true, false} {
		d.steps = nil
		for _, node := range []cluster.NodeID{"b", "c"} {
			d.dead[node] = silent
		}
		changes := d.exec.Changes()
		d.now = d.now.Add(time.Second)
		d.exec.Hint(d.now, "b")
		d.exec.Hint(d.now, "c")
		d.settle()
		if d.exec.Changes() == changes {
			t.Errorf("silent %t: no new decision is wanted", silent)
		}
		if n, _ := d.exec.Node("b"); n.Silent != silent || !n.Since.Equal(d.now) {
			t.Errorf("silent %t: it is reported as %+v", silent, n)
		}
		if r, _ := d.exec.Job(1); r.Blind != silent || (r.Wait == "keeps still: b may hold a copy and does not answer") != silent {
			t.Errorf("silent %t: vjob 1 waits for %q", silent, r.Wait)
		}
		if n, _ := d.exec.Node("c"); n.Silent {
			t.Error("what is switched off counts as silent")
		}
		var told []cluster.NodeID
		for _, s := range d.steps {
			for _, e := range s.Events {
				if e.Kind == journal.EventNode {
					told = append(told, e.Node)
				}
			}
		}
		if len(told) != 1 || told[0] != "b" {
			t.Errorf("silent %t: told of %v", silent, told)
		}
	}
}

// A look shows at once what has changed: a copy that is gone, a second one, a guest that needs
// less CPU. What was seen on one node says nothing about another.
func TestWhatALookTeaches(t *testing.T) {
	l := world(job(1, 1, cluster.Running))
	l.Gangs = append(l.Gangs, at(1, gang.Active, "a"))
	t.Run("a copy that is gone", func(t *testing.T) {
		d := newHarness(t, settings(), l)
		d.settle()
		d.gone(1, 0, "a")
		d.exec.Hint(d.now, "a")
		d.settle()
		if d.told("lost:") != 1 {
			t.Error("the vjob is not lost")
		}
		for _, s := range d.steps {
			for _, e := range s.Events {
				if e.Kind == journal.EventAlarm && e.VJob != 1 {
					t.Errorf("the alarm names vjob %s", e.VJob)
				}
			}
		}
	})
	t.Run("a second copy", func(t *testing.T) {
		d := newHarness(t, settings(), l)
		d.settle()
		d.has(1, 0, "c", hypervisor.CopyRunning)
		d.exec.Hint(d.now, "c")
		d.settle()
		steps := len(d.steps)
		if steps == 0 {
			t.Error("nothing is done")
		}
		d.has(8, 0, "a", hypervisor.CopyPaused)
		d.exec.Hint(d.now, "a")
		d.settle()
		if got := d.exec.VMs.Holds(cluster.VMID{VJob: 1}); len(got) != 2 {
			t.Errorf("copies are seen on %v", got)
		}
	})
	t.Run("less CPU", func(t *testing.T) {
		d := newHarness(t, settings(), full(job(1, 1, cluster.Waiting)))
		d.exec.Needs = observed
		d.settle()
		d.adopt([]ctxGang{group(cluster.Boot, 1, 0)}, act(cluster.Boot, 1, 0, "", "a"))
		d.wants("")
		d.exec.Hint(d.now, "a")
		changes := d.exec.Changes()
		d.copies["a"][3].Size, d.copies["a"][3].CPU = cluster.Resources{}, 100
		d.settle()
		if d.exec.Changes() == changes {
			t.Error("no new decision is wanted")
		}
	})
}

// Lost calls are closed by the first look that is late enough, all of a node at once.
func TestALookSettlesLostCalls(t *testing.T) {
	l := world(job(1, 2, cluster.Suspending))
	l.Gangs = append(l.Gangs, at(1, gang.Saving, "a", "a"))
	d := newHarness(t, settings(), l)
	d.has(1, 0, "a", hypervisor.CopyPaused)
	d.has(1, 1, "a", hypervisor.CopyPaused)
	d.settle()
	d.wants("1 save 1.0@a, 2 save 1.1@a")
	d.reply(1, hypervisor.ErrTimeout)
	d.reply(2, hypervisor.ErrTimeout)
	d.now = d.now.Add(settings().Settle)
	d.exec.Hint(d.now, "a")
	d.flush()
	steps := len(d.steps)
	d.lookedAt("a", d.copies["a"]...)
	if got := d.results(); len(got) != 2 || len(d.steps) != steps+1 {
		t.Errorf("closed are %v by %d steps", got, len(d.steps)-steps)
	}
}

// A look at the store tells each vjob of images that its record does not know.
func TestNewerImagesAreTold(t *testing.T) {
	l := world(job(1, 1, cluster.Running), job(2, 1, cluster.Running))
	l.Gangs = append(l.Gangs, at(1, gang.Active, "a"), at(2, gang.Active, "b"))
	d := newHarness(t, settings(), l)
	d.settle()
	d.store.Images = []hypervisor.Image{imageOf(1, 8), imageOf(1, 9), imageOf(2, 8)}
	d.now = d.now.Add(time.Second)
	d.exec.LookedStore(d.now, d.store, nil)
	d.flush()
	if n := d.told("newer than the record"); n != 3 {
		t.Errorf("%d images are reported, want 3", n)
	}
	d.now = d.now.Add(time.Second)
	d.exec.LookedStore(d.now, hypervisor.Store{}, errors.New("stale file handle"))
	d.flush()
	if d.told("the image store cannot be read") != 1 {
		t.Error("the store that is lost is not told")
	}
}

// Whatever comes in, what it leads to has its time.
func TestEventsHaveTheirTime(t *testing.T) {
	l := world(job(1, 1, cluster.Running), job(2, 1, cluster.Running))
	l.Gangs = append(l.Gangs, at(1, gang.Active, "a"), at(2, gang.Active, "b"))
	d := newHarness(t, settings(), l)
	d.settle()
	for _, c := range []struct {
		name string
		do   func(now time.Time)
	}{
		{"a look", func(now time.Time) { d.exec.Looked(now, "c", hypervisor.View{}, hypervisor.ErrUnreachable) }},
		{"a plan", func(now time.Time) {
			d.exec.Adopt(now, 1, "test", ctxswitch.Plan{
				Gangs:   []ctxGang{group(cluster.Suspend, 2, 0)},
				Actions: []ctxswitch.Action{act(cluster.Suspend, 2, 0, "b", "")},
			})
		}},
		{"a reply", func(now time.Time) { d.exec.Replied(now, execute.Reply{Op: 1, Err: hypervisor.ErrTimeout}) }},
		{"a look at the store", func(now time.Time) { d.exec.LookedStore(now, hypervisor.Store{}, hypervisor.ErrNoImage) }},
		{"a node", func(now time.Time) {
			d.exec.LookedStore(now.Add(-time.Millisecond), hypervisor.Store{}, nil)
			d.exec.Flush()
			d.exec.SetNode(now, cluster.Node{ID: "a", State: cluster.Down})
		}},
	} {
		d.now = d.now.Add(time.Second)
		c.do(d.now)
		events := d.exec.Flush().Step.Events
		if len(events) == 0 {
			t.Errorf("%s leads to nothing", c.name)
		}
		for _, e := range events {
			if !e.At.Equal(d.now) {
				t.Errorf("%s at %s leads to an event of %s: %s", c.name, d.now, e.At, e.Text)
			}
		}
	}
}

// A node that this process has seen answer counts as such until the first look of the next start, and only a change of
// that is an event.
func TestANodeThatAnsweredBefore(t *testing.T) {
	for _, dead := range []bool{false, true} {
		l := world()
		l.Answering = map[cluster.NodeID]bool{"a": true, "b": true, "c": true}
		d := newHarness(t, settings(), l)
		d.dead["b"] = dead
		if n, _ := d.exec.Node("b"); n.Silent {
			t.Error("before the first look the node is silent")
		}
		d.settle()
		if n, _ := d.exec.Node("b"); n.Silent != dead {
			t.Errorf("after the first look the node is silent: %t, want %t", n.Silent, dead)
		}
		events := 0
		for _, s := range d.steps {
			events += len(s.Events)
		}
		if dead && events != 1 || !dead && events != 0 {
			t.Errorf("dead %t: %d events", dead, events)
		}
	}
}
