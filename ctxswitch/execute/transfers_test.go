package execute_test

import (
	"maps"
	"slices"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/ctxswitch/execute"
	"vjob/ctxswitch/gang"
	"vjob/hypervisor"
)

// spanning gives an action its times in the plan, in seconds.
func spanning(a ctxswitch.Action, from, to int) ctxswitch.Action {
	a.Start, a.End = time.Duration(from)*time.Second, time.Duration(to)*time.Second
	return a
}

// carries is settings with so many transfers of a node at once.
func carries(transfers int) execute.Settings {
	set := settings()
	set.Transfers = transfers
	set.Costs, set.Slack = ctxswitch.ThesisCosts, 100 // no call is given up
	return set
}

// Of the gangs that wait for a slot, the first in the plan gets it, and the other one runs on until then.
func TestSlotsInTheOrderOfThePlan(t *testing.T) {
	l := world(job(1, 1, cluster.Running), job(2, 1, cluster.Running))
	l.Gangs = append(l.Gangs, at(1, gang.Active, "a"), at(2, gang.Active, "a"))
	d := newHarness(t, carries(1), l)
	d.settle()
	d.adopt([]ctxGang{group(cluster.Suspend, 2, 0), group(cluster.Suspend, 1, 1)},
		spanning(act(cluster.Suspend, 2, 0, "a", ""), 0, 50), spanning(act(cluster.Suspend, 1, 0, "a", ""), 50, 100))
	d.wants("1 pause 2.0@a")
	d.has(2, 0, "a", hypervisor.CopyPaused)
	d.reply(1, nil)
	d.pass(20 * time.Second)
	d.wants("1 pause 2.0@a, 2 save 2.0@a")
	d.gone(2, 0, "a")
	d.reply(2, nil)
	d.wants("1 pause 2.0@a, 2 save 2.0@a, 3 pause 1.0@a")
}

// A gang that waits for transfer slots is paused in any case once it could have begun for long enough by
// its plan: others do not overtake it for ever.
func TestGangsAreNotOvertakenForEver(t *testing.T) {
	l := world(job(1, 1, cluster.Running), job(2, 1, cluster.Suspending))
	l.Gangs = append(l.Gangs, at(1, gang.Active, "a"), at(2, gang.Saving, "a"))
	d := newHarness(t, carries(1), l)
	d.has(2, 0, "a", hypervisor.CopyPaused)
	d.settle()
	d.adopt([]ctxGang{group(cluster.Suspend, 1, 0)}, spanning(act(cluster.Suspend, 1, 0, "a", ""), 30, 80))
	d.pass(89 * time.Second) // 30 s by its plan, and a minute
	d.wants("1 save 2.0@a")
	d.pass(2 * time.Second)
	d.wants("1 save 2.0@a, 2 pause 1.0@a")
}

// A transfer that could begin before its time in the plan leaves the slots to those that come before it,
// and begins at that time. It does not wait where there are slots enough.
func TestTransfersDoNotOvertake(t *testing.T) {
	for _, c := range []struct {
		name      string
		transfers int
		want      string
	}{
		{"the slot is needed", 1, "1 destroy 3.0@c"},
		{"there are two", 2, "1 migrate 1.0@a>b, 2 destroy 3.0@c"},
	} {
		l := world(job(1, 1, cluster.Running), job(2, 1, cluster.Running), job(3, 1, cluster.Running))
		l.Gangs = append(l.Gangs, at(1, gang.Active, "a"), at(2, gang.Active, "a"), at(3, gang.Active, "c"))
		d := newHarness(t, carries(c.transfers), l)
		d.settle()
		first, second := act(cluster.Migrate, 2, 0, "a", "c", 0), act(cluster.Migrate, 1, 0, "a", "b")
		first.Live, second.Live = true, true
		d.adopt([]ctxGang{group(cluster.Stop, 3, 0), group(cluster.Migrate, 2, 1), group(cluster.Migrate, 1, 2)},
			spanning(act(cluster.Stop, 3, 0, "c", ""), 0, 25), spanning(first, 25, 35), spanning(second, 35, 45))
		if got := d.wanted(); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
		if c.transfers > 1 {
			continue
		}
		d.pass(34 * time.Second) // the stop takes longer than planned
		d.wants("1 destroy 3.0@c")
		d.pass(time.Second)
		d.wants("1 destroy 3.0@c, 2 migrate 1.0@a>b")
	}
}

// A transfer that lacks room leaves its slot to later ones, one of which may make the room.
func TestATransferWithoutRoomNeedsNoSlot(t *testing.T) {
	l := world(job(1, 1, cluster.Running), job(2, 1, cluster.Running))
	l.Gangs = append(l.Gangs, at(1, gang.Active, "a"), at(2, gang.Active, "b"))
	l.Nodes[1].Capacity.Memory = 1024 // no room beside vjob 2
	d := newHarness(t, carries(1), l)
	d.settle()
	first, second := act(cluster.Migrate, 1, 0, "a", "b"), act(cluster.Migrate, 2, 0, "b", "c")
	first.Live, second.Live = true, true
	d.adopt([]ctxGang{group(cluster.Migrate, 1, 0), group(cluster.Migrate, 2, 1)}, spanning(first, 0, 10), spanning(second, 10, 20))
	d.wants("1 migrate 2.0@b>c")
	d.has(2, 0, "c", hypervisor.CopyRunning)
	d.gone(2, 0, "b")
	d.reply(1, nil)
	d.wants("1 migrate 2.0@b>c, 2 migrate 1.0@a>b")
}

// A new plan finds slots taken by calls under way, for the rest of the time in their plan, and by the transfers
// that plans promise.
func TestTransfersAhead(t *testing.T) {
	l := world(job(1, 3, cluster.Running), job(2, 1, cluster.Running))
	l.Gangs = append(l.Gangs, at(1, gang.Active, "a", "a", "a"), at(2, gang.Active, "b"))
	d := newHarness(t, carries(2), l)
	d.settle()
	move := act(cluster.Migrate, 2, 0, "b", "a", 0, 1, 2)
	move.Live = true
	d.adopt([]ctxGang{group(cluster.Suspend, 1, 0, 1, 2), group(cluster.Migrate, 2, 3)},
		spanning(act(cluster.Suspend, 1, 0, "a", ""), 0, 50), spanning(act(cluster.Suspend, 1, 1, "a", ""), 0, 50),
		spanning(act(cluster.Suspend, 1, 2, "a", ""), 50, 100), spanning(move, 100, 110))
	check := func(want map[cluster.NodeID][]time.Duration) {
		t.Helper()
		got := d.exec.TransfersAhead()
		for _, list := range got {
			slices.Sort(list)
		}
		if !maps.EqualFunc(got, want, slices.Equal) {
			t.Errorf("ahead %v, want %v", got, want)
		}
	}
	check(map[cluster.NodeID][]time.Duration{"a": {100 * time.Second, 110 * time.Second}, "b": {110 * time.Second}})
	for rank := range 3 {
		d.has(1, rank, "a", hypervisor.CopyPaused)
		d.reply(hypervisor.OpID(rank+1), nil)
	}
	d.wants("1 pause 1.0@a, 2 pause 1.1@a, 3 pause 1.2@a, 4 save 1.0@a, 5 save 1.1@a")
	d.pass(20 * time.Second)
	check(map[cluster.NodeID][]time.Duration{"a": {80 * time.Second, 90 * time.Second}, "b": {90 * time.Second}})
	d.gone(1, 0, "a")
	d.reply(4, nil)
	check(map[cluster.NodeID][]time.Duration{"a": {50 * time.Second, 90 * time.Second}, "b": {90 * time.Second}})
	d.pass(2 * time.Minute) // the saves take longer than expected
	check(map[cluster.NodeID][]time.Duration{"a": {time.Second, 11 * time.Second}, "b": {11 * time.Second}})
}
