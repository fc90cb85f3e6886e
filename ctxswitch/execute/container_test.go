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
// member, which is to run inside.
func contained(t *testing.T, phase gang.Phase) *desk {
	t.Helper()
	box, inner := job(1, 2, cluster.Running), job(2, 1, cluster.Waiting)
	box.Container, inner.Inner = true, 1
	l := world(box, inner)
	rec := at(1, phase, "a", "a")
	if phase == gang.Absent {
		box.State, rec = cluster.Waiting, gang.Record{VJob: 1, Members: make([]gang.Member, 2)}
	}
	l.Gangs = append(l.Gangs, rec)
	d := sit(t, settings(), l)
	for rank := range 2 { // nothing is there of a container
		d.gone(1, rank, "a")
	}
	d.settle()
	return d
}

// boots begins a plan that boots vjob 2 on a.
func (d *desk) boots() {
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
	if err := d.exec.Clear(d.now, 1, gang.ThenTerminate, "deleted"); err != nil {
		t.Fatal(err)
	}
	d.settle()
	if _, live := d.exec.Job(1); live {
		t.Error("it has not ended")
	}
}

// The room of a container is there for those inside, and for nobody else.
func TestContainerKeepsRoom(t *testing.T) {
	for _, c := range []struct {
		name   string
		memory cluster.MiB
		inner  bool
		want   string
	}{
		{"inside, as much as it has", 2048, true, "1 boot 2.0@a"},
		{"inside, more than it has", 2049, true, ""},
		{"outside, what is beside it", 2048, false, "1 boot 2.0@a"},
		{"outside, more", 2049, false, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := contained(t, gang.Active)
			r, _ := d.exec.Job(2)
			r.Job.VMs[0].Reserved.Memory = c.memory
			if !c.inner {
				r.Job.Inner = 0
			}
			d.boots()
			d.wants(c.want)
		})
	}
}

// What runs in no container, or in one that does not hold its room, does not begin.
func TestNobodyBeginsOutside(t *testing.T) {
	d := contained(t, gang.Absent)
	d.boots()
	d.wants("")
	if got := d.progress(1, 1); got != "dropped; failed" {
		t.Errorf("the plan is %s", got)
	}
	if d.told("its container 1 is waiting") == 0 {
		t.Error("nobody is told why")
	}
}

// A container that is to give its room back waits until the last one inside has left.
func TestContainerWaitsForThoseInside(t *testing.T) {
	d := contained(t, gang.Active)
	d.boots()
	d.has(2, 0, "a", hypervisor.CopyRunning)
	d.reply(1, nil)
	d.pass(5 * time.Second)
	if err := d.exec.Clear(d.now, 1, gang.ThenTerminate, "deleted"); err != nil {
		t.Fatal(err)
	}
	d.settle()
	d.isIn(gang.Clearing)
	if r, _ := d.exec.Job(1); !strings.Contains(r.Wait, "vjob 2 is still inside") {
		t.Errorf("it waits for %q", r.Wait)
	}
	if err := d.exec.Clear(d.now, 2, gang.ThenFail, "its container has ended"); err != nil {
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
