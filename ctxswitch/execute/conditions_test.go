package execute_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/gang"
	"vjob/ctxswitch/journal"
	"vjob/hypervisor"
)

// conditions are the kinds and objects of what needs an administrator.
func (d *harness) conditions() string {
	var list []string
	for _, c := range d.exec.Conditions() {
		list = append(list, string(c.Kind)+" "+c.Object())
	}
	return strings.Join(list, ", ")
}

func (d *harness) hasConditions(when, want string) {
	d.t.Helper()
	if got := d.conditions(); got != want {
		d.t.Errorf("%s: %q, want %q", when, got, want)
	}
}

// A node in service that does not answer for a minute raises one alarm, which lasts until it answers or is taken out
// of service. A shorter silence is none.
func TestSilentNodes(t *testing.T) {
	l := world(job(1, 1, cluster.Running))
	l.Gangs = append(l.Gangs, at(1, gang.Active, "a"))
	d := newHarness(t, settings(), l)
	d.settle()
	d.dead["a"] = true
	d.exec.Hint(d.now, "a")
	d.settle()
	d.pass(50 * time.Second)
	d.hasConditions("after less than a minute", "")
	d.pass(15 * time.Second)
	d.hasConditions("after more than a minute", "node-silent node a")
	d.pass(10 * time.Minute)
	if n := d.told("does not answer since"); n != 1 {
		t.Errorf("%d alarms", n)
	}
	d.dead["a"] = false
	d.pass(time.Minute)
	d.hasConditions("when it answers", "")
	d.dead["a"] = true
	d.pass(2 * time.Minute)
	if n := d.told("does not answer since"); n != 2 {
		t.Errorf("%d alarms after the second time", n)
	}
	n, _ := d.exec.Node("a")
	n.State = cluster.Down
	d.exec.SetNode(d.now, n.Node)
	d.settle()
	if got := d.conditions(); strings.Contains(got, "node-silent") {
		t.Errorf("a fenced node: %s", got)
	}
}

// A vjob that lost its memory has an alarm until it starts again.
func TestLostVJobs(t *testing.T) {
	l := world(job(1, 1, cluster.Waiting))
	rec := at(1, gang.Absent)
	rec.Losses, rec.Cause = 1, &cluster.Cause{Kind: cluster.CauseLost, Text: "1.0 was on a, which is down"}
	l.Gangs = append(l.Gangs, rec)
	d := newHarness(t, settings(), l)
	d.settle()
	d.hasConditions("after a restart", "lost vjob 1")
	d.adopt([]ctxGang{group(cluster.Boot, 1, 0)}, act(cluster.Boot, 1, 0, "", "a"))
	d.settle()
	d.hasConditions("when it starts", "")
}

// An image store that cannot be read is an alarm until it can be.
func TestUnreadableStore(t *testing.T) {
	d := newHarness(t, settings(), world())
	d.settle()
	d.exec.LookedStore(d.now, hypervisor.Store{}, errors.New("stale file handle"))
	d.hasConditions("without the store", "image-store cluster")
	d.exec.LookedStore(d.now, hypervisor.Store{}, nil)
	d.hasConditions("with it", "")
}

// A copy of no live vjob is an alarm until it has gone.
func TestConditionsOfUnknownCopies(t *testing.T) {
	d := newHarness(t, settings(), world())
	d.has(8, 0, "a", hypervisor.CopyPaused)
	d.settle()
	d.hasConditions("while it is there", "unknown-copy VM 8.0 on a")
	d.gone(8, 0, "a")
	d.pass(time.Minute)
	d.hasConditions("when it has gone", "")
}

// A limit that a node refuses is an alarm until it is set.
func TestConditionsOfLimits(t *testing.T) {
	l := world(job(1, 1, cluster.Running))
	l.Gangs = append(l.Gangs, at(1, gang.Active, "a"))
	d := newHarness(t, settings(), l)
	d.settle()
	d.weights(1, 300)
	d.settle()
	d.reply(d.calls[len(d.calls)-1].Op, errors.New("no such controller"))
	d.settle()
	d.hasConditions("refused", "cpu-limit vjob 1")
	d.copies["a"][0].Weight = 300
	d.pass(time.Minute)
	d.hasConditions("set", "")
}

// Many texts about one vjob are one alarm.
func TestConditionsOfOneVJobAreOne(t *testing.T) {
	l := world(job(1, 2, cluster.Running))
	l.Gangs = append(l.Gangs, at(1, gang.Active, "a", "b"))
	l.VJobs[0].Held, l.VJobs[0].Hold = true, cluster.Because("an image cannot be used")
	d := newHarness(t, settings(), l)
	d.settle()
	if list := d.exec.Conditions(); len(list) != 1 || list[0].Kind != journal.AlarmGang || list[0].Text != "vjob 1: an image cannot be used" {
		t.Errorf("held by the protocol: %+v", list)
	}
}
