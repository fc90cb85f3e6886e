package execute_test

import (
	"strings"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/gang"
	"vjob/hypervisor"
)

// count is how many calls with a verb were wanted so far.
func (d *desk) count(verb hypervisor.Verb) (n int) {
	for _, c := range d.calls {
		if c.Verb == verb {
			n++
		}
	}
	return n
}

// A copy that bears our mark and belongs to no live vjob raises an alarm. One that
// runs is paused, as often as it takes; none is adopted or destroyed.
func TestUnknownCopies(t *testing.T) {
	d := sit(t, settings(), world())
	d.has(8, 0, "a", hypervisor.CopyPaused)
	d.has(8, 1, "a", hypervisor.CopyRunning)
	d.settle()
	d.wants("1 pause 8.1@a")
	if d.told("it is paused") != 1 || d.told("it is running") != 1 {
		t.Errorf("%d alarms of paused copies and %d of running ones, want 1 of each", d.told("it is paused"), d.told("it is running"))
	}
	d.reply(1, hypervisor.ErrRefused)
	d.pass(time.Minute)
	tries := d.count(hypervisor.Pause)
	if tries < 3 || d.told("it does not pause (try 1)") != 1 || d.told("it is paused") != 1 {
		t.Errorf("%d tries to pause it:\n%s", tries, d.wanted())
	}
	d.has(8, 1, "a", hypervisor.CopyPaused)
	d.pass(10 * time.Minute)
	if d.told("it is paused") != 2 || d.count(hypervisor.Pause) > tries+1 {
		t.Errorf("%d alarms that it is paused after %d tries", d.told("it is paused"), d.count(hypervisor.Pause))
	}
	if d.count(hypervisor.Destroy) > 0 {
		t.Error("it is destroyed")
	}
}

// Copies of no live vjob take their memory: what they hold is not given to others.
func TestUnknownCopiesTakeRoom(t *testing.T) {
	size := cluster.Resources{CPU: 1000, Memory: 3072}
	d := sit(t, settings(), world(job(1, 2, cluster.Waiting)))
	d.has(8, 0, "a", hypervisor.CopyPaused)
	d.copies["a"][0].Size = size
	d.settle()
	d.adopt([]ctxGang{group(cluster.Boot, 1, 0, 1)}, act(cluster.Boot, 1, 0, "", "a"), act(cluster.Boot, 1, 1, "", "a"))
	d.wants("1 boot 1.0@a")
	n, _ := d.exec.Node("a")
	if n.Foreign != size.AtRest() {
		t.Errorf("they take %s, want %s", n.Foreign, size.AtRest())
	}
	d.gone(8, 0, "a")
	d.pass(10 * time.Second)
	if !strings.Contains(d.wanted(), "boot 1.1@a") {
		t.Errorf("the room of a copy that is gone is not given: %s", d.wanted())
	}
}

// A call of this process that goes on is not taken for one of a process that died: nothing
// else is done with its VM before it ends.
func TestCallsOutliveTheCore(t *testing.T) {
	l := world(job(1, 1, cluster.Resuming))
	rec := at(1, gang.Restoring, "")
	id := hypervisor.ImageID{VM: cluster.VMID{VJob: 1}, Generation: 1, Attempt: 1}
	rec.Members[0] = gang.Member{Next: "a", Image: &gang.Image{ID: id, Node: "a", Checksum: "c"}}
	l.Gangs = append(l.Gangs, rec)
	l.Open = append(l.Open, openRestore(id))
	l.NextOp = 2
	l.Flying = map[hypervisor.OpID]time.Time{1: start.Add(10 * time.Minute)}
	d := sit(t, settings(), l)
	d.has(1, 0, "a", hypervisor.CopyPaused) // it looks restored, and the call says otherwise
	d.settle()
	d.pass(9 * time.Minute)
	d.isIn(gang.Restoring)
	d.reply(1, nil)
	d.isIn(gang.Resuming)
}
