package execute_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/gang"
	"vjob/hypervisor"
)

// plays gives calls their effects for a while, but for those that fail.
func (d *harness) plays(long time.Duration, fails func(hypervisor.Call) error) {
	done := 0
	for end := d.now.Add(long); d.now.Before(end); d.pass(time.Second) {
		for ; done < len(d.calls); done++ {
			c := d.calls[done]
			err := fails(c)
			if err == nil || errors.Is(err, errLate) {
				d.does(c)
			}
			d.reply(c.Op, err)
		}
	}
}

// errLate is the reply to a call that has its effect all the same.
var errLate = errors.New("connection closed")

// bring reports whether a call is to create a copy on a node.
func bring(c hypervisor.Call, node cluster.NodeID) bool {
	return c.To == node || c.To == "" && c.Node == node && (c.Verb == hypervisor.Boot || c.Verb == hypervisor.Restore)
}

// refusals is where members of vjob 1 were refused: "1.0 on c after 2s: why".
func (d *harness) refusals() string {
	var list []string
	r, _ := d.exec.Job(1)
	for _, one := range r.Refusals {
		list = append(list, fmt.Sprintf("%s on %s after %s: %s", one.VM, one.Node, one.At.Sub(start), one.Why))
	}
	return strings.Join(list, ", ")
}

// A node refuses a member when the gang gives up what it has tried there: not for an error
// after which a member is there all the same, and not for the errors of other calls.
func TestRefusals(t *testing.T) {
	on := func(phase gang.Phase, then gang.Then, next ...cluster.NodeID) gang.Record {
		rec := at(1, phase, "a", "a")
		rec.Then = then
		for rank, n := range next {
			rec.Members[rank].Next = n
			if phase == gang.Creating || phase == gang.Restoring {
				rec.Members[rank].Node = ""
			}
		}
		return rec
	}
	restoring := on(gang.Restoring, gang.ThenNothing, "b", "c")
	for rank, m := range savedOn("a", 1, 2).Members {
		restoring.Members[rank].Image = m.Image
	}
	half := *restoring.Clone()
	half.Members[0] = gang.Member{Node: "a", Next: "a"}
	always := func(c hypervisor.Call) error {
		switch {
		case bring(c, "c"):
			return errors.New("no such machine")
		case c.Verb == hypervisor.Save:
			return hypervisor.ErrTimeout // and nothing more happens
		}
		return nil
	}
	once := func() func(hypervisor.Call) error {
		n := 0
		return func(c hypervisor.Call) error {
			if bring(c, "c") && n == 0 {
				n++
				return errors.New("no such machine")
			}
			return nil
		}
	}
	late := func(c hypervisor.Call) error {
		if bring(c, "c") {
			return errLate
		}
		return nil
	}
	pauses := func(c hypervisor.Call) error {
		if c.Verb == hypervisor.Pause {
			return errors.New("no monitor")
		}
		return nil
	}
	for _, c := range []struct {
		name  string
		rec   gang.Record
		fails func(hypervisor.Call) error
		then  gang.Phase
		want  string
	}{
		{"a boot", on(gang.Creating, 0, "b", "c"), always, gang.Absent, "1.1 on c after 0s: no such machine"},
		{"a boot that was tried again", on(gang.Creating, 0, "b", "c"), once(), gang.Active, ""},
		{"a boot that came late", on(gang.Creating, 0, "b", "c"), late, gang.Active, ""},
		{"a restore", restoring, always, gang.Saved, "1.1 on c after 0s: no such machine"},
		{"a restore that was tried again", restoring, once(), gang.Active, ""},
		{"a restore beside members that are not saved", half, always, gang.Saving, "1.1 on c after 1m14s: no such machine"},
		{"a live migration", on(gang.Shifting, 0, "c", "b"), always, gang.Active, "1.0 on c after 0s: no such machine"},
		{"a live migration that was tried again", on(gang.Shifting, 0, "c", "b"), once(), gang.Active, ""},
		{"a live migration that came late", on(gang.Shifting, 0, "b", "c"), late, gang.Active, ""},
		{"a migration", on(gang.Moving, 0, "c", "b"), always, gang.Active, "1.0 on c after 0s: no such machine"},
		{"no migration, for want of pauses", on(gang.Pausing, gang.ThenMove, "b", "c"), pauses, gang.Active, ""},
	} {
		l := world(job(1, 2, c.rec.State()))
		l.Gangs = append(l.Gangs, *c.rec.Clone())
		d := newHarness(t, settings(), l)
		for rank, m := range c.rec.Members {
			if m.Image != nil {
				d.store.Images = append(d.store.Images, hypervisor.Image{ID: m.Image.ID, Node: "a", Complete: true})
			}
			if m.Node != "" && (c.rec.Phase == gang.Restoring || c.rec.Phase == gang.Moving) {
				d.has(1, rank, m.Node, hypervisor.CopyPaused)
			}
		}
		d.settle()
		d.plays(80*time.Second, c.fails)
		if got := d.refusals(); got != c.want {
			t.Errorf("%s: refused are %q, want %q", c.name, got, c.want)
		}
		if r, _ := d.exec.Job(1); r.Record.Phase != c.then {
			t.Errorf("%s: its gang is %s, want %s", c.name, r.Record.Phase, c.then)
		}
	}
}

// A node refuses no member of a gang that is stopped while it is tried.
func TestStoppedGangsAreNotRefused(t *testing.T) {
	rec := savedOn("a", 1, 1)
	rec.Phase, rec.Members[0].Next = gang.Restoring, "c"
	l := world(job(1, 1, rec.State()))
	l.Gangs = append(l.Gangs, rec)
	d := newHarness(t, settings(), l)
	d.settle()
	d.reply(1, errors.New("no such machine"))
	if err := d.exec.Clear(d.now, 1, gang.ThenWait, cluster.Because("to make room")); err != nil {
		t.Fatal(err)
	}
	if got := d.refusals(); got != "" {
		t.Errorf("refused are %s", got)
	}
}

// Each member has the last refusal of each node, in order of time.
func TestRefusalsOfOneGang(t *testing.T) {
	l := world(job(1, 2, cluster.Migrating))
	shifting := at(1, gang.Shifting, "a", "a")
	shifting.Members[0].Next, shifting.Members[1].Next = "c", "c"
	l.Gangs = append(l.Gangs, shifting)
	d := newHarness(t, settings(), l)
	d.settle()
	refuses := func(c hypervisor.Call) error {
		if c.Verb == hypervisor.Migrate {
			return fmt.Errorf("%s is full", c.To)
		}
		return nil
	}
	d.plays(10*time.Second, refuses)
	for _, to := range []cluster.NodeID{"b", "c"} {
		migrate := act(cluster.Migrate, 1, 0, "a", to)
		migrate.Live = true
		d.adopt([]ctxGang{group(cluster.Migrate, 1, 0)}, migrate)
		d.plays(10*time.Second, refuses)
	}
	if got, want := d.refusals(), "1.1 on c after 0s: c is full, 1.0 on b after 10s: b is full, 1.0 on c after 20s: c is full"; got != want {
		t.Errorf("refused are %q, want %q", got, want)
	}
}
