package execute_test

import (
	"errors"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/gang"
	"vjob/hypervisor"
)

// capped sets what the first copy on node a shows as its cap.
func (d *desk) capped(most cluster.MilliCPU) { d.copies["a"][0].Cap = most }

// asked counts the calls for a cap, and says what the last one was.
func (d *desk) asked() (n int, last cluster.MilliCPU) {
	for _, c := range d.calls {
		if c.Verb == hypervisor.Cap {
			n, last = n+1, c.Cap
		}
	}
	return n, last
}

func (d *desk) hasAsked(times int, last cluster.MilliCPU) {
	d.t.Helper()
	if n, most := d.asked(); n != times || most != last {
		d.t.Errorf("asked %d times for a cap, at last of %s; want %d times, %s", n, most, times, last)
	}
}

func (d *desk) caps(id cluster.VJobID, most ...cluster.MilliCPU) {
	d.exec.SetCaps(d.now, id, most)
	d.settle()
}

// A cap that is wanted is set, and set again when a look shows that it is gone; one that
// is seen is left alone.
func TestCapsAreLevelTriggered(t *testing.T) {
	l := world(job(1, 1, cluster.Running))
	l.Gangs = append(l.Gangs, at(1, gang.Active, "a"))
	d := sit(t, settings(), l)
	d.settle()
	d.hasAsked(0, 0)
	d.caps(1, 500)
	d.hasAsked(1, 500)
	d.capped(500)
	d.reply(1, nil)
	d.pass(time.Minute)
	d.hasAsked(1, 500)
	d.capped(0) // somebody has lifted it
	d.pass(10 * time.Second)
	d.hasAsked(2, 500)
	d.capped(500)
	d.reply(2, nil)
	d.caps(1, 0)
	d.hasAsked(3, 0)
}

// A node that cannot cap is asked now and then, and somebody is told once.
func TestCapsThatFail(t *testing.T) {
	l := world(job(1, 1, cluster.Running))
	l.Gangs = append(l.Gangs, at(1, gang.Active, "a"))
	d := sit(t, settings(), l)
	d.settle()
	d.caps(1, 500)
	for range 600 {
		if n := len(d.calls); n > 0 {
			d.reply(d.calls[n-1].Op, errors.New("no such controller"))
		}
		d.pass(time.Second)
	}
	if n, _ := d.asked(); n < 4 || n > 12 {
		t.Errorf("asked %d times in 10 minutes", n)
	}
	if n := d.told("cannot be limited to 0.5"); n != 1 {
		t.Errorf("told %d times", n)
	}
	d.isIn(gang.Active)
}

// A copy that is created has its cap from the first.
func TestCapsAtBoot(t *testing.T) {
	d := sit(t, settings(), world(job(1, 1, cluster.Waiting)))
	d.settle()
	d.caps(1, 250)
	d.adopt([]ctxGang{group(cluster.Boot, 1, 0)}, act(cluster.Boot, 1, 0, "", "a"))
	if len(d.calls) != 1 || d.calls[0].Verb != hypervisor.Boot || d.calls[0].Cap != 250 {
		t.Fatalf("got %+v", d.calls)
	}
	if load := d.exec.Load("a"); load != 250 {
		t.Errorf("a may use %s CPU while it boots", load)
	}
}

// What is to use more CPU waits until it may; what is to use less never does.
func TestCapsKeepToWhatIsAdmitted(t *testing.T) {
	l := world(job(1, 1, cluster.Running), job(2, 1, cluster.Waiting))
	l.Gangs = append(l.Gangs, at(1, gang.Active, "a"))
	d := sit(t, settings(), l)
	limit := cluster.MilliCPU(1500)
	d.exec.Admits = func(more map[cluster.NodeID]cluster.MilliCPU) bool {
		for id, load := range more {
			if d.exec.Load(id)+load > limit {
				return false
			}
		}
		return true
	}
	d.settle()
	d.caps(2, 800)
	d.adopt([]ctxGang{group(cluster.Boot, 2, 0)}, act(cluster.Boot, 2, 0, "", "a"))
	d.wants("") // 1 is not capped, and counts with what it has reserved
	d.caps(1, 700)
	d.wants("1 cap 1.0@a")
	d.capped(700)
	d.reply(1, nil)
	d.wants("1 cap 1.0@a, 2 boot 2.0@a")
	d.has(2, 0, "a", hypervisor.CopyRunning)
	d.copies["a"][1].Cap = 800
	d.reply(2, nil)
	d.caps(1, 1000)
	d.pass(time.Minute)
	d.hasAsked(1, 700)
	limit = 1800
	d.pass(5 * time.Second)
	d.hasAsked(2, 1000)
	if load := d.exec.Load("a"); load != 1800 {
		t.Errorf("a may use %s CPU while a cap is changed", load)
	}
}
