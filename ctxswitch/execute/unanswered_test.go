package execute_test

import (
	"errors"
	"reflect"
	"slices"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/execute"
	"vjob/ctxswitch/gang"
	"vjob/ctxswitch/journal"
	"vjob/hypervisor"
)

// events are those of a kind, without their texts.
func (d *harness) events(kind journal.EventKind) (list []journal.Event) {
	for _, s := range d.steps {
		for _, e := range s.Events {
			if e.Kind == kind {
				e.Text = ""
				list = append(list, e)
			}
		}
	}
	return list
}

// result is what was written of a call.
func (d *harness) result(op hypervisor.OpID) (list []journal.Result) {
	for _, s := range d.steps {
		for _, r := range s.Results {
			if r.Op == op {
				list = append(list, r)
			}
		}
	}
	return list
}

// The journal has an intent of each call, without what a look does not need, and one result.
func TestCallsAreWritten(t *testing.T) {
	l := world(job(1, 1, cluster.Running), job(2, 1, cluster.Waiting))
	l.Epoch = 7
	l.Gangs = append(l.Gangs, at(1, gang.Active, "a"))
	d := newHarness(t, settings(), l)
	d.settle()
	d.now = d.now.Add(time.Minute)
	d.exec.SetCaps(d.now, 2, []cluster.MilliCPU{600})
	move := act(cluster.Migrate, 1, 0, "a", "b", 1)
	move.Live, move.Rate = true, 100
	d.adopt([]ctxGang{group(cluster.Migrate, 1, 0), group(cluster.Boot, 2, 1)}, move, act(cluster.Boot, 2, 0, "", "c"))
	d.caps(1, 500) // while the plan has not begun with it
	d.has(2, 0, "c", hypervisor.CopyRunning)
	d.copies["c"][0].Cap, d.copies["a"][0].Cap = 600, 500
	d.reply(2, nil)
	began, ended := d.now.Add(time.Second), d.now.Add(2*time.Second)
	d.exec.Replied(d.now, execute.Reply{Op: 1, Err: errors.New("internal error"), Began: began, Ended: ended})
	d.settle()
	d.wants("1 boot 2.0@c, 2 tune 1.0@a, 3 migrate 1.0@a>b")
	if d.calls[0].Cap != 600 || d.calls[2].Rate != 100 {
		t.Errorf("the boot has the cap %s, the migration the rate %v", d.calls[0].Cap, d.calls[2].Rate)
	}
	var intents []journal.Intent
	for _, s := range d.steps {
		intents = append(intents, s.Intents...)
	}
	for i, plan := range []journal.PlanID{1, 0, 1} {
		call := d.calls[i]
		call.Machine, call.Cap, call.Rate = nil, 0, 0
		want := journal.Intent{Call: call, Plan: plan, Epoch: 7, At: d.now}
		if intents[i] != want {
			t.Errorf("the intent is %+v, want %+v", intents[i], want)
		}
	}
	want := journal.Result{Op: 1, Began: began, Ended: ended, Error: "internal error"}
	if got := d.result(1); len(got) != 1 || got[0] != want {
		t.Errorf("the result is %+v, want %+v", got, want)
	}
	if got := d.result(2); len(got) != 1 || got[0].Error != "" {
		t.Errorf("the result of a call that ended well is %+v", got)
	}
}

// How long a call may take depends on what it does, and on the size of its VM.
func TestDeadlines(t *testing.T) {
	set := priced()
	set.Costs.RemoteFactor = 0
	image := imageOf(1, 1)
	for _, c := range []struct {
		verb  hypervisor.Verb
		phase gang.Phase
		then  gang.Then
		wait  time.Duration
	}{
		{hypervisor.Boot, gang.Creating, 0, 20 * time.Second},
		{hypervisor.Shutdown, gang.Clearing, gang.ThenExpire, 8 * time.Second},
		{hypervisor.Destroy, gang.Clearing, gang.ThenFail, 8 * time.Second},
		{hypervisor.Pause, gang.Pausing, gang.ThenSave, 0},
		{hypervisor.Save, gang.Saving, 0, 200 * time.Second},
		{hypervisor.Seal, gang.Saving, 0, 200 * time.Second},
		{hypervisor.Restore, gang.Restoring, 0, 80 * time.Second},
		{hypervisor.Migrate, gang.Shifting, 0, 48 * time.Second},
	} {
		rec := at(1, c.phase, "a")
		rec.Then = c.then
		if c.phase == gang.Shifting || c.phase == gang.Restoring || c.phase == gang.Creating {
			rec.Members[0].Next = "b"
		}
		rec.Members[0].Image = &gang.Image{ID: image.ID, Node: "a"}
		if c.verb == hypervisor.Seal || c.verb == hypervisor.Save {
			rec.Members[0].Image = nil
		}
		l := world(job(1, 1, rec.State()))
		l.Gangs = append(l.Gangs, rec)
		d := newHarness(t, set, l)
		d.store.Images = []hypervisor.Image{image}
		switch c.verb {
		case hypervisor.Boot, hypervisor.Seal, hypervisor.Restore:
			d.gone(1, 0, "a")
		case hypervisor.Save:
			d.has(1, 0, "a", hypervisor.CopyPaused)
		default: // it runs
		}
		d.settle()
		if len(d.calls) != 1 || d.calls[0].Verb != c.verb {
			t.Errorf("%s: calls are %s", c.verb, d.wanted())
			continue
		}
		d.now = d.now.Add(15*time.Second + c.wait - 1)
		d.exec.Tick(d.now)
		d.settle()
		early := d.told("no reply")
		d.now = d.now.Add(1)
		d.exec.Tick(d.now)
		d.settle()
		if late := d.told("no reply"); early != 0 || late != 1 {
			t.Errorf("%s: given up %d times before its deadline, %d times at it", c.verb, early, late)
		}
	}
}

// A call without a reply makes one event, with its vjob, VM and node, and its nodes are
// looked at. It is open until both ends of it have answered for long enough.
func TestAnUnansweredCallHasTwoEnds(t *testing.T) {
	set := settings()
	set.Transfers = 1
	l := world(job(1, 1, cluster.Migrating), job(2, 1, cluster.Running))
	rec := at(1, gang.Shifting, "a")
	rec.Members[0].Next = "b"
	l.Gangs = append(l.Gangs, rec, at(2, gang.Active, "c"))
	d := newHarness(t, set, l)
	d.settle()
	d.wants("1 migrate 1.0@a>b")
	d.dead["b"] = true
	d.now = d.now.Add(time.Second)
	for range 2 {
		d.exec.Replied(d.now, execute.Reply{Op: 1, Err: hypervisor.ErrTimeout})
	}
	d.settle()
	want := journal.Event{At: d.now, Kind: journal.EventAction, VJob: 1, VM: "1.0", Node: "a"}
	if got := d.events(journal.EventAction); !reflect.DeepEqual(got, []journal.Event{want}) {
		t.Errorf("told is %+v, want %+v", got, want)
	}
	d.pass(time.Minute)
	if got := d.result(1); got != nil {
		t.Errorf("the call is closed while b is silent: %+v", got)
	}
	d.dead["b"] = false
	d.pass(time.Second) // b answers
	d.has(1, 0, "b", hypervisor.CopyRunning)
	d.gone(1, 0, "a")
	d.pass(set.Settle - time.Second)
	if got := d.result(1); got != nil {
		t.Errorf("the call is closed as soon as b answers: %+v", got)
	}
	d.pass(time.Second)
	closed := journal.Result{Op: 1, Began: start, Ended: d.now, Error: hypervisor.ErrTimeout.Error()}
	if got := d.result(1); len(got) != 1 || got[0] != closed {
		t.Errorf("the result is %+v, want %+v", got, closed)
	}
	d.isIn(gang.Active)
	move := act(cluster.Migrate, 2, 0, "c", "b")
	move.Live = true
	d.adopt([]ctxGang{group(cluster.Migrate, 2, 0)}, move)
	d.wants("1 migrate 1.0@a>b, 2 migrate 2.0@c>b") // the slot of the unanswered call is free
}

// A pause without a reply may have been made at any time until it is given up: that counts
// for the skew. A boot without one is given as the reason why the gang turns back.
func TestUnansweredCallsTeach(t *testing.T) {
	set := settings()
	set.Limits.MaxSkew = time.Minute
	d := suspending(t, set, [2]int{0, 1})
	d.exec.Replied(d.now, execute.Reply{Op: 2, Err: hypervisor.ErrTimeout})
	d.pass(set.Settle)
	d.isIn(gang.Saving)
	if got := d.skews(); len(got) != 1 || got[0].Skew != set.Settle {
		t.Errorf("the skew is %+v, want %s", got, set.Settle)
	}
	d = booting(t, settings())
	for op := range hypervisor.OpID(3) {
		d.reply(op+1, hypervisor.ErrTimeout)
		d.pass(set.Settle)
	}
	if d.told("does not boot on a: "+hypervisor.ErrTimeout.Error()) == 0 {
		t.Errorf("it is not told why; calls were %s", d.wanted())
	}
}

// A pause of an unknown copy without a reply raises the alarm of one that failed.
func TestUnansweredPausesOfUnknownCopies(t *testing.T) {
	d := newHarness(t, settings(), world())
	d.has(8, 0, "a", hypervisor.CopyRunning)
	d.settle()
	d.wants("1 pause 8.0@a")
	d.reply(1, hypervisor.ErrTimeout)
	d.pass(settings().Settle)
	if d.told("it does not pause (try 1): "+hypervisor.ErrTimeout.Error()) != 1 {
		t.Error("it is not told")
	}
}

// A cap without a reply is no reason for a member to give its migration up.
func TestUnansweredCapsTeachNothing(t *testing.T) {
	l := world(job(1, 1, cluster.Running), job(2, 1, cluster.Waiting))
	l.Gangs = append(l.Gangs, at(1, gang.Active, "a"))
	d := newHarness(t, settings(), l)
	d.settle()
	one, two := act(cluster.Migrate, 1, 0, "a", "b"), act(cluster.Migrate, 1, 0, "b", "c", 0, 2)
	one.Live, two.Live = true, true
	d.adopt([]ctxGang{group(cluster.Migrate, 1, 0, 1), group(cluster.Boot, 2, 2)}, one, two, act(cluster.Boot, 2, 0, "", "a"))
	d.wants("1 migrate 1.0@a>b, 2 boot 2.0@a")
	d.gone(1, 0, "a")
	d.has(1, 0, "b", hypervisor.CopyRunning)
	d.reply(1, nil)
	d.caps(1, 500)
	d.reply(3, hypervisor.ErrTimeout)
	d.pass(settings().Settle)
	d.copies["b"][0].Cap = 500
	d.pass(settings().Settle)
	d.has(2, 0, "a", hypervisor.CopyRunning)
	d.reply(2, nil)
	if last := d.calls[len(d.calls)-1]; last.Verb != hypervisor.Migrate || last.To != "c" {
		t.Errorf("it does not go on: %s", d.wanted())
	}
}

// A long call raises an alarm after half of what it may take, but not before ten minutes and
// not after an hour; one that is given up before raises none.
func TestWhenLongCallsAreTold(t *testing.T) {
	for _, c := range []struct{ deadline, told time.Duration }{
		{8 * time.Minute, 0},
		{15 * time.Minute, 10 * time.Minute},
		{30 * time.Minute, 15 * time.Minute},
		{4 * time.Hour, time.Hour},
	} {
		set := settings()
		set.Costs.SuspendPer = (c.deadline - 15*time.Second) / 4
		l := world(job(1, 1, cluster.Suspending))
		l.Gangs = append(l.Gangs, at(1, gang.Saving, "a"))
		d := newHarness(t, set, l)
		d.has(1, 0, "a", hypervisor.CopyPaused)
		d.settle()
		d.dead["a"] = true
		var told time.Duration
		for d.now.Before(start.Add(70*time.Minute)) && told == 0 {
			d.now = d.now.Add(15 * time.Second)
			d.exec.Tick(d.now)
			d.settle()
			if d.told("is given up at") > 0 {
				told = d.now.Sub(start)
			}
		}
		if told != c.told {
			t.Errorf("a call that may take %s raises the alarm after %s, want %s", c.deadline, told, c.told)
		}
		want := journal.Event{At: d.now, Kind: journal.EventAlarm, VJob: 1, VM: "1.0", Node: "a"}
		got := slices.DeleteFunc(d.events(journal.EventAlarm), func(e journal.Event) bool { return e.VM == "" }) // that the node is silent
		if told > 0 && !reflect.DeepEqual(got, []journal.Event{want}) {
			t.Errorf("told is %+v, want %+v", got, want)
		}
	}
}
