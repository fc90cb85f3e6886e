package execute_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/execute"
	"vjob/ctxswitch/gang"
	"vjob/ctxswitch/journal"
	"vjob/hypervisor"
)

// booting has begun to boot vjob 1 on a.
func booting(t *testing.T, set execute.Settings) *harness {
	t.Helper()
	d := newHarness(t, set, world(job(1, 1, cluster.Waiting)))
	d.settle()
	d.adopt([]ctxGang{group(cluster.Boot, 1, 0)}, act(cluster.Boot, 1, 0, "", "a"))
	d.wants("1 boot 1.0@a")
	return d
}

// A call that is not answered is given up at its deadline, and only closed when
// its node has answered looks for long enough after that.
func TestALostCallIsSettled(t *testing.T) {
	set := settings()
	d := booting(t, set)
	d.pass(34 * time.Second) // 15 s + 4 × 5 s are its deadline
	if d.told("no reply") != 0 {
		t.Error("it was given up before its deadline")
	}
	d.pass(time.Second)
	if d.told("no reply") != 1 {
		t.Error("it was not given up at its deadline")
	}
	d.pass(set.Settle - time.Second)
	d.wants("1 boot 1.0@a")
	d.pass(2 * time.Second)
	d.wants("1 boot 1.0@a, 2 boot 1.0@a")
	if results := d.results(); results[1] != hypervisor.ErrTimeout.Error() {
		t.Errorf("the result of the unanswered call: %q", results[1])
	}
	d.reply(1, nil) // far too late: nothing happens
	d.isIn(gang.Creating)
}

// While the node is silent an unanswered call stays open, however long; the operator's
// word that the node is dead closes it.
func TestALostCallWaitsForItsNode(t *testing.T) {
	d := booting(t, settings())
	d.dead["a"] = true
	d.pass(10 * time.Minute)
	d.wants("1 boot 1.0@a")
	if len(d.results()) != 0 {
		t.Error("the call was closed while its node was silent")
	}
	r, _ := d.exec.Job(1)
	if !r.Blind {
		t.Error("the vjob does not count as blind")
	}
	d.exec.SetNode(d.now, cluster.Node{ID: "a", State: cluster.Down})
	d.settle()
	if len(d.results()) != 1 {
		t.Error("the call is open although its node is dead")
	}
}

// An unanswered call is not made again once its effect is seen.
func TestALostCallThatWasDone(t *testing.T) {
	d := booting(t, settings())
	d.has(1, 0, "a", hypervisor.CopyRunning)
	d.pass(2 * time.Minute)
	d.wants("1 boot 1.0@a")
	d.isIn(gang.Active)
}

// A reply is not the truth: it only makes the executor look.
func TestRepliesAreNotBelieved(t *testing.T) {
	d := booting(t, settings())
	d.reply(1, nil) // "done", and nothing is there
	d.wants("1 boot 1.0@a, 2 boot 1.0@a")
	d.has(1, 0, "a", hypervisor.CopyRunning)
	d.reply(2, errors.New("internal error")) // "failed", and it is there
	d.wants("1 boot 1.0@a, 2 boot 1.0@a")
	d.isIn(gang.Active)
}

// After a few calls that did not do, the next ones come at growing intervals; too
// many turn the gang back.
func TestTriesAreBounded(t *testing.T) {
	d := booting(t, settings())
	for op := range hypervisor.OpID(3) {
		d.reply(op+1, errors.New("internal error"))
	}
	if d.told("does not boot on a: internal error") == 0 {
		t.Errorf("three failures are not enough: %s", d.wanted())
	}
	d.isIn(gang.Absent)
	if r, _ := d.exec.Job(1); r.Failures != 1 || r.Why == "" || !r.Idle {
		t.Errorf("got %+v", r)
	}
	if got := d.progress(1, 1); got != "failed; failed" {
		t.Errorf("the plan: %s", got)
	}
}

// The calls behind a failure of their chain were not made: they do not count.
func TestCallsNotTried(t *testing.T) {
	l := world(job(1, 2, cluster.Running))
	l.Gangs = append(l.Gangs, at(1, gang.Active, "a", "b"))
	d := newHarness(t, settings(), l)
	d.settle()
	d.adopt([]ctxGang{group(cluster.Suspend, 1, 0, 1)}, act(cluster.Suspend, 1, 0, "a", ""), act(cluster.Suspend, 1, 1, "b", ""))
	d.wants("1 pause 1.0@a, 2 pause 1.1@b")
	if len(d.chains) != 1 {
		t.Errorf("%d chains, want one: pauses have an order", len(d.chains))
	}
	d.exec.Replied(d.now, execute.Reply{Op: 1, Err: errors.New("internal error"), Began: d.now, Ended: d.now})
	d.reply(2, execute.ErrNotTried)
	d.wants("1 pause 1.0@a, 2 pause 1.1@b, 3 pause 1.0@a, 4 pause 1.1@b")
	d.has(1, 0, "a", hypervisor.CopyPaused)
	d.exec.Replied(d.now, execute.Reply{Op: 3, Began: d.now, Ended: d.now})
	d.has(1, 1, "b", hypervisor.CopyPaused)
	d.reply(4, nil)
	d.isIn(gang.Saving)
}

// What was paused before a restart stood still in between: that counts for the skew, however
// soon the last pause is made after it.
func TestARestartForgetsNoSkew(t *testing.T) {
	most := settings().Limits.MaxSkew
	for _, c := range []struct {
		name string
		down time.Duration // since the first pause
		want gang.Phase
	}{
		{"a short while", most / 2, gang.Saving},
		{"too long", most + time.Second, gang.Resuming},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := world(job(1, 2, cluster.Suspending))
			rec := at(1, gang.Pausing, "a", "b")
			rec.Then, rec.Since = gang.ThenSave, start.Add(-c.down)
			l.Gangs = append(l.Gangs, rec)
			d := newHarness(t, settings(), l)
			d.has(1, 0, "a", hypervisor.CopyPaused)
			d.has(1, 1, "b", hypervisor.CopyPaused)
			d.settle()
			d.isIn(c.want)
			if r, _ := d.exec.Job(1); c.want == gang.Saving && r.Record.Skew != c.down {
				t.Errorf("the skew is %s, want %s", r.Record.Skew, c.down)
			}
			if got := d.written(); strings.Contains(got, "skew of plan") {
				t.Errorf("a skew is written without a plan: %s", got)
			}
		})
	}
}

// After a restart every open call may still be under way.
func TestOpenCallsAfterARestart(t *testing.T) {
	set := settings()
	l := world(job(1, 1, cluster.Booting))
	rec := at(1, gang.Creating, "")
	rec.Members[0].Next = "a"
	l.Gangs = append(l.Gangs, rec)
	l.NextOp = 8
	l.Plans = []journal.PlanID{3}
	l.Open = []journal.Intent{{Call: hypervisor.Call{Op: 7, Verb: hypervisor.Boot, VM: cluster.VMID{VJob: 1}, Node: "a"}, At: start}}
	d := newHarness(t, set, l)
	d.copies = map[cluster.NodeID][]hypervisor.Copy{}
	d.settle()
	if got := d.progress(3, 0); got != "; dropped" {
		t.Errorf("the plan of the life before: %s", got)
	}
	d.pass(set.Settle - time.Second)
	d.wants("")
	d.pass(2 * time.Second)
	d.wants("8 boot 1.0@a")
}

// results are what the calls came to, by number.
func (d *harness) results() map[hypervisor.OpID]string {
	m := map[hypervisor.OpID]string{}
	for _, s := range d.steps {
		for _, r := range s.Results {
			m[r.Op] = r.Error
		}
	}
	return m
}

// Every call has an intent in a step that is drained before or with it.
func TestIntentsComeFirst(t *testing.T) {
	d := booting(t, settings())
	intents := map[hypervisor.OpID]bool{}
	for _, s := range d.steps {
		for _, i := range s.Intents {
			intents[i.Call.Op] = true
			if i.Call.Machine != nil {
				t.Error("an intent repeats the machine, which is the vjob's")
			}
		}
	}
	for _, c := range d.calls {
		if !intents[c.Op] {
			t.Errorf("call %d has no intent", c.Op)
		}
		if c.Machine == nil || c.Stamp.Incarnation != 1 || c.Stamp.Epoch != 1 {
			t.Errorf("the call lacks its machine or its stamp: %+v", c)
		}
	}
}
