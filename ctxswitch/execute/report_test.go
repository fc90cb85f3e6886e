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
