package execute_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/gang"
	"vjob/ctxswitch/journal"
	"vjob/hypervisor"
)

// What a plan wants of a vjob that has ended is dropped, and so is what waits for it.
func TestPlansForEndedVJobs(t *testing.T) {
	d := newHarness(t, settings(), world(job(2, 1, cluster.Waiting), job(3, 1, cluster.Waiting)))
	d.settle()
	d.adopt([]ctxGang{group(cluster.Suspend, 1, 0), group(cluster.Boot, 2, 1), group(cluster.Boot, 3, 2)},
		act(cluster.Suspend, 1, 0, "a", ""), act(cluster.Boot, 2, 0, "", "a", 0), act(cluster.Boot, 3, 0, "", "b"))
	d.wants("1 boot 3.0@b")
	d.obey()
	if got := d.progress(1, 3); got != "dropped dropped done; failed" {
		t.Errorf("the plan is %s", got)
	}
	if r, _ := d.exec.Job(2); !r.Idle || d.told("vjob 1 has ended") != 1 {
		t.Errorf("idle: %t, told %d times", r.Idle, d.told("vjob 1 has ended"))
	}
}

// What waits for several actions begins when the last of them is done, and all that wait for
// one begin with it. A resumption begins with those members that need not wait.
func TestAllThatWaitBegin(t *testing.T) {
	l := world(job(1, 2, cluster.Running), job(2, 1, cluster.Running), job(3, 1, cluster.Waiting),
		job(4, 1, cluster.Waiting), job(5, 2, cluster.Suspended))
	l.Gangs = append(l.Gangs, at(1, gang.Active, "a", "b"), at(2, gang.Active, "c"), savedOn("b", 5, 2))
	d := newHarness(t, settings(), l)
	for _, m := range l.Gangs[2].Members {
		d.store.Images = append(d.store.Images, hypervisor.Image{ID: m.Image.ID, Node: "b", Complete: true})
	}
	d.settle()
	d.adopt([]ctxGang{
		group(cluster.Suspend, 1, 0, 1), group(cluster.Suspend, 2, 2), group(cluster.Boot, 3, 3), group(cluster.Boot, 4, 4), group(cluster.Resume, 5, 5, 6),
	}, act(cluster.Suspend, 1, 0, "a", ""), act(cluster.Suspend, 1, 1, "b", "", 0), act(cluster.Suspend, 2, 0, "c", ""),
		act(cluster.Boot, 3, 0, "", "a", 1, 2), act(cluster.Boot, 4, 0, "", "a", 1),
		act(cluster.Resume, 5, 0, "", "b"), act(cluster.Resume, 5, 1, "", "b", 1))
	begun := func() string {
		var list []string
		for _, c := range d.calls {
			if c.VM.VJob > 2 {
				list = append(list, c.Verb.String()+" "+c.VM.String())
			}
		}
		return strings.Join(list, ", ")
	}
	if got := begun(); got != "restore 5.0" {
		t.Errorf("at first: %s", got)
	}
	d.wait(1) // the second member is saved beside the first, although its action comes later
	if got := begun(); got != "restore 5.0, restore 5.1, boot 4.0" {
		t.Errorf("after the first suspension: %s", got)
	}
	if r, _ := d.exec.Job(3); r.Promised != 1 {
		t.Error("vjob 3 has begun before all is done that it waits for")
	}
	d.wait(2)
	if got := begun(); got != "restore 5.0, restore 5.1, boot 4.0, boot 3.0" {
		t.Errorf("after the second: %s", got)
	}
}

// What is done need not go back when something that it was to wait for is given up.
func TestWhatIsDoneWaitsForNothing(t *testing.T) {
	d := onNodes(t)
	first, second := act(cluster.Migrate, 1, 0, "a", "b"), act(cluster.Migrate, 1, 1, "b", "c", 2)
	first.Live, second.Live = true, true
	d.adopt([]ctxGang{group(cluster.Migrate, 1, 0, 1), group(cluster.Suspend, 2, 2)}, first, second, act(cluster.Suspend, 2, 0, "c", ""))
	d.wants("1 migrate 1.0@a>b, 2 pause 2.0@c")
	d.gone(1, 1, "b")
	d.has(1, 1, "c", hypervisor.CopyRunning) // moved by hand
	d.gone(2, 0, "c")
	d.exec.Hint(d.now, "b")
	d.exec.Hint(d.now, "c")
	d.settle()
	d.reply(2, hypervisor.ErrNoSuchVM)
	d.reply(1, hypervisor.ErrRefused)
	d.wants("1 migrate 1.0@a>b, 2 pause 2.0@c, 3 migrate 1.0@a>b")
	d.carryOut(d.calls[2], 0)
	if got := d.progress(1, 3); got != "done done failed; failed" {
		t.Errorf("the plan is %s", got)
	}
}

// A migration keeps to the rate of its plan, and is given the time that it takes so. Other
// calls have none.
func TestRatesOfPlans(t *testing.T) {
	for _, c := range []struct {
		name       string
		kind       cluster.ActionKind
		rate, want cluster.Rate
		start, end time.Duration
		unanswered time.Duration // after which no reply is expected
	}{
		{"a migration at a rate", cluster.Migrate, 1, 1, 5 * time.Second, 15 * time.Second, 55 * time.Second},
		{"a migration without", cluster.Migrate, 0, 0, 0, 10 * time.Second, 15 * time.Second},
		{"a resumption", cluster.Resume, 7, 0, 0, 10 * time.Second, 15 * time.Second},
	} {
		rec := at(1, gang.Active, "a")
		a := act(c.kind, 1, 0, "a", "b")
		if c.kind == cluster.Resume {
			rec = savedOn("a", 1, 1)
		}
		a.Live, a.Rate, a.Start, a.End = c.kind == cluster.Migrate, c.rate, c.start, c.end
		l := world(job(1, 1, rec.State()))
		l.Gangs = append(l.Gangs, rec)
		d := newHarness(t, settings(), l)
		d.settle()
		d.adopt([]ctxGang{group(c.kind, 1, 0)}, a)
		if len(d.calls) != 1 || d.calls[0].Rate != c.want {
			t.Errorf("%s: calls are %+v, want one at the rate %d", c.name, d.calls, c.want)
		}
		d.pass(c.unanswered - time.Second)
		early := d.told("no reply")
		d.pass(time.Second)
		if late := d.told("no reply"); early != 0 || late != 1 {
			t.Errorf("%s: given up %d times before %s, %d times then", c.name, early, c.unanswered, late)
		}
	}
}

// Of a plan that goes wrong each action is written with the reason. An assignment that has
// begun has failed, those that have not are dropped, and the first reason is that of the plan.
func TestAPlanThatGoesWrongIsWritten(t *testing.T) {
	l := world(job(1, 1, cluster.Running), job(2, 1, cluster.Waiting))
	l.Gangs = append(l.Gangs, at(1, gang.Active, "a"))
	d := newHarness(t, settings(), l)
	d.settle()
	d.adopt([]ctxGang{group(cluster.Suspend, 1, 0), group(cluster.Resume, 1, 1), group(cluster.Boot, 2, 2)},
		act(cluster.Suspend, 1, 0, "a", ""), act(cluster.Resume, 1, 0, "", "b", 0), act(cluster.Boot, 2, 0, "", "a", 0))
	d.now = d.now.Add(time.Second)
	d.gone(1, 0, "a")
	d.reply(1, hypervisor.ErrNoSuchVM)
	r, _ := d.exec.Job(1)
	gone := r.Why
	if r.Failures != 1 || !r.Failed.Equal(d.now) || !strings.HasPrefix(gone, "1.0 is no longer on a") {
		t.Errorf("%d failures, the last at %s: %s", r.Failures, r.Failed, gone)
	}
	const waited = "suspend of VM 1.0, which it waited for, was given up"
	want := []journal.ActionChange{
		{Plan: 1, Action: 0, State: journal.PlanRunning, At: start},
		{Plan: 1, Action: 0, State: journal.PlanFailed, At: d.now, Note: gone},
		{Plan: 1, Action: 1, State: journal.PlanDropped, At: d.now, Note: gone},
		{Plan: 1, Action: 2, State: journal.PlanDropped, At: d.now, Note: waited},
	}
	closed := []journal.PlanChange{{ID: 1, State: journal.PlanFailed, Ended: d.now, Note: gone}}
	var actions []journal.ActionChange
	var plans []journal.PlanChange
	for _, s := range d.steps {
		actions, plans = append(actions, s.Actions...), append(plans, s.Closed...)
	}
	if !reflect.DeepEqual(actions, want) || !reflect.DeepEqual(plans, closed) {
		t.Errorf("written are %+v and %+v, want %+v and %+v", actions, plans, want, closed)
	}
	if d.told("context switch 1 ended early: "+gone) != 1 {
		t.Error("the reason is not told")
	}
}
