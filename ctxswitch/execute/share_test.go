package execute_test

import (
	"math"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/gang"
	"vjob/energy"
	"vjob/hypervisor"
	"vjob/journal"
)

// However much the VMs of a node need, what it draws is what is shared.
func TestDrawIsShared(t *testing.T) {
	l := world(job(1, 1, cluster.Running), job(2, 1, cluster.Running))
	l.Gangs = append(l.Gangs, at(1, gang.Active, "a"), at(2, gang.Active, "a"))
	d := sit(t, settings(), l)
	lit(d)
	for _, c := range []struct{ first, second cluster.MilliCPU }{{4000, 4000}, {9000, 3000}, {1000, 1000}, {0, 4000}, {0, 0}} {
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
	d := sit(t, settings(), world())
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
	d := sit(t, settings(), l)
	lit(d)
	d.dead["b"] = true
	d.settle()
	for more, want := range map[cluster.MilliCPU]energy.Watts{0: 5, -1000: 5, 1: 100.025, 4000: 200} {
		if got := d.exec.Ceiling("b", more); math.Abs(float64(got-want)) > 1e-9 {
			t.Errorf("with %s more b may draw %s, want %s", more, got, want)
		}
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
	d := sit(t, settings(), l)
	d.has(1, 0, "a", hypervisor.CopyPaused)
	d.gone(3, 1, "b")
	d.store.Images = []hypervisor.Image{{ID: saved.Members[0].Image.ID, Node: "a", Complete: true}}
	d.settle()
	d.pass(100 * time.Second)
	for id := range cluster.VJobID(4) {
		if err := d.exec.Clear(d.now, id+1, gang.ThenTerminate, "deleted"); err != nil {
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
	for id := range cluster.VJobID(6) {
		l.VJobs = append(l.VJobs, job(id+1, 1, cluster.Running))
		l.Gangs = append(l.Gangs, at(id+1, gang.Active, []cluster.NodeID{"a", "b"}[id%2]))
	}
	d := sit(t, settings(), l)
	d.settle()
	d.pass(59 * time.Second)
	if n := len(d.steps); n > 0 && len(d.steps[n-1].Usage) > 0 {
		t.Errorf("written before a minute is over: %+v", d.steps[n-1].Usage)
	}
	d.pass(time.Second)
	usage := d.steps[len(d.steps)-1].Usage
	if len(usage) != 6 {
		t.Fatalf("%d accounts are written: %+v", len(usage), usage)
	}
	for i, u := range usage {
		if u.VJob != cluster.VJobID(i+1) || u.Running != time.Minute {
			t.Errorf("account %d: vjob %d ran for %s", i, u.VJob, u.Running)
		}
	}
}

// A member counts for what it needs at present or, where that is foretold, for no more
// than it has reserved.
func TestDemand(t *testing.T) {
	for _, foretold := range []bool{false, true} {
		l := world(job(1, 1, cluster.Running))
		l.Gangs = append(l.Gangs, at(1, gang.Active, "a"))
		d := sit(t, settings(), l)
		d.exec.Expect = foretold
		d.exec.Needs = observed
		vm := cluster.VMID{VJob: 1}
		if got := d.exec.Need(vm).CPU; got != 1000 {
			t.Errorf("foretold %t: before it is seen it counts for %s", foretold, got)
		}
		d.copies["a"][0].CPU = 3000
		d.settle()
		want := cluster.MilliCPU(3000)
		if foretold {
			want = 1000
		}
		if got := d.exec.Need(vm).CPU; got != want {
			t.Errorf("foretold %t: it counts for %s, want %s", foretold, got, want)
		}
	}
}
