package execute_test

import (
	"maps"
	"math"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/gang"
	"vjob/ctxswitch/journal"
	"vjob/energy"
	"vjob/hypervisor"
)

// However much the VMs of a node need, what it draws is what is shared.
func TestDrawIsShared(t *testing.T) {
	l := world(job(1, 1, cluster.Running), job(2, 1, cluster.Running))
	l.Gangs = append(l.Gangs, at(1, gang.Active, "a"), at(2, gang.Active, "a"))
	d := newHarness(t, settings(), l)
	lit(d)
	for _, c := range []struct{ first, second cluster.MilliCPU }{{4000, 4000}, {9000, 3000}, {5000, 2000}, {1000, 1000}, {0, 4000}, {0, 0}} {
		d.copies["a"][0].CPU, d.copies["a"][1].CPU = c.first, c.second
		d.exec.Hint(d.now, "a")
		d.settle()
		one, _ := d.exec.Job(1)
		two, _ := d.exec.Job(2)
		n, _ := d.exec.Node("a")
		want := energy.Watts(100)
		if all := c.first + c.second; all > 0 {
			want += 100 * energy.Watts(min(all, 4000)) / 4000
		}
		if math.Abs(float64(n.Watts-want)) > 1e-9 || math.Abs(float64(one.Watts+two.Watts-want)) > 1e-9 {
			t.Errorf("need %s and %s: a draws %s, of which %s and %s; want %s", c.first, c.second, n.Watts, one.Watts, two.Watts, want)
		}
		if c.first == c.second && math.Abs(float64(one.Watts-two.Watts)) > 1e-9 {
			t.Errorf("both need %s: shares of %s and %s", c.first, one.Watts, two.Watts)
		}
		if c.first > c.second && one.Watts <= two.Watts {
			t.Errorf("need %s and %s: shares of %s and %s", c.first, c.second, one.Watts, two.Watts)
		}
	}
}

// What nodes draw is written once a minute, of each node that anything is known of.
func TestDrawIsWrittenOnceAMinute(t *testing.T) {
	d := newHarness(t, settings(), world())
	lit(d)
	d.exec.Power["nowhere"] = energy.Power{Idle: 100, Full: 200}
	d.settle()
	d.pass(10*time.Minute + 30*time.Second)
	times := map[cluster.NodeID]int{}
	for _, s := range d.steps {
		for _, n := range s.Drawn {
			times[n.Node]++
		}
	}
	if len(times) != 2 || times["a"] != 10 || times["b"] != 10 {
		t.Errorf("written %v times in ten minutes", times)
	}
}

// A node that is off draws its standby power, whatever it may draw once it is used.
func TestCeilingOfNodesThatAreOff(t *testing.T) {
	l := world()
	l.Nodes[1].State = cluster.Offline
	d := newHarness(t, settings(), l)
	lit(d)
	d.dead["b"] = true
	d.settle()
	for more, want := range map[cluster.MilliCPU]energy.Watts{0: 5, -1000: 5, 1: 100.025, 4000: 200} {
		if got := d.exec.MaxPower("b", more); math.Abs(float64(got-want)) > 1e-9 {
			t.Errorf("with %s more b may draw %s, want %s", more, got, want)
		}
	}
}

// Nodes that draw nothing have nothing written, and little is written when it is a joule.
func TestDrawOfLittle(t *testing.T) {
	d := newHarness(t, settings(), world())
	d.exec.Power = map[cluster.NodeID]energy.Power{"a": {}, "b": {Idle: 0.02, Full: 0.02}}
	d.settle()
	d.pass(time.Minute + time.Second)
	drawn, _ := d.drawn()
	if want := map[cluster.NodeID]int64{"b": 1}; !maps.Equal(drawn, want) {
		t.Errorf("drawn are %v J, want %v", drawn, want)
	}
}

// One node of which anything is known is enough to account for it, and a node without CPU
// draws its idle power.
func TestDrawOfANodeWithoutCPU(t *testing.T) {
	l := world()
	l.Nodes = append(l.Nodes, cluster.Node{ID: "d"})
	d := newHarness(t, settings(), l)
	d.exec.Power = map[cluster.NodeID]energy.Power{"d": {Idle: 100, Full: 200}, "nowhere": {Idle: 100, Full: 200, Standby: 5}}
	d.settle()
	if n, _ := d.exec.Node("d"); n.Watts != 100 {
		t.Errorf("it draws %s, want 100 W", n.Watts)
	}
	for node, want := range map[cluster.NodeID]energy.Watts{"d": 100, "a": 0, "nowhere": 0} {
		if got := d.exec.MaxPower(node, 0); got != want {
			t.Errorf("%s may draw %s, want %s", node, got, want)
		}
	}
}

// A vjob that has ended, or that is not known, draws nothing of what its copies have a share in.
func TestDrawOfVJobsThatAreNotLive(t *testing.T) {
	d := pair(t)
	lit(d)
	d.has(77, 0, "a", hypervisor.CopyPaused)
	d.needs(1000, 0, 0, 1000, 0, 0, 0)
	d.exec.Hint(d.now, "a")
	d.settle()
	if n, _ := d.exec.Node("a"); n.Watts != 150 {
		t.Errorf("a draws %s", n.Watts)
	}
	d.dead["a"] = true
	d.pass(10 * time.Second)
	if err := d.exec.Clear(d.now, 2, gang.ThenTerminate, cluster.Because("deleted")); err != nil {
		t.Fatal(err)
	}
	d.exec.PowerStates.Set(d.now, "a", time.Minute, 0)
	d.pass(10 * time.Second)
	if _, live := d.exec.Job(2); live {
		t.Fatal("vjob 2 is live")
	}
	d.dead["a"] = false
	for rank := range 3 {
		d.gone(2, rank, "a")
	}
	d.pass(2 * time.Minute)
	if n, _ := d.exec.Node("a"); n.Watts != 125 {
		t.Errorf("a draws %s without vjob 2", n.Watts)
	}
	if r, _ := d.exec.Job(1); r.Watts != 125 {
		t.Errorf("vjob 1 draws %s", r.Watts)
	}
}

// Memory is paid for while it is used, of members that take part.
func TestAccountOfMemory(t *testing.T) {
	ended := at(3, gang.Active, "a", "b")
	ended.Members[1].Ended = true
	saved := at(2, gang.Saved, "")
	saved.Members[0].Image = &gang.Image{ID: hypervisor.ImageID{VM: cluster.VMID{VJob: 2}, Generation: 1, Attempt: 1}, Node: "a"}
	l := world(job(1, 1, cluster.Paused), job(2, 1, cluster.Suspended), job(3, 2, cluster.Running), job(4, 1, cluster.Waiting))
	l.Gangs = append(l.Gangs, at(1, gang.Paused, "a"), saved, ended)
	d := newHarness(t, settings(), l)
	d.has(1, 0, "a", hypervisor.CopyPaused)
	d.gone(3, 1, "b")
	d.store.Images = []hypervisor.Image{{ID: saved.Members[0].Image.ID, Node: "a", Complete: true}}
	d.settle()
	d.pass(100 * time.Second)
	for id := range cluster.VJobID(4) {
		if err := d.exec.Clear(d.now, id+1, gang.ThenTerminate, cluster.Because("deleted")); err != nil {
			t.Fatal(err)
		}
	}
	d.settle()
	memory := map[cluster.VJobID]int64{}
	running := map[cluster.VJobID]time.Duration{}
	for _, s := range d.steps {
		for _, u := range s.Usage {
			memory[u.VJob] += u.MemorySec
			running[u.VJob] += u.Running
		}
	}
	for id, want := range map[cluster.VJobID]journal.Usage{
		1: {MemorySec: 102400}, 2: {}, 3: {MemorySec: 102400, Running: 100 * time.Second}, 4: {},
	} {
		if memory[id] != want.MemorySec || running[id] != want.Running {
			t.Errorf("vjob %d: %d MiB·s and %s, want %d and %s", id, memory[id], running[id], want.MemorySec, want.Running)
		}
	}
}

// Accounts are written at once, in the order of vjobs, after a minute of running.
func TestAccountsAreWrittenInOrder(t *testing.T) {
	l := world()
	const vjobs = 20
	for id := range cluster.VJobID(vjobs) {
		l.VJobs = append(l.VJobs, job(id+1, 1, cluster.Running))
		l.Gangs = append(l.Gangs, at(id+1, gang.Active, []cluster.NodeID{"a", "b"}[id%2]))
	}
	d := newHarness(t, settings(), l)
	d.settle()
	d.pass(59 * time.Second)
	if n := len(d.steps); n > 0 && len(d.steps[n-1].Usage) > 0 {
		t.Errorf("written before a minute is over: %+v", d.steps[n-1].Usage)
	}
	d.pass(time.Second)
	usage := d.steps[len(d.steps)-1].Usage
	if len(usage) != vjobs {
		t.Fatalf("%d accounts are written: %+v", len(usage), usage)
	}
	for i, u := range usage {
		if u.VJob != cluster.VJobID(i+1) || u.Running != time.Minute {
			t.Errorf("account %d: vjob %d ran for %s", i, u.VJob, u.Running)
		}
	}
}

// A look is a reason to decide only where what a member counts for has changed. Before it is
// seen it counts for what it has reserved.
func TestDemandThatChanges(t *testing.T) {
	set := settings()
	set.Limits.DepartureGrace = time.Hour
	l := world(job(1, 1, cluster.Running))
	l.Gangs = append(l.Gangs, at(1, gang.Active, "a"))
	d := newHarness(t, set, l)
	d.gone(1, 0, "a")
	d.settle()
	for _, c := range []struct {
		name   string
		change func()
		fresh  bool
	}{
		{"it is seen, and needs nothing", func() { d.has(1, 0, "a", hypervisor.CopyRunning); d.copies["a"][0].CPU = 0 }, true},
		{"nothing is new", func() {}, false},
		{"it has used CPU", func() { d.copies["a"][0].CPUTime = time.Minute }, false},
		{"it needs more", func() { d.copies["a"][0].CPU = 10 }, true},
		{"a copy of a member that there is not", func() { d.has(1, 1, "a", hypervisor.CopyRunning) }, false},
	} {
		changes := d.exec.Changes()
		c.change()
		d.exec.Hint(d.now, "a")
		d.settle()
		if got := d.exec.Changes() != changes; got != c.fresh {
			t.Errorf("%s: a decision is wanted: %t", c.name, got)
		}
	}
}

// A member counts for what it needs at present or, where that is foretold, for no more
// than it has reserved.
func TestDemand(t *testing.T) {
	for _, foretold := range []bool{false, true} {
		l := world(job(1, 1, cluster.Running))
		l.Gangs = append(l.Gangs, at(1, gang.Active, "a"))
		d := newHarness(t, settings(), l)
		d.exec.Expect = foretold
		d.exec.Needs = observed
		vm := cluster.VMID{VJob: 1}
		if got := d.exec.VMs.Need(vm).CPU; got != 1000 {
			t.Errorf("foretold %t: before it is seen it counts for %s", foretold, got)
		}
		d.copies["a"][0].CPU = 3000
		d.settle()
		want := cluster.MilliCPU(3000)
		if foretold {
			want = 1000
		}
		if got := d.exec.VMs.Need(vm).CPU; got != want {
			t.Errorf("foretold %t: it counts for %s, want %s", foretold, got, want)
		}
		d.copies["a"][0].CPU = 0
		d.pass(5 * time.Second)
		if got := d.exec.VMs.Need(vm).CPU; got > 0 != foretold {
			t.Errorf("foretold %t: after a burst it counts for %s", foretold, got)
		}
	}
}
