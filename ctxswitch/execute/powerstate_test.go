package execute_test

import (
	"testing"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/ctxswitch/gang"
	"vjob/hypervisor"
)

// ties checks what stands against switching a node off.
func (d *harness) ties(when string, node cluster.NodeID, want string) {
	d.t.Helper()
	if got := d.exec.PowerStates.InUse(node); got != want {
		d.t.Errorf("%s: %s is held by %q, want %q", when, node, got, want)
	}
}

// A node is switched off only while it answers, holds nothing, and no vjob needs it.
func TestWhatHoldsANode(t *testing.T) {
	l := world(job(1, 2, cluster.Running), job(2, 1, cluster.Booting), job(3, 1, cluster.Migrating), job(4, 1, cluster.Waiting))
	booting, moving := at(2, gang.Creating, ""), at(3, gang.Shifting, "d")
	booting.Members[0].Next, moving.Members[0].Next = "e", "f"
	l.Gangs = append(l.Gangs, at(1, gang.Active, "a", "a"), booting, moving)
	for _, id := range []cluster.NodeID{"d", "e", "f", "g", "h", "i", "j"} {
		l.Nodes = append(l.Nodes, cluster.Node{ID: id, Capacity: cluster.Resources{CPU: 4000, Memory: 4096}})
	}
	waiting := at(5, gang.Creating, "")
	waiting.Members[0].Next = "k"
	l.VJobs, l.Gangs = append(l.VJobs, job(5, 1, cluster.Booting)), append(l.Gangs, waiting)
	l.Nodes = append(l.Nodes, cluster.Node{ID: "k"}) // without room
	d := newHarness(t, settings(), l)
	d.dead["c"] = true
	d.settle()
	d.exec.Adopt(d.now, 1, "test", ctxswitch.Plan{
		Actions: []ctxswitch.Action{
			act(cluster.Boot, 4, 0, "", "g"),
			act(cluster.Migrate, 1, 0, "a", "g"), act(cluster.Migrate, 1, 1, "h", "a"), act(cluster.Suspend, 1, 0, "i", ""), act(cluster.Suspend, 1, 1, "j", ""),
		},
		Gangs: []ctxGang{group(cluster.Boot, 4, 0), group(cluster.Migrate, 1, 1, 2), group(cluster.Suspend, 1, 3, 4)},
	})
	for node, want := range map[cluster.NodeID]string{
		"a": "it holds 2 VMs, 1.0 among them", "b": "", "c": "it does not answer", "d": "it holds 1 VM, 3.0 among them",
		"e": "the boot of 2.0 is not over", "f": "the migrate of 3.0 is not over", "g": "vjob 1 is to be moved there, or from there",
		"h": "vjob 1 is to be moved there, or from there", "i": "vjob 1 is to be moved there, or from there",
		"j": "vjob 1 is to be moved there, or from there", "k": "vjob 5 has a member there, or may have", "x": "the node is not known",
	} {
		d.ties("at first", node, want)
	}
	if got := d.exec.PowerStates.Pinned("x"); got != "the node is not known" {
		t.Errorf("a node that is not known is tied by %q", got)
	}
}

// A member holds the node where it is to be, without a call under way, and no node while it is an
// image. A call that has ended holds its node until that was looked at.
func TestWhatHoldsANodeWithoutCalls(t *testing.T) {
	l := full(job(1, 1, cluster.Booting), job(2, 1, cluster.Suspended), job(3, 2, cluster.Running))
	booting, saved := at(1, gang.Creating, ""), savedOn("a", 2, 1)
	booting.Members[0].Next, saved.Members[0].Node = "b", "c"
	l.Gangs = append(l.Gangs, booting, saved, at(3, gang.Active, "", "c"))
	l.Gangs[len(l.Gangs)-1].Members[0].Ended = true
	set := settings()
	set.Limits.DepartureGrace = time.Hour
	d := newHarness(t, set, l)
	d.settle()
	d.ties("while it is booted", "b", "the boot of 1.0 is not over")
	d.ties("a node with a copy", "c", "it holds 1 VM, 3.1 among them")
	d.gone(3, 1, "c")
	d.pass(5 * time.Second)
	d.ties("a copy that is not seen", "c", "vjob 3 has a member there, or may have")
	if err := d.exec.Clear(d.now, 3, gang.ThenTerminate, cluster.Because("deleted")); err != nil {
		t.Fatal(err)
	}
	d.settle()
	d.ties("where a member was before it was saved", "c", "")
	d.exec.Replied(d.now, d.replyTo(1, hypervisor.ErrRefused))
	d.ties("after the call", "b", "vjob 1 has a member there, or may have")
}

// A node is held for a call that has ended until a look has shown what came of it.
func TestWhatHoldsANodeAfterACall(t *testing.T) {
	set := settings()
	set.KeepLost = time.Minute
	d := newHarness(t, set, lost(cluster.Waiting))
	d.store.Images = []hypervisor.Image{imageOf(1, 2)}
	d.settle()
	d.pass(time.Minute)
	d.ties("under way", "a", "the discard of 1.0 is not over")
	d.store.Images = nil
	d.exec.Hint(d.now, "a")
	d.flush()
	d.exec.Replied(d.now, d.replyTo(1, nil))
	d.ties("replied", "a", "vjob 1 has a member there, or may have")
	d.lookedAt("a")
	d.ties("after a look that began before", "a", "vjob 1 has a member there, or may have")
	d.settle()
	d.ties("looked at", "a", "")
}

// A node stays on while other nodes cannot read its images, and while machines or
// containers are on it.
func TestWhatTiesANode(t *testing.T) {
	free := func(pool string) hypervisor.Space { return hypervisor.Space{Pool: pool, Free: 1 << 20} }
	const image = "vjob 2 has an image there that no other node can read"
	for _, c := range []struct {
		name   string
		change func(*harness)
		want   string
	}{
		{"others share its store", func(*harness) {}, ""},
		{"its store is its own", func(d *harness) { d.store.Free["a"] = free("own") }, image},
		{"stores without a name are not shared", func(d *harness) { d.store.Free["a"], d.store.Free["b"] = free(""), free("") }, image},
		{"its store is not seen", func(d *harness) { delete(d.store.Free, "a") }, image},
		{"the other one does not answer", func(d *harness) { d.dead["b"] = true }, image},
		{"the other one is off", func(d *harness) { d.exec.PowerStates.Set(d.now, "b", time.Hour, 0) }, image},
		{"the other one is not known", func(d *harness) { d.store.Free["x"] = d.store.Free["b"]; delete(d.store.Free, "b") }, image},
		{
			"it has a store of its own and no images", func(d *harness) {
				d.store.Free["a"], d.store.Images[0].Node = free("own"), "b"
				d.dead["a"] = true
				d.pass(time.Minute)
				d.dead["a"] = false
				d.pass(time.Minute)
			}, "",
		},
		{
			"machines that are not of vjob", func(d *harness) {
				d.exec.Looked(d.now, "a", hypervisor.View{Node: "a", Unmanaged: []string{"mail"}}, nil)
			}, "it holds 1 machine that vjob does not manage, such as mail",
		},
	} {
		l := world(job(1, 1, cluster.Waiting), job(2, 2, cluster.Suspended))
		l.Gangs = append(l.Gangs, savedOn("a", 2, 2))
		l.Gangs[0].Members[0] = gang.Member{Ended: true}
		d := newHarness(t, settings(), l)
		d.store.Free = hypervisor.Spaces{"a": free("shared"), "b": free("shared"), "c": free("other")}
		d.store.Images = []hypervisor.Image{{ID: l.Gangs[0].Members[1].Image.ID, Node: "a", Complete: true}}
		d.settle()
		c.change(d)
		d.exec.LookedStore(d.now, d.store, nil)
		if d.dead["b"] {
			d.pass(10 * time.Second)
		}
		if got := d.exec.PowerStates.Pinned("a"); got != c.want {
			t.Errorf("%s: tied by %q, want %q", c.name, got, c.want)
		}
		d.ties(c.name, "a", c.want)
	}
}

// A node stays on while a container has room there.
func TestContainersTieNodes(t *testing.T) {
	l := world(job(1, 1, cluster.Running), job(2, 1, cluster.Running))
	l.VJobs[0].Container, l.VJobs[1].Container = true, true
	l.Gangs = append(l.Gangs, at(1, gang.Active, "a"), at(2, gang.Active, "b"))
	d := newHarness(t, settings(), l)
	d.copies = nil // nothing is there of a container
	d.settle()
	for node, want := range map[cluster.NodeID]string{"a": "container 1 has room there", "b": "container 2 has room there", "c": ""} {
		if got := d.exec.PowerStates.Pinned(node); got != want {
			t.Errorf("%s is tied by %q, want %q", node, got, want)
		}
	}
}

// What was seen of the CPU of a member counts as its demand.
func TestDemandThatWasSeen(t *testing.T) {
	l := world(job(1, 1, cluster.Running))
	l.Gangs = append(l.Gangs, at(1, gang.Active, "a"))
	d := newHarness(t, settings(), l)
	d.copies["a"][0].CPU = 300
	d.settle()
	if got := d.exec.VMs.Demand(cluster.VMID{VJob: 1}); got != 300 {
		t.Errorf("it needs %s, want 0.3 CPU", got)
	}
}

// A node that is off is not missed, is looked at as rarely as was said, and its silence is an event
// only once it is in use again.
func TestNodesThatRest(t *testing.T) {
	l := world(job(1, 1, cluster.Waiting))
	d := newHarness(t, settings(), l)
	d.settle()
	if yes, since := d.exec.PowerStates.Answers("b"); !yes || !since.Equal(start) {
		t.Errorf("b answers: %t, since %s", yes, since)
	}
	if yes, since := d.exec.PowerStates.Answers("x"); yes || !since.IsZero() {
		t.Errorf("a node that is not known answers: %t, since %s", yes, since)
	}
	rest := func(every time.Duration, changes uint64) {
		t.Helper()
		before := d.exec.Changes()
		d.exec.PowerStates.Set(d.now, "x", every, 0)
		d.exec.PowerStates.Set(d.now, "b", every, 0)
		d.exec.PowerStates.Set(d.now, "b", every, 0)
		if got := d.exec.Changes() - before; got != changes {
			t.Errorf("%d changes, want %d", got, changes)
		}
	}
	rest(time.Minute, 1)
	d.dead["b"] = true
	d.steps = nil
	d.pass(2 * time.Minute)
	if n, _ := d.exec.Node("b"); n.Silent || d.told("does not answer") > 0 {
		t.Errorf("its silence is an event: %+v", n)
	}
	later := d.now
	if yes, since := d.exec.PowerStates.Answers("b"); yes || !since.After(start) || since.After(later) {
		t.Errorf("off it answers: %t, since %s", yes, since)
	}
	rest(0, 1)
	if n, _ := d.exec.Node("b"); !n.Silent {
		t.Error("in use it is not silent")
	}
}

// A silent node that is switched off is looked at less often from then on, and a gang that had
// a member there waits for it no more.
func TestSilentNodesThatRest(t *testing.T) {
	set := settings()
	rec := at(1, gang.Clearing, "b")
	rec.Then = gang.ThenTerminate
	l := world(job(1, 1, rec.State()))
	l.Gangs = append(l.Gangs, rec)
	d := newHarness(t, set, l)
	d.dead["b"] = true
	d.settle()
	if wake := d.exec.Flush().Wake; !wake.Equal(d.now.Add(set.Retry)) {
		t.Errorf("silent, it wakes the scheduler after %s", wake.Sub(d.now))
	}
	later := d.now.Add(time.Millisecond)
	d.exec.PowerStates.Set(later, "b", time.Minute, 0)
	effects := d.exec.Flush()
	if !effects.Wake.Equal(later.Add(set.LookEvery)) {
		t.Errorf("off, it wakes the scheduler after %s", effects.Wake.Sub(later))
	}
	if r, live := d.exec.Job(1); live {
		t.Errorf("its gang waits for it: %s", r.Wait)
	}
}
