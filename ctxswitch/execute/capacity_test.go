package execute_test

import (
	"testing"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/gang"
	"vjob/ctxswitch/journal"
	"vjob/hypervisor"
)

// Every member counts once on a node: while a copy of it is there, and while a call may
// bring one.
func TestWhatCountsOnANode(t *testing.T) {
	one := cluster.Resources{CPU: 1000, Memory: 1024}
	creating, shifting, saving := at(1, gang.Creating, ""), at(1, gang.Shifting, "a"), at(1, gang.Saving, "a")
	creating.Members[0].Next, shifting.Members[0].Next = "a", "b"
	for _, c := range []struct {
		name   string
		rec    gang.Record
		change func(*harness)
		a, b   cluster.Resources
	}{
		{"while it boots", creating, func(*harness) {}, one, cluster.Resources{}},
		{"while it boots, and is seen", creating, func(d *harness) { d.has(1, 0, "a", hypervisor.CopyPaused) }, one, cluster.Resources{}},
		{"while it migrates", shifting, func(*harness) {}, one, one},
		{"while it migrates, and is seen there", shifting, func(d *harness) { d.has(1, 0, "b", hypervisor.CopyPaused) }, one, one},
		{"while it migrates, and has left", shifting, func(d *harness) { d.gone(1, 0, "a") }, cluster.Resources{}, one},
		{"while it is saved", saving, func(*harness) {}, one, cluster.Resources{}},
		{"while it is saved, and has left", saving, func(d *harness) { d.gone(1, 0, "a") }, cluster.Resources{}, cluster.Resources{}},
		{"copies without a member", at(1, gang.Active, "a"), func(d *harness) {
			d.has(1, 1, "a", hypervisor.CopyRunning)
			d.has(1, 2, "a", hypervisor.CopyRunning)
		}, one, cluster.Resources{}},
	} {
		l := world(job(1, 1, c.rec.State()))
		l.Gangs = append(l.Gangs, c.rec)
		l.Open, l.NextOp = []journal.Intent{openRestore(imageOf(7, 1).ID)}, 2 // of a vjob that has ended
		d := newHarness(t, priced(), l)
		if c.rec.Phase == gang.Saving {
			d.has(1, 0, "a", hypervisor.CopyPaused)
		}
		d.settle()
		c.change(d)
		d.exec.Hint(d.now, "a")
		d.exec.Hint(d.now, "b")
		d.settle()
		a, _ := d.exec.Node("a")
		b, _ := d.exec.Node("b")
		if a.Used != c.a || b.Used != c.b {
			t.Errorf("%s: %s is used on a, %s on b, want %s and %s", c.name, a.Used, b.Used, c.a, c.b)
		}
	}
}

// A call waits for room where its VM comes to, and for a transfer slot on every node that
// takes part; a boot takes no slot, and a save no room.
func TestWhatACallWaitsFor(t *testing.T) {
	going := func(phase gang.Phase, to cluster.NodeID, nodes ...cluster.NodeID) gang.Record {
		rec := at(1, phase, nodes...)
		for rank := range rec.Members {
			rec.Members[rank].Next = to
		}
		return rec
	}
	boots := going(gang.Creating, "b", "", "", "")
	for _, c := range []struct {
		name      string
		rec       gang.Record
		transfers int
		change    func(l *journal.Loaded)
		want      string
	}{
		{"three boots on a node", boots, 2, func(*journal.Loaded) {}, "1 boot 1.0@b, 2 boot 1.1@b, 3 boot 1.2@b"},
		{
			"boots without CPU", boots, 2, func(l *journal.Loaded) { l.Nodes[1].Capacity.CPU = 1000 },
			"1 boot 1.0@b",
		},
		{
			"boots without memory", boots, 2, func(l *journal.Loaded) { l.Nodes[1].Capacity.Memory = 2048 },
			"1 boot 1.0@b, 2 boot 1.1@b",
		},
		{
			"saves on three nodes", at(1, gang.Saving, "a", "b", "c"), 2, func(*journal.Loaded) {},
			"1 save 1.0@a, 2 save 1.1@b, 3 save 1.2@c",
		},
		{
			"a save on a node that is too full", at(1, gang.Saving, "a"), 2, func(l *journal.Loaded) { l.Nodes[0].Capacity.Memory = 512 },
			"1 save 1.0@a",
		},
		{"migrations to one node", going(gang.Shifting, "c", "a", "b"), 1, func(*journal.Loaded) {}, "1 migrate 1.0@a>c"},
		{
			"a migration to a full node", going(gang.Shifting, "b", "a"), 2, func(l *journal.Loaded) { l.Nodes[1].Capacity.Memory = 512 },
			"",
		},
		{
			"a migration from a full node", going(gang.Shifting, "b", "a"), 2, func(l *journal.Loaded) { l.Nodes[0].Capacity.Memory = 512 },
			"1 migrate 1.0@a>b",
		},
	} {
		l := world(job(1, len(c.rec.Members), c.rec.State()))
		l.Gangs = append(l.Gangs, c.rec)
		c.change(&l)
		set := settings()
		set.Transfers = c.transfers
		d := newHarness(t, set, l)
		for rank, m := range c.rec.Members {
			if c.rec.Phase == gang.Saving {
				d.has(1, rank, m.Node, hypervisor.CopyPaused)
			}
		}
		d.settle()
		if got := d.wanted(); got != c.want {
			t.Errorf("%s: calls %q, want %q", c.name, got, c.want)
		}
	}
}

// A slot is taken by the next gang as soon as the call before has ended; boots take none.
func TestSlotsAreHandedOn(t *testing.T) {
	set := settings()
	set.Transfers = 1
	booting := at(3, gang.Creating, "")
	booting.Members[0].Next = "a"
	l := world(job(1, 1, cluster.Suspending), job(2, 1, cluster.Resuming), job(3, 1, cluster.Booting), job(4, 1, cluster.Suspending))
	restoring := savedOn("b", 2, 1)
	restoring.Phase, restoring.Members[0].Next = gang.Restoring, "a"
	l.Gangs = append(l.Gangs, at(1, gang.Saving, "a"), restoring, booting, at(4, gang.Saving, "a"))
	d := newHarness(t, set, l)
	d.has(1, 0, "a", hypervisor.CopyPaused)
	d.has(4, 0, "a", hypervisor.CopyPaused)
	d.settle()
	d.wants("1 save 1.0@a, 2 boot 3.0@a")
	d.exec.Replied(d.now, d.replyTo(1, nil))
	d.flush() // before anything is looked at
	d.wants("1 save 1.0@a, 2 boot 3.0@a, 3 restore 2.0@a")
}

// A gang that was refused power asks again as soon as a call has ended anywhere.
func TestPowerIsHandedOn(t *testing.T) {
	booting := at(1, gang.Creating, "")
	booting.Members[0].Next = "a"
	l := world(job(1, 1, cluster.Booting), job(2, 1, cluster.Suspending))
	l.Gangs = append(l.Gangs, booting, at(2, gang.Saving, "c"))
	d := newHarness(t, settings(), l)
	d.has(2, 0, "c", hypervisor.CopyPaused)
	admits := false
	d.exec.Admits = func(map[cluster.NodeID]cluster.MilliCPU) bool { return admits }
	d.settle()
	d.wants("1 save 2.0@c")
	admits = true
	d.exec.Replied(d.now, d.replyTo(1, nil))
	d.flush() // before anything is looked at
	d.wants("1 save 2.0@c, 2 boot 1.0@a")
}

// A call of a plan waits for the actions before it, those of its gang that need not wait go
// ahead.
func TestMembersWaitForActions(t *testing.T) {
	l := world(job(1, 2, cluster.Running), job(2, 1, cluster.Running))
	l.Gangs = append(l.Gangs, at(1, gang.Active, "a", "a"), at(2, gang.Active, "c"))
	d := newHarness(t, settings(), l)
	d.settle()
	first, second := act(cluster.Migrate, 1, 0, "a", "b"), act(cluster.Migrate, 1, 1, "a", "b", 2)
	first.Live, second.Live = true, true
	d.adopt([]ctxGang{group(cluster.Migrate, 1, 0, 1), group(cluster.Stop, 2, 2)}, first, second, act(cluster.Stop, 2, 0, "c", ""))
	d.wants("1 migrate 1.0@a>b, 2 destroy 2.0@c")
}

// What a gang cannot do without is not refused for want of power.
func TestPowerForTheWayBack(t *testing.T) {
	for _, whole := range []bool{false, true} {
		rec := savedOn("b", 1, 2)
		rec.Phase, rec.Members[0].Next, rec.Members[1].Next = gang.Restoring, "a", "a"
		if !whole {
			rec.Members[1] = gang.Member{Node: "a", Next: "a"}
		}
		l := world(job(1, 2, cluster.Resuming))
		l.Gangs = append(l.Gangs, rec)
		d := newHarness(t, settings(), l)
		d.asking(0)
		if !whole {
			d.has(1, 1, "a", hypervisor.CopyPaused)
		}
		d.settle()
		d.pass(5 * time.Second)
		want := "1 restore 1.0@a"
		if whole {
			want = ""
		}
		d.wants(want)
	}
}

// Containers start only on nodes that answer.
func TestContainersNeedTheirNodes(t *testing.T) {
	for node, want := range map[cluster.NodeID]gang.Phase{"a": gang.Active, "b": gang.Creating, "x": gang.Creating} {
		l := world(job(1, 1, cluster.Booting))
		l.VJobs[0].Container = true
		l.Gangs = append(l.Gangs, at(1, gang.Creating, ""))
		l.Gangs[0].Members[0].Next = node
		d := newHarness(t, settings(), l)
		d.dead["b"] = true
		d.settle()
		if r, _ := d.exec.Job(1); r.Record.Phase != want {
			t.Errorf("on %s it is %s, want %s", node, r.Record.Phase, want)
		}
	}
}

// VMs outside of a container use none of its room, whether they are there or on their way.
func TestRoomOfContainersIsTheirs(t *testing.T) {
	d := contained(t, gang.Active)
	d.exec.Add(d.now, job(3, 1, cluster.Waiting))
	d.exec.Add(d.now, job(4, 1, cluster.Waiting))
	d.adopt([]ctxGang{group(cluster.Boot, 3, 0), group(cluster.Boot, 4, 1)},
		act(cluster.Boot, 3, 0, "", "a"), act(cluster.Boot, 4, 0, "", "a"))
	d.wants("1 boot 3.0@a, 2 boot 4.0@a")
	d.has(3, 0, "a", hypervisor.CopyRunning)
	d.reply(1, nil)
	r, _ := d.exec.Job(2)
	r.Job.VMs[0].Reserved.Memory = 2048
	d.boots()
	d.wants("1 boot 3.0@a, 2 boot 4.0@a, 3 boot 2.0@a")
}
