package execute_test

import (
	"testing"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/gang"
	"vjob/ctxswitch/journal"
	"vjob/hypervisor"
)

// usage sums what was written to the account of vjob 1.
func (d *harness) usage() (sum journal.Usage) {
	for _, s := range d.steps {
		for _, u := range s.Usage {
			if u.VJob == 1 {
				sum.Running += u.Running
				sum.Crowded += u.Crowded
				sum.CPU += u.CPU
				sum.Wanted += u.Wanted
				sum.MemorySec += u.MemorySec
			}
		}
	}
	return sum
}

// burns sets the CPU time of a copy.
func (d *harness) burns(node cluster.NodeID, used time.Duration) {
	d.copies[node][0].CPUTime = used
}

// The account counts running time by the clock, memory while it is on a node,
// and the CPU that the guests were seen to use.
func TestAccount(t *testing.T) {
	set := settings()
	set.Limits.StopGrace = 0
	l := world(job(1, 1, cluster.Running))
	l.Gangs = append(l.Gangs, at(1, gang.Active, "a"))
	l.Ran = map[cluster.VJobID]time.Duration{1: time.Hour}
	d := newHarness(t, set, l)
	d.settle()
	d.burns("a", 50*time.Second)
	d.pass(100 * time.Second)
	if r, _ := d.exec.Job(1); r.Ran != time.Hour+100*time.Second {
		t.Errorf("it ran for %s", r.Ran)
	}
	if err := d.exec.Clear(d.now, 1, gang.ThenTerminate, cluster.Because("deleted")); err != nil {
		t.Fatal(err)
	}
	d.settle()
	d.obey()
	want := journal.Usage{Running: 100 * time.Second, CPU: 50 * time.Second, Wanted: 100 * time.Second, MemorySec: 102400}
	if got := d.usage(); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// What a vjob wants is the CPU that its members need that have not ended.
func TestAccountOfWhatIsWanted(t *testing.T) {
	l := world(job(1, 3, cluster.Running))
	l.Gangs = append(l.Gangs, at(1, gang.Active, "a", "a", "b"))
	d := newHarness(t, settings(), l)
	d.copies["a"][1].CPU = 500
	d.settle()
	d.gone(1, 2, "b")
	d.endings = map[cluster.NodeID][]hypervisor.Ending{"b": {{
		VM: cluster.VMID{VJob: 1, Rank: 2}, Stamp: hypervisor.Stamp{Incarnation: 1}, Cause: hypervisor.CauseShutdown,
	}}}
	d.exec.Hint(d.now, "b")
	d.settle()
	d.pass(2 * time.Minute)
	if got := d.usage(); got.Wanted != 3*time.Minute || got.Running != 2*time.Minute {
		t.Errorf("in %s it wanted %s of CPU, want 3 min", got.Running, got.Wanted)
	}
}

// What runs is accounted from when it runs: before nothing is written.
func TestAccountBeginsWithTheRun(t *testing.T) {
	d := booting(t, settings())
	d.pass(10 * time.Second)
	for _, s := range d.steps {
		if len(s.Usage) > 0 {
			t.Errorf("written is %+v", s.Usage)
		}
	}
	d.has(1, 0, "a", hypervisor.CopyRunning)
	d.reply(1, nil)
	d.pass(2 * time.Minute)
	if got := d.usage(); got.Running != 2*time.Minute || got.Crowded != 0 {
		t.Errorf("got %+v, want 2 min", got)
	}
}

// What does not count because the nodes are crowded is written as well.
func TestAccountOfCrowds(t *testing.T) {
	d := pair(t)
	d.pass(30 * time.Second)
	d.needs(1000, 0, 0, 0, 0, 0)
	d.pass(30 * time.Second)
	if got := d.usage(); got.Running != time.Minute || got.Crowded != 30*time.Second {
		t.Errorf("of %s %s do not count, want 30 s of a minute", got.Running, got.Crowded)
	}
}

// A crash forgets at most a minute of the account.
func TestAccountIsWrittenInTime(t *testing.T) {
	l := world(job(1, 1, cluster.Running))
	l.Gangs = append(l.Gangs, at(1, gang.Active, "a"))
	d := newHarness(t, settings(), l)
	d.settle()
	d.pass(10*time.Minute + 30*time.Second)
	if got := d.usage().Running; got < 10*time.Minute-time.Second {
		t.Errorf("after 10 min 30 s, %s are written", got)
	}
}

// The CPU time of another copy begins anew: after a resume nothing is counted
// twice and nothing is taken back.
func TestAccountOfAnotherCopy(t *testing.T) {
	l := world(job(1, 1, cluster.Running))
	l.Gangs = append(l.Gangs, at(1, gang.Active, "a"))
	d := newHarness(t, settings(), l)
	d.burns("a", 30*time.Second)
	d.settle()
	d.pass(10 * time.Second)
	d.gone(1, 0, "a")
	d.has(1, 0, "a", hypervisor.CopyRunning)
	d.burns("a", 5*time.Second)
	d.pass(5 * time.Minute)
	if got := d.usage().CPU; got != 35*time.Second {
		t.Errorf("got %s, want 35s", got)
	}
}

// Walltime is running time: a vjob is overdue when its sum reaches it, and the
// executor knows when the next one will be.
func TestOverdue(t *testing.T) {
	one, two, three := job(1, 1, cluster.Running), job(2, 1, cluster.Suspended), job(3, 1, cluster.Running)
	one.Walltime, two.Walltime, three.Walltime = 2*time.Minute, time.Minute, time.Minute
	l := world(one, two, three)
	saved := at(2, gang.Saved, "")
	saved.Members[0].Image = &gang.Image{ID: hypervisor.ImageID{VM: cluster.VMID{VJob: 2}, Generation: 1, Attempt: 1}, Node: "a"}
	l.Gangs = append(l.Gangs, at(1, gang.Active, "a"), saved, at(3, gang.Active, "b"))
	l.Ran = map[cluster.VJobID]time.Duration{2: 59 * time.Second}
	d := newHarness(t, settings(), l)
	d.store.Images = []hypervisor.Image{{ID: saved.Members[0].Image.ID, Node: "a", Complete: true}}
	d.settle()
	d.pass(59 * time.Second)
	if over, next := d.exec.Walltimes.Overdue(), d.exec.Walltimes.Next(); len(over) != 0 || !next.Equal(start.Add(time.Minute)) {
		t.Errorf("got %v, next %s", over, next)
	}
	d.pass(time.Second)
	if over, next := d.exec.Walltimes.Overdue(), d.exec.Walltimes.Next(); len(over) != 1 || over[0] != 3 || !next.Equal(start.Add(2*time.Minute)) {
		t.Errorf("got %v, next %s", over, next)
	}
}

// stops ends the executor, and returns the journal from which the next one starts: what there was, and all accounts.
func (d *harness) stops(l journal.Loaded) journal.Loaded {
	d.steps = append(d.steps, d.exec.WriteAccounts(d.now))
	used := d.usage()
	l.Ran = map[cluster.VJobID]time.Duration{1: used.Running - used.Crowded}
	for _, s := range d.steps {
		for _, m := range s.Meters {
			l.Meters = map[cluster.VJobID]journal.Meter{1: m}
		}
	}
	return l
}

// A restart forgets nothing and counts nothing twice: the CPU time of a copy goes on from where the account ends, and
// VMs that are seen again have run while no scheduler watched.
func TestAccountGoesOnAfterARestart(t *testing.T) {
	l := world(job(1, 2, cluster.Running))
	l.Gangs = append(l.Gangs, at(1, gang.Active, "a", "b"))
	d := newHarness(t, settings(), l)
	d.settle()
	d.burns("a", 50*time.Second)
	d.burns("b", 30*time.Second)
	d.pass(100 * time.Second)
	copies, stopped := d.copies, d.now

	d2 := newHarnessAt(t, settings(), d.stops(l), stopped.Add(10*time.Minute))
	d2.copies = copies
	d2.burns("a", 70*time.Second)
	d2.burns("b", 30*time.Second)
	d2.settle()
	if r, _ := d2.exec.Job(1); r.Ran != 100*time.Second+10*time.Minute {
		t.Errorf("it ran for %s after the restart, want 100 s and the 10 min without a scheduler", r.Ran)
	}
	d2.pass(time.Minute)
	d2.steps = append(d2.steps, d2.exec.WriteAccounts(d2.now))
	want := journal.Usage{Running: 11 * time.Minute, CPU: 20 * time.Second, Wanted: 2 * time.Minute, MemorySec: 11 * 60 * 2048}
	if got := d2.usage(); got != want {
		t.Errorf("after the restart got %+v, want %+v", got, want)
	}
}

// Until all members were seen again it is not known whether they ran, and a second restart keeps the absence. The guests
// that ended meanwhile ran until then.
func TestAnAbsenceCountsOnceTheMembersAreSeen(t *testing.T) {
	l := world(job(1, 2, cluster.Running))
	l.Gangs = append(l.Gangs, at(1, gang.Active, "a", "b"))
	d := newHarness(t, settings(), l)
	d.settle()
	d.pass(100 * time.Second)

	d2 := newHarnessAt(t, settings(), d.stops(l), d.now.Add(10*time.Minute))
	d2.dead = map[cluster.NodeID]bool{"b": true}
	d2.settle()
	if r, _ := d2.exec.Job(1); r.Ran != 100*time.Second {
		t.Errorf("it ran for %s, while node b is silent", r.Ran)
	}
	d2.steps = append(d2.steps, d.steps...) // the sums
	d2.pass(10 * time.Second)

	d3 := newHarnessAt(t, settings(), d2.stops(l), d2.now.Add(5*time.Minute))
	d3.gone(1, 1, "b")
	d3.endings = map[cluster.NodeID][]hypervisor.Ending{"b": {{
		VM: cluster.VMID{VJob: 1, Rank: 1}, Stamp: hypervisor.Stamp{Incarnation: 1}, Cause: hypervisor.CauseShutdown, At: d3.now.Add(-time.Minute),
	}}}
	d3.settle()
	if r, _ := d3.exec.Job(1); r.Ran != 110*time.Second+15*time.Minute {
		t.Errorf("it ran for %s, want 110 s and 15 min", r.Ran)
	}
}

// Nothing says that VMs that are gone have run while no scheduler watched.
func TestAnAbsenceOfLostVMsDoesNotCount(t *testing.T) {
	l := world(job(1, 1, cluster.Running))
	l.Gangs = append(l.Gangs, at(1, gang.Active, "a"))
	d := newHarness(t, settings(), l)
	d.settle()
	d.pass(100 * time.Second)
	d2 := newHarnessAt(t, settings(), d.stops(l), d.now.Add(48*time.Hour))
	d2.gone(1, 0, "a")
	d2.settle()
	if r, ok := d2.exec.Job(1); ok && r.Ran != 100*time.Second {
		t.Errorf("it ran for %s, want 100 s", r.Ran)
	}
}
