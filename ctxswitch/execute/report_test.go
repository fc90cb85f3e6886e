package execute_test

import (
	"reflect"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/gang"
)

// A vjob that was given to the executor, or returned by it, does not change any more.
func TestVJobsStayAsTheyWere(t *testing.T) {
	loaded := job(1, 2, cluster.Running)
	l := world(loaded)
	l.Gangs = append(l.Gangs, at(1, gang.Active, "a", "b"))
	d := newHarness(t, settings(), l)
	d.settle()
	for name, change := range map[string]func() error{
		"held":      func() error { return d.exec.Hold(d.now, 1, true, cluster.Because("held")) },
		"stretched": func() error { return d.exec.Walltimes.Set(d.now, 1, time.Hour, "stretched") },
		"cleared":   func() error { return d.exec.Clear(d.now, 1, gang.ThenWait, cluster.Because("cleared")) },
	} {
		before, _ := d.exec.Job(1)
		was := before.Job.Clone()
		if err := change(); err != nil {
			t.Fatal(err)
		}
		d.exec.Flush()
		after, _ := d.exec.Job(1)
		if !reflect.DeepEqual(before.Job, was) || reflect.DeepEqual(after.Job, was) {
			t.Errorf("%s: was %+v, is shown as %+v, is %+v", name, was, before.Job, after.Job)
		}
	}
	if !reflect.DeepEqual(loaded, job(1, 2, cluster.Running)) {
		t.Errorf("the journal's is %+v", loaded)
	}
}

// Each submission reads the nodes as they were declared: they are one list until a node is declared anew, which changes none
// that is in use.
func TestDeclaredNodesAreShared(t *testing.T) {
	d := newHarness(t, settings(), world())
	before := d.exec.Declared()
	d.flush()
	if again := d.exec.Declared(); len(before) < 2 || &again[0] != &before[0] {
		t.Errorf("%d nodes are listed again though none has changed", len(again))
	}
	changed := before[1]
	changed.State, changed.Capacity.CPU = cluster.Draining, changed.Capacity.CPU+1000
	d.exec.SetNode(d.now, changed)
	after := d.exec.Declared()
	if len(after) != len(before) || after[1].State != cluster.Draining || after[1].Capacity != changed.Capacity || after[0].ID != before[0].ID {
		t.Errorf("declared anew: %+v", after)
	}
	if before[1].State == cluster.Draining {
		t.Error("a list that is in use has changed")
	}
}

// A VM on its way counts where it comes to by what it is seen to need where it is.
func TestReportsOfNodesFollowWhatComes(t *testing.T) {
	l := world(job(1, 1, cluster.Migrating))
	moving := at(1, gang.Shifting, "a")
	moving.Members[0].Next = "b"
	l.Gangs = append(l.Gangs, moving)
	d := newHarness(t, settings(), l)
	d.exec.Needs = observed
	d.settle()
	used := func() cluster.MilliCPU {
		n, _ := d.exec.Node("b")
		return n.Used.CPU
	}
	before := used()
	d.copies["a"][0].CPU = 300
	d.exec.Hint(d.now, "a")
	d.settle() // holds the reports against what is known, flush by flush
	if after := used(); before != 1000 || after != 300 {
		t.Errorf("it counts for %s on its way, then for %s, want 1 CPU and 0.3", before, after)
	}
}

// The list of reports is that of the last call while nothing changes.
func TestReportsOfNodesAreShared(t *testing.T) {
	l := world(job(1, 1, cluster.Running))
	l.Gangs = append(l.Gangs, at(1, gang.Active, "a"))
	d := newHarness(t, settings(), l)
	d.settle()
	before := d.exec.Nodes()
	if again := d.exec.Nodes(); &again[0] != &before[0] {
		t.Error("nothing has changed, and the list is another one")
	}
	d.exec.Hint(d.now, "a")
	d.settle()
	after := d.exec.Nodes()
	if &after[0] == &before[0] || after[0] == before[0] || after[1] != before[1] {
		t.Error("node a was looked at, and the others were not")
	}
}
