package execute_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/gang"
	"vjob/ctxswitch/journal"
	"vjob/hypervisor"
)

// count is how many calls with a verb were wanted so far.
func (d *harness) count(verb hypervisor.Verb) (n int) {
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
	d := newHarness(t, settings(), world())
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

// A copy of no live vjob that does not pause is tried ever more rarely, and told of when
// the number of tries doubles.
func TestUnknownCopiesThatDoNotPause(t *testing.T) {
	d := newHarness(t, settings(), world())
	d.settle()
	d.has(8, 0, "a", hypervisor.CopyRunning)
	d.has(8, 1, "a", hypervisor.CopyRunning)
	d.pass(5 * time.Second)
	d.wants("1 pause 8.0@a, 2 pause 8.1@a") // none waits for the other
	for _, i := range d.steps[len(d.steps)-1].Intents {
		if i.Plan != 0 {
			t.Errorf("call %d is of plan %d", i.Call.Op, i.Plan)
		}
	}
	d.has(8, 0, "a", hypervisor.CopyPaused)
	d.steps = nil
	d.reply(1, nil)
	if got, want := d.repliesFor(900*time.Second, hypervisor.ErrRefused), "0s 5s 15s 35s 1m15s 2m35s 5m15s 10m35s"; got != want {
		t.Errorf("paused at %s, want %s", got, want)
	}
	var told []string
	for _, s := range d.steps {
		for _, e := range s.Events {
			if e.Kind == journal.EventAlarm && e.VM == "8.1" && e.Node == "a" {
				told = append(told, e.TextFor(""))
			}
		}
	}
	const alarm = "node a has a copy of 8.1, which belongs to no live vjob: it does not pause (try %d): %v"
	var want []string
	for _, try := range []int{1, 2, 4, 8} {
		want = append(want, fmt.Sprintf(alarm, try, hypervisor.ErrRefused))
	}
	if !slices.Equal(told, want) {
		t.Errorf("told is %q, want %q", told, want)
	}
	if d.told("does not pause") != len(want) {
		t.Error("there are alarms of copies that pause")
	}
}

// A pause without a reply is given up, and tried again only once it has come to nothing.
func TestPausesOfUnknownCopiesThatAreLost(t *testing.T) {
	l := world()
	l.Open, l.NextOp = []journal.Intent{openRestore(hypervisor.ImageID{VM: cluster.VMID{VJob: 7}})}, 2
	d := newHarness(t, settings(), l)
	d.has(7, 0, "a", hypervisor.CopyPaused) // which a process that died has restored
	d.has(8, 0, "a", hypervisor.CopyRunning)
	d.settle()
	d.pass(14 * time.Second)
	if d.told("no reply") != 0 {
		t.Error("it is given up too early")
	}
	d.pass(time.Second)
	if d.told("no reply") != 1 {
		t.Error("it is not given up")
	}
	d.pass(9 * time.Second)
	d.wants("2 pause 8.0@a")
	d.pass(5 * time.Second)
	d.wants("2 pause 8.0@a, 3 pause 8.0@a")
	if d.told("does not pause") != 1 || d.told("8.0, which belongs to no live vjob: it does not pause (try 1)") != 1 {
		t.Errorf("told is %+v", d.steps)
	}
	d.gone(8, 0, "a")
	d.pass(5 * time.Second)
	d.reply(3, hypervisor.ErrRefused) // of a copy that is gone
	if d.told("does not pause") != 1 {
		t.Error("a copy that is gone does not pause")
	}
}

// Copies of no live vjob that come, go, or change are a reason to decide anew: they take
// room. Those that are back raise another alarm.
func TestUnknownCopiesComeAndGo(t *testing.T) {
	d := newHarness(t, settings(), world())
	d.settle()
	adopted := func() {
		d.exec.Add(d.now, job(8, 1, cluster.Waiting))
		d.pass(10 * time.Second)
		if err := d.exec.Clear(d.now, 8, gang.ThenTerminate, cluster.Because("deleted")); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name   string
		change func()
		alarms int
		fresh  bool // it is a reason to decide
	}{
		{"nothing", func() {}, 0, false},
		{"it comes", func() { d.has(8, 0, "a", hypervisor.CopyPaused) }, 1, true},
		{"it stays", func() {}, 0, false},
		{"it runs", func() { d.has(8, 0, "a", hypervisor.CopyRunning) }, 1, true},
		{"it goes", func() { d.gone(8, 0, "a") }, 0, true},
		{"it is back", func() { d.has(8, 0, "a", hypervisor.CopyRunning) }, 1, true},
		{"its number was that of a vjob", adopted, 1, true},
	} {
		changes, alarms := d.exec.Changes(), d.told("which belongs to no live vjob: it is ")
		c.change()
		d.pass(10 * time.Second)
		if got := d.told("which belongs to no live vjob: it is ") - alarms; got != c.alarms {
			t.Errorf("%s: %d alarms, want %d", c.name, got, c.alarms)
		}
		if got := d.exec.Changes() != changes; got != c.fresh {
			t.Errorf("%s: a decision is wanted: %t", c.name, got)
		}
	}
}

// Of what a node uses copies of no live vjob are reported apart; those that run use CPU.
func TestForeignRoom(t *testing.T) {
	size := cluster.Resources{CPU: 500, Memory: 512}
	l := world(job(1, 1, cluster.Running))
	l.Gangs = append(l.Gangs, at(1, gang.Active, "a"))
	d := newHarness(t, settings(), l)
	d.has(8, 0, "a", hypervisor.CopyRunning)
	d.has(8, 1, "a", hypervisor.CopyPaused)
	for i := range d.copies["a"] {
		d.copies["a"][i].Size = size
	}
	d.settle()
	n, _ := d.exec.Node("a")
	foreign := size.Plus(size.Paused())
	if want := foreign.Plus(cluster.Resources{CPU: 1000, Memory: 1024}); n.Foreign != foreign || n.Used != want {
		t.Errorf("%s is used, %s by copies of no live vjob; want %s and %s", n.Used, n.Foreign, want, foreign)
	}
}

// Copies of no live vjob take their memory: what they hold is not given to others.
func TestUnknownCopiesTakeRoom(t *testing.T) {
	size := cluster.Resources{CPU: 1000, Memory: 3072}
	d := newHarness(t, settings(), world(job(1, 2, cluster.Waiting)))
	d.has(8, 0, "a", hypervisor.CopyPaused)
	d.copies["a"][0].Size = size
	d.settle()
	d.adopt([]ctxGang{group(cluster.Boot, 1, 0, 1)}, act(cluster.Boot, 1, 0, "", "a"), act(cluster.Boot, 1, 1, "", "a"))
	d.wants("1 boot 1.0@a")
	n, _ := d.exec.Node("a")
	if n.Foreign != size.Paused() {
		t.Errorf("they take %s, want %s", n.Foreign, size.Paused())
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
	l.Deadlines = map[hypervisor.OpID]time.Time{1: start.Add(10 * time.Minute)}
	d := newHarness(t, settings(), l)
	d.has(1, 0, "a", hypervisor.CopyPaused) // it looks restored, and the call says otherwise
	d.settle()
	d.pass(9 * time.Minute)
	d.isIn(gang.Restoring)
	d.reply(1, nil)
	d.isIn(gang.Resuming)
}
