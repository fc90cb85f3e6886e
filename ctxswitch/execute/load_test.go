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
	"vjob/energy"
	"vjob/hypervisor"
)

// What the VMs of a node may use is the sum of the caps of its copies, and what those
// without a cap have reserved. Copies of which nothing is known count for nothing.
func TestLoadIsTheSumOfCaps(t *testing.T) {
	l := world(job(1, 1, cluster.Running), job(2, 1, cluster.Running), job(3, 1, cluster.Paused))
	l.Gangs = append(l.Gangs, at(1, gang.Active, "a"), at(2, gang.Active, "a"), at(3, gang.Paused, "b"))
	d := sit(t, settings(), l)
	lit(d)
	d.copies["a"][0].Cap = 400
	d.has(3, 0, "b", hypervisor.CopyPaused)
	d.has(1, 5, "c", hypervisor.CopyRunning)
	d.has(77, 0, "c", hypervisor.CopyRunning)
	d.settle()
	for id, want := range map[cluster.NodeID]cluster.MilliCPU{"a": 1400, "b": 0, "c": 0, "nowhere": 0} {
		if got := d.exec.Load(id); got != want {
			t.Errorf("the VMs on %s may use %s, want %s", id, got, want)
		}
	}
	for vm, want := range map[cluster.VMID]cluster.MilliCPU{
		{VJob: 1}: 400, {VJob: 2}: 1000, {VJob: 1, Rank: 5}: 0, {VJob: 77}: 0, {VJob: 3}: 1000,
	} {
		if got := d.exec.Most(vm); got != want {
			t.Errorf("%s may use %s, want %s", vm, got, want)
		}
	}
	for id, want := range map[cluster.NodeID]energy.Watts{"a": 135, "b": 100, "c": 0, "nowhere": 0} {
		if got := d.exec.Ceiling(id, 0); got != want {
			t.Errorf("%s may draw %s, want %s", id, got, want)
		}
	}
	d.has(3, 0, "b", hypervisor.CopyRunning)
	d.exec.Hint(d.now, "b")
	d.settle()
	if got := d.exec.Load("b"); got != 1000 {
		t.Errorf("a copy that runs although its gang stands may use %s, want 1 CPU", got)
	}
}

// A VM that is on its way counts on the node that it comes to, once.
func TestLoadOfWhatIsOnItsWay(t *testing.T) {
	l := world(job(1, 1, cluster.Migrating), job(2, 1, cluster.Resuming))
	moving := at(1, gang.Shifting, "a")
	moving.Members[0].Next = "b"
	restoring := at(2, gang.Restoring, "")
	restoring.Members[0].Next = "c"
	id := hypervisor.ImageID{VM: cluster.VMID{VJob: 2}, Generation: 1, Attempt: 1}
	restoring.Members[0].Image = &gang.Image{ID: id, Node: "a", Checksum: "c"}
	l.Gangs = append(l.Gangs, moving, restoring)
	d := sit(t, settings(), l)
	d.copies["a"][0].Cap = 300
	d.store.Images = []hypervisor.Image{{ID: id, Node: "a", Complete: true}}
	d.settle()
	if got := d.wanted(); !strings.Contains(got, "migrate 1.0@a>b") || !strings.Contains(got, "restore 2.0@c") {
		t.Fatalf("calls: %s", got)
	}
	for node, want := range map[cluster.NodeID]cluster.MilliCPU{"a": 300, "b": 1000, "c": 1000} {
		if got := d.exec.Load(node); got != want {
			t.Errorf("the VMs on %s may use %s, want %s", node, got, want)
		}
	}
	d.exec.SetCaps(d.now, 1, []cluster.MilliCPU{300})
	d.exec.SetCaps(d.now, 2, []cluster.MilliCPU{200})
	for node, want := range map[cluster.NodeID]cluster.MilliCPU{"a": 300, "b": 300, "c": 200} {
		if got := d.exec.Load(node); got != want {
			t.Errorf("under caps the VMs on %s may use %s, want %s", node, got, want)
		}
	}
}

// asking lets the power of each node admit so much load, and notes what is asked.
func (d *desk) asking(limit cluster.MilliCPU) (asked *[]string) {
	asked = new([]string)
	d.exec.Admits = func(more map[cluster.NodeID]cluster.MilliCPU) bool {
		var list []string
		fits := true
		for id, load := range more {
			list = append(list, fmt.Sprintf("%s%+d", id, load))
			fits = fits && d.exec.Load(id)+load <= limit
		}
		slices.Sort(list)
		*asked = append(*asked, strings.Join(list, " "))
		return fits
	}
	return asked
}

// The members of a gang are admitted beside each other, and none goes on without.
func TestLoadIsAdmittedBesideOthers(t *testing.T) {
	d := sit(t, settings(), world(job(1, 3, cluster.Waiting)))
	d.settle()
	asked := d.asking(2000)
	d.adopt([]ctxGang{group(cluster.Boot, 1, 0, 1, 2)},
		act(cluster.Boot, 1, 0, "", "a"), act(cluster.Boot, 1, 1, "", "a"), act(cluster.Boot, 1, 2, "", "a"))
	d.wants("1 boot 1.0@a, 2 boot 1.1@a")
	if got := strings.Join((*asked)[:3], ", "); got != "a+1000, a+2000, a+3000" {
		t.Errorf("asked for %s", got)
	}
}

// A migration takes its load along; one that is to use no more is not asked for.
func TestLoadMovesAlong(t *testing.T) {
	l := world(job(1, 1, cluster.Running), job(2, 1, cluster.Running))
	l.Gangs = append(l.Gangs, at(1, gang.Active, "a"), at(2, gang.Active, "b"))
	d := sit(t, settings(), l)
	d.settle()
	asked := d.asking(1500)
	plan := act(cluster.Migrate, 1, 0, "a", "b")
	plan.Live = true
	d.adopt([]ctxGang{group(cluster.Migrate, 1, 0)}, plan)
	d.wants("")
	if got := (*asked)[0]; got != "a-1000 b+1000" {
		t.Errorf("asked for %s", got)
	}
}

// Transfers count on both ends of a migration.
func TestTransfersOfBothEnds(t *testing.T) {
	set := settings()
	set.Transfers = 1
	l := world(job(1, 1, cluster.Migrating), job(2, 1, cluster.Migrating), job(3, 1, cluster.Migrating))
	for id, node := range map[cluster.VJobID][2]cluster.NodeID{1: {"a", "b"}, 2: {"b", "c"}, 3: {"c", "a"}} {
		rec := at(id, gang.Shifting, node[0])
		rec.Members[0].Next = node[1]
		l.Gangs = append(l.Gangs, rec)
	}
	slices.SortFunc(l.Gangs, func(a, b gang.Record) int { return int(a.VJob) - int(b.VJob) })
	d := sit(t, set, l)
	d.settle()
	d.wants("1 migrate 1.0@a>b")
}

// Caps are set on each member of a vjob that is known, and on copies that can take them.
func TestCapsOfMembers(t *testing.T) {
	l := world(job(1, 2, cluster.Running))
	l.Gangs = append(l.Gangs, at(1, gang.Active, "a", "b"))
	d := sit(t, settings(), l)
	d.copies["a"][0].Cap = 300
	d.settle()
	d.hasAsked(0, 0) // after a start caps are left as they are
	d.caps(7, 500)
	d.caps(1, 500)
	d.hasAsked(0, 0) // one cap does not do for two members
	d.caps(1, 300, 600)
	d.wants("1 cap 1.1@b")
	d.copies["b"][0].Cap = 600
	d.reply(1, nil)
	d.caps(1, 300, 600)
	d.pass(time.Minute)
	d.wants("1 cap 1.1@b")
}

// A copy that is saved or that is dead is not asked for its cap.
func TestCapsWaitForJobs(t *testing.T) {
	l := world(job(1, 1, cluster.Running))
	l.Gangs = append(l.Gangs, at(1, gang.Active, "a"))
	d := sit(t, settings(), l)
	d.copies["a"][0].Job = hypervisor.JobSaving
	d.settle()
	d.caps(1, 500)
	d.hasAsked(0, 0)
	d.copies["a"][0].Job = hypervisor.JobNone
	d.pass(30 * time.Second)
	d.hasAsked(1, 500)
}

// A cap that does not come about is tried again later and later.
func TestCapsAreTriedLaterAndLater(t *testing.T) {
	l := world(job(1, 1, cluster.Running))
	l.Gangs = append(l.Gangs, at(1, gang.Active, "a"))
	d := sit(t, settings(), l)
	d.settle()
	d.caps(1, 500)
	want := "0s 5s 15s 35s 1m15s 2m35s 5m15s 10m35s 15m55s 21m15s 26m35s"
	if got := d.repliesFor(30*time.Minute, errors.New("no such controller")); got != want {
		t.Errorf("asked at %s, want %s", got, want)
	}
}
