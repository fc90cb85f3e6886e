package execute_test

import (
	"slices"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/execute"
	"vjob/ctxswitch/gang"
	"vjob/hypervisor"
)

// A gang that waits for room goes on when a look shows that there is some, and not only when
// time has passed.
func TestALookWakesGangsThatWaitForRoom(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(d *harness)
		want   string
	}{
		{"nothing is new", func(*harness) {}, ""},
		{"a VM of no live vjob has left", func(d *harness) { d.gone(77, 0, "a") }, "2 boot 1.0@a"},
		{"a VM needs less CPU", func(d *harness) { d.copies["a"][1].CPU = 0 }, "2 boot 1.0@a"},
		{"a VM needs less, and not the last one", func(d *harness) { d.copies["a"][0].CPU = 0 }, "2 boot 1.0@a"},
		{"a VM needs more", func(d *harness) { d.copies["a"][0].CPU = 2000 }, ""},
	} {
		l := world(job(1, 1, cluster.Waiting), job(9, 2, cluster.Running))
		l.Gangs = append(l.Gangs, at(9, gang.Active, "a", "a"))
		d := newHarness(t, settings(), l)
		d.exec.Needs = observed
		d.has(77, 0, "a", hypervisor.CopyRunning)
		d.copies["a"][2].Size = cluster.Resources{CPU: 2000}
		d.settle()
		d.wants("1 pause 77.0@a")
		d.calls = nil
		d.adopt([]ctxGang{group(cluster.Boot, 1, 0)}, act(cluster.Boot, 1, 0, "", "a"))
		d.wants("")
		c.change(d)
		d.exec.Hint(d.now, "a")
		d.settle()
		if got := d.wanted(); got != c.want {
			t.Errorf("%s: calls are %q, want %q", c.name, got, c.want)
		}
	}
}

// What the VMs of one node use less, those of another may use more as soon as a look shows it.
func TestALookWakesGangsThatWaitForPower(t *testing.T) {
	l := world(job(1, 1, cluster.Running), job(2, 1, cluster.Running))
	l.Gangs = append(l.Gangs, at(1, gang.Active, "a"), at(2, gang.Active, "b"))
	d := newHarness(t, settings(), l)
	d.copies["a"][0].Cap = 500
	d.exec.Admits = func(more map[cluster.NodeID]cluster.MilliCPU) bool {
		return d.exec.VMs.Load("a")+more["a"]+d.exec.VMs.Load("b")+more["b"] <= 1500
	}
	d.settle()
	d.caps(1, 1000)
	d.wants("")
	d.caps(2, 500)
	d.wants("1 tune 2.0@b")
	d.exec.Replied(d.now, d.replyTo(1, nil))
	d.flush()
	d.wants("1 tune 2.0@b")
	d.copies["b"][0].Cap = 500
	d.settle()
	d.wants("1 tune 2.0@b, 2 tune 1.0@a")
}

// A gang goes on as soon as the node answers to which it is to go.
func TestTheNextNodeAnswers(t *testing.T) {
	l := world(job(1, 1, cluster.Booting))
	l.Gangs = append(l.Gangs, at(1, gang.Creating, ""))
	l.Gangs[0].Members[0].Next = "b"
	d := newHarness(t, settings(), l)
	d.dead["b"] = true
	d.settle()
	d.wants("")
	d.dead["b"] = false
	d.exec.Hint(d.now, "b")
	d.settle()
	d.wants("1 boot 1.0@b")
}

// A look wakes every vjob with a copy that has changed, wherever it stands in the list.
func TestALookShowsEachCopy(t *testing.T) {
	for id, want := range map[cluster.VJobID]string{1: "1 unpause 1.0@a", 2: "1 unpause 2.0@a"} {
		l := world(job(1, 1, cluster.Running), job(2, 1, cluster.Running))
		l.Gangs = append(l.Gangs, at(1, gang.Active, "a"), at(2, gang.Active, "a"))
		d := newHarness(t, settings(), l)
		d.settle()
		changed := slices.Clone(d.copies["a"]) // in the same order
		changed[id-1].State = hypervisor.CopyPaused
		d.copies["a"] = changed
		d.exec.Hint(d.now, "a")
		d.settle()
		d.wants(want)
	}
}

// Copies of one VM are dealt with in the order of their nodes, whichever was seen first.
func TestCopiesAreInTheOrderOfNodes(t *testing.T) {
	l := world(job(1, 1, cluster.Waiting))
	l.Gangs = append(l.Gangs, at(1, gang.Absent, ""))
	d := newHarness(t, settings(), l)
	for _, node := range []cluster.NodeID{"c", "a", "b"} {
		d.has(1, 0, node, hypervisor.CopyPaused)
	}
	d.flush()
	for _, node := range []cluster.NodeID{"c", "a", "b"} {
		d.exec.Looked(d.now, node, hypervisor.View{Node: node, Copies: d.copies[node]}, nil)
	}
	d.flush()
	d.wants("1 destroy 1.0@a, 2 destroy 1.0@b, 3 destroy 1.0@c")
}

// What was seen of a VM while it ran counts while it is paused, too: it needs that to go on.
func TestPausedCopiesNeedWhatTheyNeeded(t *testing.T) {
	l := world(job(1, 1, cluster.Running))
	l.Gangs = append(l.Gangs, at(1, gang.Active, "a"))
	d := newHarness(t, settings(), l)
	d.copies["a"][0].CPU = 700
	d.settle()
	d.has(1, 0, "a", hypervisor.CopyPaused)
	d.copies["a"][0].CPU = 0
	d.exec.Hint(d.now, "a")
	d.settle()
	if got := d.exec.VMs.Demand(cluster.VMID{VJob: 1}); got != 700 {
		t.Errorf("it counts for %s, want 0.7 CPU", got)
	}
}

// Each vjob with a member on a node that never answered is lost when the node is declared
// down, and each learns that the node may hold a copy.
func TestANodeThatIsDownAndWasNeverSeen(t *testing.T) {
	l := world(job(1, 2, cluster.Running), job(2, 2, cluster.Running), job(3, 2, cluster.Running))
	l.Gangs = append(l.Gangs, at(1, gang.Active, "a", "b"), at(2, gang.Active, "b", "a"), at(3, gang.Active, "a", "c"))
	d := newHarness(t, settings(), l)
	d.dead["b"] = true
	d.settle()
	for id := range cluster.VJobID(3) {
		const blind = "keeps still: b may hold a copy and does not answer"
		if r, _ := d.exec.Job(id + 1); (r.Wait == blind) != (id < 2) {
			t.Errorf("vjob %d waits for %q", id+1, r.Wait)
		}
	}
	d.exec.SetNode(d.now, cluster.Node{ID: "b", State: cluster.Down})
	d.settle()
	for text, times := range map[string]int{"lost: 1.1 was on b, which is down": 1, "lost: 2.0 was on b, which is down": 1, "lost: ": 2} {
		if got := d.told(text); got != times {
			t.Errorf("%q stands in %d events, want %d", text, got, times)
		}
	}
}

// A vjob ends when a look at the image store shows that its images are gone. That look may be
// the last one to end, or begin while a node is looked at.
func TestALookAtTheStoreWakesGangs(t *testing.T) {
	for _, looking := range []bool{false, true} {
		l := world(job(1, 1, cluster.Suspended), job(2, 1, cluster.Suspended))
		l.Gangs = append(l.Gangs, savedOn("a", 1, 1), savedOn("a", 2, 1))
		d := newHarness(t, settings(), l)
		for _, rec := range l.Gangs {
			d.store.Images = append(d.store.Images, hypervisor.Image{ID: rec.Members[0].Image.ID, Node: "a", Complete: true})
		}
		d.settle()
		if err := d.exec.Clear(d.now, 1, gang.ThenTerminate, cluster.Because("deleted")); err != nil {
			t.Fatal(err)
		}
		d.settle()
		d.wants("1 discard 1.0@a")
		if looking {
			d.exec.Hint(d.now, "a")
			d.flush()
		}
		d.store.Images = d.store.Images[1:]
		d.exec.Replied(d.now, d.replyTo(1, nil))
		d.flush()
		if looking {
			d.exec.LookedStore(d.now, d.store, nil)
			d.flush()
		}
		d.lookedAt("a")
		d.lookedAt("a")
		if _, live := d.exec.Job(1); live != !looking {
			t.Errorf("looking %t: after the look at its node it is live: %t", looking, live)
		}
		d.exec.LookedStore(d.now, d.store, nil)
		d.flush()
		if r, live := d.exec.Job(1); live {
			t.Errorf("looking %t: it waits for %q", looking, r.Wait)
		}
	}
}

// A node that is being switched on is judged by what it shows as soon as it answers.
func TestANodeThatIsSwitchedOnAndAnswers(t *testing.T) {
	d := booting(t, settings())
	d.exec.PowerStates.Set(d.now, "a", time.Minute, 0)
	d.settle()
	d.wants("1 boot 1.0@a") // which is under way
	d.has(1, 0, "a", hypervisor.CopyRunning)
	d.reply(1, nil)
	d.wants("1 boot 1.0@a")
	d.isIn(gang.Active)
}

// A hint has the node looked at, at the time of the hint; hints from nodes that are not known
// are ignored.
func TestHints(t *testing.T) {
	d := newHarness(t, settings(), world())
	d.settle()
	later := d.now.Add(time.Second)
	d.exec.Hint(later, "x")
	d.exec.Hint(later, "b")
	got := d.exec.Flush()
	if want := []cluster.NodeID{"b"}; !slices.Equal(got.Looks, want) || got.LookStore {
		t.Errorf("looks are wanted at %v, want %v", got.Looks, want)
	}
	if want := later.Add(settings().LookEvery); !got.Wake.Equal(want) {
		t.Errorf("it wants to be woken at %s, want %s", got.Wake, want)
	}
}

// What calls have brought to a node is gone when the node is declared down.
func TestRoomOnANodeThatIsDown(t *testing.T) {
	d := booting(t, settings())
	d.exec.Replied(d.now, execute.Reply{Op: 1, Began: d.now, Ended: d.now})
	if n, _ := d.exec.Node("a"); n.Used.Memory != 1024 {
		t.Errorf("%s of a is used before a look", n.Used)
	}
	d.exec.SetNode(d.now, cluster.Node{ID: "a", State: cluster.Down})
	if n, _ := d.exec.Node("a"); !n.Used.IsZero() {
		t.Errorf("%s of a node that is down is used", n.Used)
	}
}
