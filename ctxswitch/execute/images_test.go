package execute_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/gang"
	"vjob/hypervisor"
	"vjob/journal"
)

// An image lies where it was saved; while that node is off or silent it is read through
// another one of the same store, and if there is none it stays where it is.
func TestImagesAreReadThroughOthers(t *testing.T) {
	for _, c := range []struct {
		name string
		dead cluster.NodeID // that answers no more
		door cluster.NodeID // through which the store says that the image can be read
		want cluster.NodeID
	}{
		{"its node answers", "", "b", "a"},
		{"another one of the store", "a", "b", "b"},
		{"a store of its own", "a", "a", "a"},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := world(job(1, 1, cluster.Suspended))
			rec := at(1, gang.Saved, "")
			image := hypervisor.ImageID{VM: cluster.VMID{VJob: 1}, Generation: 1}
			rec.Members[0].Image = &gang.Image{ID: image, Node: "a"}
			l.Gangs = append(l.Gangs, rec)
			d := sit(t, settings(), l)
			d.store.Images = []hypervisor.Image{{ID: image, Node: "a", Complete: true}}
			d.settle()
			d.dead[c.dead] = true
			d.store.Images[0].Node = c.door
			d.pass(2 * time.Minute)
			if r, _ := d.exec.Job(1); r.Record.Members[0].Image.Node != c.want {
				t.Errorf("the image is read through %s, want %s", r.Record.Members[0].Image.Node, c.want)
			}
		})
	}
}

// When the store cannot be read people are told once, and once more when it can again; each
// is a reason to decide anew.
func TestTheStoreIsLostAndFound(t *testing.T) {
	d := sit(t, settings(), world())
	d.settle()
	var told []journal.EventKind
	look := func(lost error) {
		d.lost = lost
		before := d.exec.Changes()
		d.steps = nil
		d.pass(2 * time.Minute)
		for _, s := range d.steps {
			for _, e := range s.Events {
				told = append(told, e.Kind)
			}
		}
		if told := len(told) > 0 && len(d.steps) > 0; told != (d.exec.Changes() != before) {
			t.Errorf("with %v people are told: %v, and a decision is wanted: %v", lost, told, !told)
		}
		if got := d.exec.StoreProblem(); (got == "") != (lost == nil) {
			t.Errorf("with %v the problem is %q", lost, got)
		}
	}
	for _, lost := range []error{nil, errors.New("stale file handle"), errors.New("no such directory"), nil, nil} {
		look(lost)
	}
	if want := []journal.EventKind{journal.EventAlarm, journal.EventNode}; !slices.Equal(told, want) {
		t.Errorf("people are told %v, want %v", told, want)
	}
}
