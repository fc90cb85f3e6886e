package execute_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/gang"
	"vjob/hypervisor"
)

// capped sets what the first copy on node a shows as its cap.
func (d *harness) capped(most cluster.MilliCPU) { d.copies["a"][0].Cap = most }

// asked counts the calls for a cap, and says what the last one was.
func (d *harness) asked() (n int, last cluster.MilliCPU) {
	for _, c := range d.calls {
		if c.Verb == hypervisor.Tune {
			n, last = n+1, c.Cap
		}
	}
	return n, last
}

func (d *harness) hasAsked(times int, last cluster.MilliCPU) {
	d.t.Helper()
	if n, most := d.asked(); n != times || most != last {
		d.t.Errorf("asked %d times for a cap, at last of %s; want %d times, %s", n, most, times, last)
	}
}

func (d *harness) caps(id cluster.VJobID, most ...cluster.MilliCPU) {
	d.exec.SetCaps(d.now, id, most)
	d.settle()
}

func (d *harness) weights(id cluster.VJobID, weights ...int) {
	d.exec.SetWeights(d.now, id, weights)
	d.settle()
}

// A weight that is wanted is set, with the cap, and set again when a look shows that it is gone. A
// node that does not tell weights gives all the default.
func TestWeightsAreLevelTriggered(t *testing.T) {
	l := world(job(1, 1, cluster.Running))
	l.Gangs = append(l.Gangs, at(1, gang.Active, "a"))
	d := newHarness(t, settings(), l)
	d.capped(400)
	weighed := func(w int) { d.copies["a"][0].Weight = w }
	last := func(calls int, most cluster.MilliCPU, weight int) {
		t.Helper()
		if n := len(d.calls); n != calls {
			t.Fatalf("%d calls, want %d: %+v", n, calls, d.calls)
		}
		if c := d.calls[calls-1]; c.Verb != hypervisor.Tune || c.Cap != most || c.Weight != weight {
			t.Errorf("call %d is %+v, want cap %s and weight %d", calls, c, most, weight)
		}
	}
	d.settle()
	d.weights(7, 300)  // unknown
	d.weights(1, 1, 2) // of two members
	d.weights(1, 100)  // the default, and the node shows no weight
	d.hasAsked(0, 0)
	d.weights(1, 300)
	last(1, 400, 300) // no cap was set: it stays
	weighed(300)
	d.reply(1, nil)
	d.pass(time.Minute)
	d.hasAsked(1, 400)
	weighed(100) // from outside
	d.pass(10 * time.Second)
	last(2, 400, 300)
	weighed(300)
	d.reply(2, nil)
	d.caps(1, 500)
	last(3, 500, 300) // both in one call
	d.capped(500)
	d.reply(3, nil)
	d.weights(1, 100)
	last(4, 500, 100)
	weighed(1024) // the default of control groups of version 1
	d.reply(4, nil)
	d.pass(10 * time.Second)
	last(5, 500, 100)
	weighed(100)
	d.reply(5, nil)
	d.weights(1, 0) // as it is
	weighed(200)
	d.pass(time.Minute)
	d.hasAsked(5, 500)
}

// A weight alone changes nothing of what a VM may use, so it is always admitted, and it counts with
// its cap meanwhile.
func TestWeightsNeedNoPower(t *testing.T) {
	l := world(job(1, 1, cluster.Running))
	l.Gangs = append(l.Gangs, at(1, gang.Active, "a"))
	d := newHarness(t, settings(), l)
	d.exec.Admits = func(map[cluster.NodeID]cluster.MilliCPU) bool { return false }
	d.capped(400)
	d.settle()
	d.weights(1, 300)
	d.hasAsked(1, 400)
	d.hasLoad("while its weight changes", map[cluster.NodeID]cluster.MilliCPU{"a": 400})
}

// A copy that is created has its weight from the first; the intent does not need it.
func TestWeightsAtBoot(t *testing.T) {
	d := newHarness(t, settings(), world(job(1, 1, cluster.Waiting)))
	d.settle()
	d.weights(1, 250)
	d.adopt([]ctxGang{group(cluster.Boot, 1, 0)}, act(cluster.Boot, 1, 0, "", "a"))
	if len(d.calls) != 1 || d.calls[0].Verb != hypervisor.Boot || d.calls[0].Weight != 250 {
		t.Fatalf("got %+v", d.calls)
	}
	for _, s := range d.steps {
		for _, i := range s.Intents {
			if i.Call.Weight != 0 {
				t.Errorf("the intent is %+v", i.Call)
			}
		}
	}
	d.has(1, 0, "a", hypervisor.CopyRunning)
	d.copies["a"][0].Weight = 250
	d.reply(1, nil)
	d.pass(time.Minute)
	if len(d.calls) != 1 {
		t.Errorf("the calls are %+v", d.calls)
	}
}

// A node that does not weigh raises one alarm, and gets the next call after a back-off.
func TestWeightsThatFail(t *testing.T) {
	l := world(job(1, 1, cluster.Running))
	l.Gangs = append(l.Gangs, at(1, gang.Active, "a"))
	d := newHarness(t, settings(), l)
	d.settle()
	d.weights(1, 300)
	for range 600 {
		if n := len(d.calls); n > 0 {
			d.reply(d.calls[n-1].Op, errors.New("no such controller"))
		}
		d.pass(time.Second)
	}
	if n := len(d.calls); n < 4 || n > 12 {
		t.Errorf("asked %d times in 10 minutes", n)
	}
	if n := d.told("1.0 on a: CPU weight 300 and cap 0 cannot be set: no such controller"); n != 1 {
		t.Errorf("told %d times", n)
	}
	d.isIn(gang.Active)
}

// The working set of a member counts up to what it reserves, and what it reserves while it is not
// known. A look that shows only another one has no news.
func TestMemoryDemand(t *testing.T) {
	l := world(job(1, 1, cluster.Running))
	l.Gangs = append(l.Gangs, at(1, gang.Active, "a"))
	d := newHarness(t, settings(), l)
	vm := cluster.VMID{VJob: 1}
	for _, c := range []struct{ used, want cluster.MiB }{{0, 1024}, {300, 300}, {5000, 1024}, {0, 1024}} {
		d.copies["a"][0].Memory = c.used
		d.exec.Hint(d.now, "a")
		d.settle()
		if got := d.exec.VMs.MemoryDemand(vm); got != c.want {
			t.Errorf("while it uses %s it demands %s, want %s", c.used, got, c.want)
		}
	}
	if got := d.exec.VMs.MemoryDemand(cluster.VMID{VJob: 9}); got != 0 {
		t.Errorf("an unknown one demands %s", got)
	}
}

// A node reports what the copies on it demand, though it has less: the CPU of those that run, and the
// working set or else the size of each.
func TestDemandOfANode(t *testing.T) {
	l := world(job(1, 3, cluster.Running))
	l.Gangs = append(l.Gangs, at(1, gang.Active, "a", "a", "a"))
	d := newHarness(t, settings(), l)
	size := cluster.Resources{CPU: 1000, Memory: 1024}
	for i, c := range []hypervisor.Copy{{CPU: 3000, Memory: 300}, {CPU: 2500}, {CPU: 1000, State: hypervisor.CopyPaused}} {
		known := &d.copies["a"][i]
		known.CPU, known.Memory, known.State, known.Size = c.CPU, c.Memory, c.State, size
	}
	d.settle()
	if n, _ := d.exec.Node("a"); n.Demand != (cluster.Resources{CPU: 5500, Memory: 2348}) {
		t.Errorf("it demands %s", n.Demand)
	}
}

// A cap that is wanted is set, and set again when a look shows that it is gone; one that
// is seen is left alone.
func TestCapsAreLevelTriggered(t *testing.T) {
	l := world(job(1, 1, cluster.Running))
	l.Gangs = append(l.Gangs, at(1, gang.Active, "a"))
	d := newHarness(t, settings(), l)
	d.settle()
	d.hasAsked(0, 0)
	d.caps(1, 500)
	d.hasAsked(1, 500)
	d.capped(500)
	d.reply(1, nil)
	d.pass(time.Minute)
	d.hasAsked(1, 500)
	d.capped(0) // lifted from outside
	d.pass(10 * time.Second)
	d.hasAsked(2, 500)
	d.capped(500)
	d.reply(2, nil)
	d.caps(1, 0)
	d.hasAsked(3, 0)
}

// A copy is asked for one cap at a time, and again only when a look that began after the answer
// shows another one. Once it has its cap, the next one is not waited for.
func TestCapsOneAtATime(t *testing.T) {
	l := world(job(1, 1, cluster.Running))
	l.Gangs = append(l.Gangs, at(1, gang.Active, "a"))
	d := newHarness(t, settings(), l)
	d.capped(300) // in an earlier life of the scheduler
	d.settle()
	d.hasAsked(0, 0)
	d.caps(1, 0)
	d.hasAsked(1, 0)
	d.caps(1, 500)
	d.hasAsked(1, 0) // one call is under way
	d.capped(0)
	d.reply(1, nil)
	d.hasAsked(2, 500)

	d.pass(6 * time.Second)
	before := slices.Clone(d.copies["a"])
	d.exec.Hint(d.now, "a")
	d.flush()
	d.capped(500)
	d.exec.Replied(d.now, d.replyTo(2, nil))
	d.flush()
	d.lookedAt("a", before...)
	d.exec.Tick(d.now)
	d.flush()
	d.hasAsked(2, 500)
	if load := d.exec.VMs.Load("a"); load != 1000 {
		t.Errorf("a may use %s before the cap is seen", load)
	}
	d.settle()
	d.hasAsked(2, 500)
	if load := d.exec.VMs.Load("a"); load != 500 {
		t.Errorf("a may use %s under the cap", load)
	}
	d.capped(0)
	d.exec.Hint(d.now, "a")
	d.settle()
	d.hasAsked(3, 500)
}

// While a larger cap is not seen yet it counts already.
func TestLargerCapsCountAtOnce(t *testing.T) {
	l := world(job(1, 1, cluster.Running))
	l.Gangs = append(l.Gangs, at(1, gang.Active, "a"))
	d := newHarness(t, settings(), l)
	d.capped(1)
	d.settle()
	d.hasLoad("under the least cap", map[cluster.NodeID]cluster.MilliCPU{"a": 1})
	d.caps(1, 700)
	d.hasLoad("asked", map[cluster.NodeID]cluster.MilliCPU{"a": 700})
	d.exec.Hint(d.now, "a")
	d.flush()
	d.exec.Replied(d.now, d.replyTo(1, errors.New("internal error")))
	d.hasLoad("answered", map[cluster.NodeID]cluster.MilliCPU{"a": 700})
	d.lookedAt("a", d.copies["a"]...)
	d.hasLoad("seen before the answer", map[cluster.NodeID]cluster.MilliCPU{"a": 700})
	d.settle()
	d.hasLoad("seen", map[cluster.NodeID]cluster.MilliCPU{"a": 1})
}

// A cap that does not come about is tried again when its own time has come, whatever else is
// seen or wanted, and whatever other caps wait for.
func TestCapsHaveTheirOwnTimes(t *testing.T) {
	set := settings()
	set.LookEvery = time.Hour
	l := world(job(1, 1, cluster.Running), job(2, 1, cluster.Running))
	l.Gangs = append(l.Gangs, at(1, gang.Active, "a"), at(2, gang.Active, "a"))
	d := newHarness(t, set, l)
	d.settle()
	var asked []string
	for range 25 {
		for _, id := range []cluster.VJobID{1, 2} {
			if id == 1 || d.now.Sub(start) >= 3*time.Second {
				d.caps(id, 500) // by each decision
			}
		}
		d.has(77, 0, "a", hypervisor.CopyPaused) // a look has news of all that is there
		if len(asked)%2 == 0 {
			d.gone(77, 0, "a")
		}
		for _, c := range d.calls[len(asked):] {
			asked = append(asked, fmt.Sprintf("%s %s", c.VM, d.now.Sub(start)))
			d.reply(c.Op, errors.New("no such controller"))
		}
		wake := d.exec.Flush().Wake.Sub(start)
		d.now = d.now.Add(time.Second)
		if d.exec.Tick(d.now); d.now.Sub(start) > wake {
			t.Errorf("after %s it wanted to be woken at %s", d.now.Sub(start)-time.Second, wake)
		}
		d.settle()
	}
	if got, want := strings.Join(asked, ", "), "1.0 0s, 2.0 3s, 1.0 5s, 2.0 8s, 1.0 15s, 2.0 18s"; got != want {
		t.Errorf("asked for caps at %s, want %s", got, want)
	}
}

// A call for a cap has as long as the shortest one, and an alarm names a refusal.
func TestAnswersToCaps(t *testing.T) {
	for answer, told := range map[error]int{nil: 0, hypervisor.ErrNoSuchVM: 0, hypervisor.ErrRefused: 1} {
		l := world(job(1, 1, cluster.Running))
		l.Gangs = append(l.Gangs, at(1, gang.Active, "a"))
		d := newHarness(t, settings(), l)
		d.settle()
		later := d.now.Add(time.Second)
		d.exec.SetCaps(later, 1, []cluster.MilliCPU{500})
		d.settle()
		if i := d.steps[len(d.steps)-1].Intents; len(i) != 1 || !i[0].At.Equal(later) {
			t.Errorf("intents are %+v", i)
		}
		d.now = later
		d.pass(14 * time.Second)
		if d.told("no reply") != 0 {
			t.Error("it is given up too early")
		}
		d.reply(1, answer)
		if got := d.told("1.0 on a: its share of CPU cannot be limited to 0.5"); got != told {
			t.Errorf("%v: told %d times, want %d", answer, got, told)
		}
		d.caps(1, 600)
		d.pass(15 * time.Second)
		if d.told("tune of 1.0 on a: no reply") != 1 {
			t.Error("it is not given up")
		}
	}
}

// A node that cannot cap is tried again with a back-off, and raises one alarm.
func TestCapsThatFail(t *testing.T) {
	l := world(job(1, 1, cluster.Running))
	l.Gangs = append(l.Gangs, at(1, gang.Active, "a"))
	d := newHarness(t, settings(), l)
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

// A cap that lets a VM use more has to be admitted, any other one does not.
func TestOnlyLargerCapsAreAdmitted(t *testing.T) {
	for _, c := range []struct {
		has, wants cluster.MilliCPU
		asked      int
	}{
		{500, 500, 0}, {500, 501, 0}, {500, 499, 1}, {500, 0, 0}, {0, 500, 1}, {0, 1000, 1}, {0, 1001, 0},
	} {
		l := world(job(1, 1, cluster.Running))
		l.Gangs = append(l.Gangs, at(1, gang.Active, "a"))
		d := newHarness(t, settings(), l)
		d.exec.Admits = func(map[cluster.NodeID]cluster.MilliCPU) bool { return false }
		d.capped(c.has)
		d.settle()
		d.caps(1, c.wants)
		if n, _ := d.asked(); n != c.asked {
			t.Errorf("from %s to %s: %d calls, want %d", c.has, c.wants, n, c.asked)
		}
	}
}

// A copy that is created has its cap from the first.
func TestCapsAtBoot(t *testing.T) {
	d := newHarness(t, settings(), world(job(1, 1, cluster.Waiting)))
	d.settle()
	d.caps(1, 250)
	d.adopt([]ctxGang{group(cluster.Boot, 1, 0)}, act(cluster.Boot, 1, 0, "", "a"))
	if len(d.calls) != 1 || d.calls[0].Verb != hypervisor.Boot || d.calls[0].Cap != 250 {
		t.Fatalf("got %+v", d.calls)
	}
	if load := d.exec.VMs.Load("a"); load != 250 {
		t.Errorf("a may use %s CPU while it boots", load)
	}
	d.has(1, 0, "a", hypervisor.CopyRunning)
	d.capped(250)
	d.reply(1, nil)
	d.adoptAs(2, []ctxGang{group(cluster.Suspend, 1, 0)}, act(cluster.Suspend, 1, 0, "a", ""))
	if len(d.calls) != 2 || d.calls[1].Verb != hypervisor.Pause || d.calls[1].Cap != 0 {
		t.Errorf("the calls are %+v; a pause needs no cap", d.calls)
	}
}

// What is to use more CPU waits until it may; what is to use less never does.
func TestCapsKeepToWhatIsAdmitted(t *testing.T) {
	l := world(job(1, 1, cluster.Running), job(2, 1, cluster.Waiting))
	l.Gangs = append(l.Gangs, at(1, gang.Active, "a"))
	d := newHarness(t, settings(), l)
	limit := cluster.MilliCPU(1500)
	d.exec.Admits = func(more map[cluster.NodeID]cluster.MilliCPU) bool {
		for id, load := range more {
			if d.exec.VMs.Load(id)+load > limit {
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
	d.wants("1 tune 1.0@a")
	d.capped(700)
	d.reply(1, nil)
	d.wants("1 tune 1.0@a, 2 boot 2.0@a")
	d.has(2, 0, "a", hypervisor.CopyRunning)
	d.copies["a"][1].Cap = 800
	d.reply(2, nil)
	d.caps(1, 1000)
	d.pass(time.Minute)
	d.hasAsked(1, 700)
	limit = 1800
	d.pass(5 * time.Second)
	d.hasAsked(2, 1000)
	if load := d.exec.VMs.Load("a"); load != 1800 {
		t.Errorf("a may use %s CPU while a cap is changed", load)
	}
}
