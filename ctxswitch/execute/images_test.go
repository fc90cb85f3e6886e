package execute_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/ctxswitch/gang"
	"vjob/ctxswitch/journal"
	"vjob/hypervisor"
)

// An image lies where it was saved; while that node is off or silent it is read through
// another one of the same store that answers, and otherwise it stays where it is.
func TestImagesAreReadThroughOthers(t *testing.T) {
	for _, c := range []struct {
		name string
		dead []cluster.NodeID // that answer no more
		door cluster.NodeID   // through which the store says that the images can be read
		want cluster.NodeID
	}{
		{"its node answers", nil, "b", "a"},
		{"another one of the store", []cluster.NodeID{"a"}, "b", "b"},
		{"a store of its own", []cluster.NodeID{"a"}, "a", "a"},
		{"another one that does not answer", []cluster.NodeID{"a", "b"}, "b", "a"},
		{"another one that is not known", []cluster.NodeID{"a"}, "x", "a"},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := world(job(1, 3, cluster.Suspended))
			l.Gangs = append(l.Gangs, savedOn("a", 1, 3))
			l.Gangs[0].Members[1] = gang.Member{Ended: true}
			d := newHarness(t, settings(), l)
			for _, m := range []int{0, 2} {
				d.store.Images = append(d.store.Images, hypervisor.Image{ID: l.Gangs[0].Members[m].Image.ID, Node: "a", Complete: true})
			}
			d.settle()
			changes := d.exec.Changes()
			for _, n := range c.dead {
				d.dead[n] = true
			}
			for i := range d.store.Images {
				d.store.Images[i].Node = c.door
			}
			d.pass(2 * time.Minute)
			r, _ := d.exec.Job(1)
			for _, m := range []int{0, 2} {
				want := gang.Image{ID: d.store.Images[m/2].ID, Node: c.want, Checksum: "c"}
				if got := *r.Record.Members[m].Image; got != want {
					t.Errorf("member %d is read from %+v, want %+v", m, got, want)
				}
			}
			written := 0
			for _, s := range d.steps {
				written += len(s.Gangs)
			}
			moved := c.want != "a"
			if want := map[bool]int{true: 1}[moved]; written != want {
				t.Errorf("its record is written %d times, want %d", written, want)
			}
			if grown := d.exec.Changes() - changes - uint64(len(c.dead)); moved != (grown == 1) {
				t.Errorf("%d changes beside the silence of %v", grown, c.dead)
			}
		})
	}
}

// savedOn is a suspended gang of n members with its images on one node.
func savedOn(node cluster.NodeID, id cluster.VJobID, n int) gang.Record {
	rec := at(id, gang.Saved, make([]cluster.NodeID, n)...)
	for rank := range rec.Members {
		image := hypervisor.ImageID{VM: cluster.VMID{VJob: id, Rank: rank}, Generation: 1, Attempt: 1}
		rec.Members[rank].Image = &gang.Image{ID: image, Node: node, Checksum: "c"}
	}
	return rec
}

// A gang that is being restored, or about to be, reads its images from where it was to.
func TestImagesAreNotReroutedMeanwhile(t *testing.T) {
	restoring := savedOn("a", 1, 1)
	restoring.Phase, restoring.Members[0].Next = gang.Restoring, "c"
	l := world(job(1, 1, cluster.Resuming), job(2, 1, cluster.Suspended))
	l.Gangs = append(l.Gangs, restoring, savedOn("a", 2, 1))
	d := newHarness(t, settings(), l)
	for _, rec := range l.Gangs {
		d.store.Images = append(d.store.Images, hypervisor.Image{ID: rec.Members[0].Image.ID, Node: "a", Complete: true})
	}
	d.dead["a"], d.dead["c"] = true, true
	d.settle()
	d.exec.Adopt(d.now, 1, "test", ctxswitch.Plan{
		Actions: []ctxswitch.Action{act(cluster.Resume, 2, 0, "", "a")}, Gangs: []ctxGang{group(cluster.Resume, 2, 0)},
	})
	d.store.Images[0].Node, d.store.Images[1].Node = "b", "b"
	d.exec.LookedStore(d.now, d.store, nil)
	for id := range cluster.VJobID(2) {
		if r, _ := d.exec.Job(id + 1); r.Record.Members[0].Image.Node != "a" {
			t.Errorf("the image of vjob %d is read through %s", id+1, r.Record.Members[0].Image.Node)
		}
	}
}

// A report names the image of a suspended vjob that cannot be read. The first one raises an
// alarm, and each change is a reason to decide anew.
func TestMissingImages(t *testing.T) {
	restoring := savedOn("a", 3, 1)
	restoring.Phase, restoring.Members[0].Next = gang.Restoring, "c"
	l := world(job(1, 2, cluster.Suspended), job(2, 2, cluster.Suspended), job(3, 1, cluster.Resuming))
	l.Gangs = append(l.Gangs, savedOn("a", 1, 2), savedOn("a", 2, 2), restoring)
	l.Gangs[1].Members[0] = gang.Member{Ended: true}
	d := newHarness(t, settings(), l)
	d.dead["c"] = true
	d.settle()
	for _, c := range []struct {
		name  string
		shown []int // of 1.0, 1.1, 2.1
		lost  error
		want  string // what is missing of 1, and of 2
		told  string
	}{
		{"all are there", []int{0, 1, 2}, nil, ", ", ""},
		{"one is not", []int{0, 2}, nil, "1.1.g1.a1, ", "vjob 1: the image store does not show 1.1.g1.a1"},
		{"another one", []int{1, 2}, nil, "1.0.g1.a1, ", ""},
		{"the store is lost", nil, hypervisor.ErrNoImage, "1.0.g1.a1, 2.1.g1.a1", "vjob 2: the image store does not show 2.1.g1.a1"},
		{"all are back", []int{0, 1, 2}, nil, ", ", ""},
		{"and stay", []int{0, 1, 2}, nil, ", ", ""},
	} {
		ids := []hypervisor.ImageID{l.Gangs[0].Members[0].Image.ID, l.Gangs[0].Members[1].Image.ID, l.Gangs[1].Members[1].Image.ID}
		d.store.Images, d.storeErr, d.steps = nil, c.lost, nil
		for _, i := range c.shown {
			d.store.Images = append(d.store.Images, hypervisor.Image{ID: ids[i], Node: "a", Complete: true})
		}
		before, changes := d.missing(), d.exec.Changes()
		d.pass(time.Minute)
		if got := d.missing(); got != c.want {
			t.Errorf("%s: missing are %q, want %q", c.name, got, c.want)
		}
		if changed := d.exec.Changes() != changes; changed != (before != c.want) {
			t.Errorf("%s: a decision is wanted: %t", c.name, changed)
		}
		var told []string
		for _, s := range d.steps {
			for _, e := range s.Events {
				if e.VJob != 0 {
					told = append(told, fmt.Sprintf("%s: %s", e.Kind, e.TextFor("")))
				}
				if e.VJob != 0 && !strings.HasPrefix(e.Text, fmt.Sprintf("vjob %s", e.VJob)) {
					t.Errorf("%s: the event of vjob %s is %q", c.name, e.VJob, e.Text)
				}
			}
		}
		if c.told != "" {
			c.told = "alarm: " + c.told
		}
		if got := strings.Join(told, "; "); got != c.told {
			t.Errorf("%s: told is %q, want %q", c.name, got, c.told)
		}
	}
}

// missing is which images of vjobs 1 and 2 cannot be read; of vjob 3 none may be named.
func (d *harness) missing() string {
	d.t.Helper()
	if r, _ := d.exec.Job(3); r.Missing != "" {
		d.t.Errorf("of a vjob that is not suspended is said: %s", r.Missing)
	}
	one, _ := d.exec.Job(1)
	two, _ := d.exec.Job(2)
	return strings.ReplaceAll(one.Missing+", "+two.Missing, "the image store does not show ", "")
}

// An unreadable store raises one alarm, and one more event when it can be read again; each
// triggers a decision.
func TestTheStoreIsLostAndFound(t *testing.T) {
	d := newHarness(t, settings(), world())
	d.settle()
	var told []journal.EventKind
	look := func(lost error) {
		d.storeErr = lost
		before := d.exec.Changes()
		d.steps = nil
		d.pass(2 * time.Minute)
		for _, s := range d.steps {
			for _, e := range s.Events {
				told = append(told, e.Kind)
			}
		}
		if told := len(told) > 0 && len(d.steps) > 0; told != (d.exec.Changes() != before) {
			t.Errorf("with %v: event %v, decision wanted %v", lost, told, !told)
		}
		if got := d.exec.StoreProblem(); (got == "") != (lost == nil) {
			t.Errorf("with %v the problem is %q", lost, got)
		}
	}
	for _, lost := range []error{nil, errors.New("stale file handle"), errors.New("no such directory"), nil, nil} {
		look(lost)
	}
	if want := []journal.EventKind{journal.EventAlarm, journal.EventNode}; !slices.Equal(told, want) {
		t.Errorf("alarms: %v, want %v", told, want)
	}
	d.steps = nil
	look(errors.New("stale file handle"))
	if d.told("the image store cannot be read: stale file handle; until it can, ") != 1 {
		t.Errorf("told is %+v", d.steps)
	}
}
