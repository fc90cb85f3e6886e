package execute_test

import (
	"strings"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/gang"
	"vjob/hypervisor"
)

// contained is a container, vjob 1, with room for two members on a, and vjob 2 of one
// member, which is to run inside. Other containers run on b.
func contained(t *testing.T, phase gang.Phase, others ...*cluster.VJob) *harness {
	t.Helper()
	box, inner := job(1, 2, cluster.Running), job(2, 1, cluster.Waiting)
	box.Container, inner.Inner = true, 1
	l := world(append(others, box, inner)...)
	rec := at(1, phase, "a", "a")
	if phase == gang.Absent {
		box.State, rec = cluster.Waiting, gang.Record{VJob: 1, Members: make([]gang.Member, 2)}
	}
	l.Gangs = append(l.Gangs, rec)
	for _, j := range others {
		if j.Container {
			l.Gangs = append(l.Gangs, at(j.ID, gang.Active, "b"))
		}
	}
	d := newHarness(t, settings(), l)
	d.copies["b"] = nil
	for rank := range 2 { // nothing is there of a container
		d.gone(1, rank, "a")
	}
	d.settle()
	return d
}

// boots begins a plan that boots vjob 2 on a.
func (d *harness) boots() {
	d.adopt([]ctxGang{group(cluster.Boot, 2, 0)}, act(cluster.Boot, 2, 0, "", "a"))
}

// A container starts without a call, and its end frees its room.
func TestContainerHoldsRoom(t *testing.T) {
	d := contained(t, gang.Absent)
	d.adopt([]ctxGang{group(cluster.Boot, 1, 0, 1)}, act(cluster.Boot, 1, 0, "", "b"), act(cluster.Boot, 1, 1, "", "b"))
	d.isIn(gang.Active)
	d.wants("")
	if got := d.progress(1, 2); got != "done done; done" {
		t.Errorf("the plan is %s", got)
	}
	if r, _ := d.exec.Job(1); r.Job.State != cluster.Running || r.Record.Members[1].Node != "b" {
		t.Errorf("it is %s: %+v", r.Job.State, r.Record)
	}
	if err := d.exec.Clear(d.now, 1, gang.ThenTerminate, cluster.Because("deleted")); err != nil {
		t.Fatal(err)
	}
	d.settle()
	if _, live := d.exec.Job(1); live {
		t.Error("it has not ended")
	}
}

// The room of a container is there for what runs inside, and for nothing else. A container on
// another node keeps none.
func TestContainerKeepsRoom(t *testing.T) {
	for _, c := range []struct {
		name  string
		needs cluster.Resources
		inner cluster.VJobID
		want  string
	}{
		{"inside, as much as it has", cluster.Resources{CPU: 2000, Memory: 2048}, 1, "1 boot 2.0@a"},
		{"inside, more memory than it has", cluster.Resources{CPU: 2000, Memory: 2049}, 1, ""},
		{"inside, more CPU than it has", cluster.Resources{CPU: 2001, Memory: 2048}, 1, ""},
		{"outside, what is beside it", cluster.Resources{CPU: 2000, Memory: 2048}, 0, "1 boot 2.0@a"},
		{"outside, more memory", cluster.Resources{CPU: 2000, Memory: 2049}, 0, ""},
		{"outside, more CPU", cluster.Resources{CPU: 2001, Memory: 2048}, 0, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			other := job(3, 1, cluster.Running)
			other.Container = true
			d := contained(t, gang.Active, other)
			r, _ := d.exec.Job(2)
			r.Job.VMs[0].Reserved, r.Job.Inner = c.needs, c.inner
			d.boots()
			d.wants(c.want)
		})
	}
}

// What runs inside a container uses its room: what is left is there for others inside, and
// what is beside it for others outside, as long as it is inside.
func TestContainerSharesItsRoom(t *testing.T) {
	for _, c := range []struct {
		name   string
		memory cluster.MiB
		inner  cluster.VJobID
		ends   bool // the container is to end
		want   bool
	}{
		{"inside, what is left", 1024, 1, false, true},
		{"inside, more", 1025, 1, false, false},
		{"outside, what is beside it", 2048, 0, false, true},
		{"outside, more", 2049, 0, false, false},
		{"outside, what is beside it as it ends", 2048, 0, true, true},
		{"outside, more as it ends", 2049, 0, true, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			next := job(3, 1, cluster.Waiting)
			next.Inner, next.VMs[0].Reserved.Memory = c.inner, c.memory
			d := contained(t, gang.Active, next)
			d.boots()
			d.obey()
			if c.ends {
				if err := d.exec.Clear(d.now, 1, gang.ThenTerminate, cluster.Because("deleted")); err != nil {
					t.Fatal(err)
				}
			}
			d.adoptAs(2, []ctxGang{group(cluster.Boot, 3, 0)}, act(cluster.Boot, 3, 0, "", "a"))
			if want := map[bool]string{false: "1 boot 2.0@a", true: "1 boot 2.0@a, 2 boot 3.0@a"}[c.want]; d.wanted() != want {
				t.Errorf("calls are %s, want %s", d.wanted(), want)
			}
		})
	}
}

// While its container ends a vjob may leave, and not begin or move. What is under way there
// turns back at once.
func TestContainerThatEnds(t *testing.T) {
	for _, c := range []struct {
		kind  cluster.ActionKind
		phase gang.Phase
		want  string
	}{
		{cluster.Suspend, gang.Active, "1 pause 2.0@a"},
		{cluster.Pause, gang.Active, "1 pause 2.0@a"},
		{cluster.Stop, gang.Active, "1 destroy 2.0@a"},
		{cluster.Migrate, gang.Active, ""},
		{cluster.Unpause, gang.Paused, ""},
		{cluster.Resume, gang.Saved, ""},
		{cluster.Boot, gang.Absent, ""},
	} {
		rec := at(2, c.phase, "a")
		inner := job(2, 1, rec.State())
		inner.Inner = 1
		l := world(job(1, 1, cluster.Stopping), inner, job(3, 1, cluster.Running))
		l.VJobs[0].Container, l.VJobs[2].Inner = true, 1
		ends := at(1, gang.Clearing, "a")
		ends.Then = gang.ThenTerminate
		l.Gangs = append(l.Gangs, rec, ends, at(3, gang.Active, "a"))
		set := settings()
		set.Limits.StopGrace = 0
		d := newHarness(t, set, l)
		d.gone(1, 0, "a")
		if c.phase == gang.Paused {
			d.has(2, 0, "a", hypervisor.CopyPaused)
		}
		d.settle()
		d.adopt([]ctxGang{group(c.kind, 2, 0)}, act(c.kind, 2, 0, "a", "b"))
		if got := d.wanted(); got != c.want {
			t.Errorf("%s: calls are %q, want %q", c.kind, got, c.want)
		}
		if told := d.told("its container 1 is stopping"); (told > 0) != (c.want == "") {
			t.Errorf("%s: told %d times that its container ends", c.kind, told)
		}
	}
	d := contained(t, gang.Active)
	d.boots()
	if err := d.exec.Clear(d.now, 1, gang.ThenTerminate, cluster.Because("deleted")); err != nil {
		t.Fatal(err)
	}
	d.flush()
	if r, _ := d.exec.Job(2); r.Record.Phase != gang.Clearing || r.Record.Cause.Text != "its container 1 is stopping" {
		t.Errorf("what was booted inside is %s: %s", r.Record.Phase, r.Record.Cause)
	}
}

// A container that ends names the first vjob inside, and how many there are beside it. One
// that is suspended is not inside.
func TestContainerNamesWhatIsInside(t *testing.T) {
	for n, want := range []string{"", "vjob 3 is still inside", "vjob 3 and 1 more are still inside", "vjob 3 and 2 more are still inside"} {
		l := world(job(1, 1, cluster.Stopping), job(2, 1, cluster.Suspended))
		l.VJobs[0].Container, l.VJobs[1].Inner = true, 1
		ends := at(1, gang.Clearing, "a")
		ends.Then = gang.ThenTerminate
		l.Gangs = append(l.Gangs, ends, savedOn("a", 2, 1))
		for i := range n {
			inner := job(cluster.VJobID(3+i), 1, cluster.Running)
			inner.Inner = 1
			l.VJobs, l.Gangs = append(l.VJobs, inner), append(l.Gangs, at(inner.ID, gang.Active, "a"))
		}
		d := newHarness(t, settings(), l)
		d.gone(1, 0, "a")
		d.store.Images = []hypervisor.Image{{ID: l.Gangs[1].Members[0].Image.ID, Node: "a", Complete: true}}
		d.settle()
		if r, live := d.exec.Job(1); r.Wait != want || live != (n > 0) {
			t.Errorf("%d inside: live %t, it waits for %q, want %q", n, live, r.Wait, want)
		}
	}
}

// What runs in no container, or in one that does not hold its room, does not begin.
func TestNoVJobBeginsOutsideItsContainer(t *testing.T) {
	d := contained(t, gang.Absent)
	d.boots()
	d.wants("")
	if got := d.progress(1, 1); got != "dropped; failed" {
		t.Errorf("the plan is %s", got)
	}
	if d.told("its container 1 is waiting") == 0 {
		t.Error("the reason is not told")
	}
	r, _ := d.exec.Job(2)
	r.Job.Inner = 7 // which is no more
	d.boots()
	d.wants("")
	if d.told("its container 7 has ended") == 0 {
		t.Error("the reason is not told")
	}
}

// A container that is to give its room back waits until the last one inside has left.
func TestContainerWaitsForThoseInside(t *testing.T) {
	d := contained(t, gang.Active)
	d.boots()
	d.has(2, 0, "a", hypervisor.CopyRunning)
	d.reply(1, nil)
	d.pass(5 * time.Second)
	if err := d.exec.Clear(d.now, 1, gang.ThenTerminate, cluster.Because("deleted")); err != nil {
		t.Fatal(err)
	}
	d.settle()
	d.isIn(gang.Clearing)
	if r, _ := d.exec.Job(1); !strings.Contains(r.Wait, "vjob 2 is still inside") {
		t.Errorf("it waits for %q", r.Wait)
	}
	if err := d.exec.Clear(d.now, 2, gang.ThenFail, cluster.Because("its container has ended")); err != nil {
		t.Fatal(err)
	}
	d.settle()
	d.isIn(gang.Clearing)
	d.gone(2, 0, "a")
	for _, call := range d.calls {
		d.reply(call.Op, nil)
	}
	if _, live := d.exec.Job(1); live {
		t.Error("it has not ended")
	}
}

// A node that is lost takes the container with it, and those inside have to leave.
func TestContainerLosesANode(t *testing.T) {
	d := contained(t, gang.Active)
	n, _ := d.exec.Node("a")
	n.State = cluster.Down
	d.exec.SetNode(d.now, n.Node)
	d.settle()
	d.isIn(gang.Absent)
	if r, _ := d.exec.Job(1); r.Record.Losses != 1 || r.Job.State != cluster.Waiting {
		t.Errorf("%s, %+v", r.Job.State, r.Record)
	}
}
