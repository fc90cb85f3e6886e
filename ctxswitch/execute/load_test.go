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
	"vjob/ctxswitch/journal"
	"vjob/energy"
	"vjob/hypervisor"
)

// What the VMs of a node may use is the sum of the caps of its copies, and what those
// without a cap have reserved. Copies of which nothing is known count for nothing.
func TestLoadIsTheSumOfCaps(t *testing.T) {
	l := world(job(1, 1, cluster.Running), job(2, 1, cluster.Running), job(3, 1, cluster.Paused))
	l.Gangs = append(l.Gangs, at(1, gang.Active, "a"), at(2, gang.Active, "a"), at(3, gang.Paused, "b"))
	d := newHarness(t, settings(), l)
	lit(d)
	d.copies["a"][0].Cap = 400
	d.has(3, 0, "b", hypervisor.CopyPaused)
	d.has(1, 1, "c", hypervisor.CopyRunning)
	d.has(77, 0, "c", hypervisor.CopyRunning)
	d.settle()
	for id, want := range map[cluster.NodeID]cluster.MilliCPU{"a": 1400, "b": 0, "c": 0, "nowhere": 0} {
		if got := d.exec.VMs.Load(id); got != want {
			t.Errorf("the VMs on %s may use %s, want %s", id, got, want)
		}
	}
	for vm, want := range map[cluster.VMID]cluster.MilliCPU{
		{VJob: 1}: 400, {VJob: 2}: 1000, {VJob: 1, Rank: 1}: 0, {VJob: 77}: 0, {VJob: 3}: 1000,
	} {
		if got := d.exec.VMs.Cap(vm); got != want {
			t.Errorf("%s may use %s, want %s", vm, got, want)
		}
	}
	for id, want := range map[cluster.NodeID]energy.Watts{"a": 135, "b": 100, "c": 0, "nowhere": 0} {
		if got := d.exec.MaxPower(id, 0); got != want {
			t.Errorf("%s may draw %s, want %s", id, got, want)
		}
	}
	d.has(3, 0, "b", hypervisor.CopyRunning)
	d.exec.Hint(d.now, "b")
	d.settle()
	if got := d.exec.VMs.Load("b"); got != 1000 {
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
	d := newHarness(t, settings(), l)
	d.copies["a"][0].Cap = 300
	d.store.Images = []hypervisor.Image{{ID: id, Node: "a", Complete: true}}
	d.settle()
	if got := d.wanted(); !strings.Contains(got, "migrate 1.0@a>b") || !strings.Contains(got, "restore 2.0@c") {
		t.Fatalf("calls: %s", got)
	}
	for node, want := range map[cluster.NodeID]cluster.MilliCPU{"a": 300, "b": 1000, "c": 1000} {
		if got := d.exec.VMs.Load(node); got != want {
			t.Errorf("the VMs on %s may use %s, want %s", node, got, want)
		}
	}
	d.exec.SetCaps(d.now, 1, []cluster.MilliCPU{300})
	d.exec.SetCaps(d.now, 2, []cluster.MilliCPU{200})
	for node, want := range map[cluster.NodeID]cluster.MilliCPU{"a": 300, "b": 300, "c": 1000} {
		if got := d.exec.VMs.Load(node); got != want {
			t.Errorf("under caps the VMs on %s may use %s, want %s", node, got, want)
		}
	}
}

// hasLoad checks what the VMs on nodes may use.
func (d *harness) hasLoad(when string, want map[cluster.NodeID]cluster.MilliCPU) {
	d.t.Helper()
	for node, most := range want {
		if got := d.exec.VMs.Load(node); got != most {
			d.t.Errorf("%s: the VMs on %s may use %s, want %s", when, node, got, most)
		}
	}
}

// What a call has brought counts until a look shows it that began after its end, and from then
// on as it is seen. What comes is under the cap that its call was begun with.
func TestLoadOfWhatHasCome(t *testing.T) {
	d := newHarness(t, settings(), world(job(1, 2, cluster.Waiting)))
	d.dead["c"] = true
	d.settle()
	d.caps(1, 0, 250)
	d.adopt([]ctxGang{group(cluster.Boot, 1, 0, 1)}, act(cluster.Boot, 1, 0, "", "a"), act(cluster.Boot, 1, 1, "", "b"))
	d.hasLoad("booting", map[cluster.NodeID]cluster.MilliCPU{"a": 1000, "b": 250, "c": 0})
	d.caps(1, 400, 800)
	d.hasLoad("under other caps", map[cluster.NodeID]cluster.MilliCPU{"a": 1000, "b": 250, "c": 0})
	d.exec.Hint(d.now, "a")
	d.flush()
	d.exec.Replied(d.now, d.replyTo(1, nil))
	d.exec.Replied(d.now, d.replyTo(2, nil))
	d.hasLoad("replied", map[cluster.NodeID]cluster.MilliCPU{"a": 400, "b": 800, "c": 0})
	d.lookedAt("a") // this look began before the reply
	d.hasLoad("seen too early", map[cluster.NodeID]cluster.MilliCPU{"a": 400, "b": 800})
	d.exec.Looked(d.now, "a", hypervisor.View{Node: "a"}, nil)
	d.hasLoad("not there", map[cluster.NodeID]cluster.MilliCPU{"a": 0, "b": 800})
	d.has(1, 1, "b", hypervisor.CopyRunning)
	d.copies["b"][0].Cap = 250
	d.lookedAt("b", d.copies["b"]...)
	d.hasLoad("seen", map[cluster.NodeID]cluster.MilliCPU{"b": 800}) // its cap is being changed
	if err := d.exec.Clear(d.now, 1, gang.ThenTerminate, cluster.Because("deleted")); err != nil {
		t.Fatal(err)
	}
	d.copies = map[cluster.NodeID][]hypervisor.Copy{}
	d.settle()
	for _, c := range d.calls {
		d.reply(c.Op, nil)
	}
	if _, live := d.exec.Job(1); live {
		t.Error("it has not ended")
	}
	d.hasLoad("ended", map[cluster.NodeID]cluster.MilliCPU{"a": 0, "b": 0, "c": 0})
}

// A VM counts once on a node, whatever is done with it there, and for nothing where it only was,
// or where a call brings nothing.
func TestLoadCountsOnce(t *testing.T) {
	boot := func(op hypervisor.OpID, vm cluster.VMID) journal.Intent {
		return journal.Intent{At: start, Call: hypervisor.Call{Op: op, Verb: hypervisor.Boot, VM: vm, Node: "a"}}
	}
	t.Run("two boots of a VM, and others of VMs that there are not", func(t *testing.T) {
		l := world(job(1, 1, cluster.Booting))
		l.Gangs = append(l.Gangs, at(1, gang.Creating, ""))
		l.Gangs[0].Members[0].Next = "a"
		l.Open = []journal.Intent{
			boot(1, cluster.VMID{VJob: 1}), boot(2, cluster.VMID{VJob: 1}), boot(3, cluster.VMID{VJob: 1, Rank: 1}), boot(4, cluster.VMID{VJob: 7}),
		}
		l.NextOp = 5
		d := newHarness(t, settings(), l)
		d.settle()
		d.hasLoad("under way", map[cluster.NodeID]cluster.MilliCPU{"a": 1000})
		d.exec.Replied(d.now, d.replyTo(1, nil))
		d.hasLoad("one has ended", map[cluster.NodeID]cluster.MilliCPU{"a": 1000})
		d.has(1, 0, "a", hypervisor.CopyRunning)
		d.settle()
		d.hasLoad("it is seen", map[cluster.NodeID]cluster.MilliCPU{"a": 1000})
		d.exec.Replied(d.now, d.replyTo(2, nil))
		d.hasLoad("both have ended", map[cluster.NodeID]cluster.MilliCPU{"a": 1000})
	})
	t.Run("a node that never answered", func(t *testing.T) {
		l := world(job(1, 1, cluster.Running))
		l.Gangs = append(l.Gangs, at(1, gang.Active, "c"))
		d := newHarness(t, settings(), l)
		d.dead["c"] = true
		d.settle()
		d.caps(1, 500)
		d.hasLoad("silent", map[cluster.NodeID]cluster.MilliCPU{"c": 0})
	})
	t.Run("what brings nothing", func(t *testing.T) {
		l := world(job(1, 1, cluster.Suspended))
		l.Gangs = append(l.Gangs, savedOn("a", 1, 1))
		d := newHarness(t, settings(), l)
		d.store.Images = []hypervisor.Image{{ID: l.Gangs[0].Members[0].Image.ID, Node: "a", Complete: true}}
		d.settle()
		if err := d.exec.Clear(d.now, 1, gang.ThenTerminate, cluster.Because("deleted")); err != nil {
			t.Fatal(err)
		}
		d.settle()
		d.wants("1 discard 1.0@a")
		d.hasLoad("while its image is deleted", map[cluster.NodeID]cluster.MilliCPU{"a": 0})
	})
}

// A VM that needs no CPU is not refused for want of power.
func TestLoadOfNothingIsAdmitted(t *testing.T) {
	for cpu, want := range map[cluster.MilliCPU]string{0: "1 boot 1.0@a", 1: ""} {
		d := newHarness(t, settings(), world(large(1, cpu, cluster.Waiting)))
		d.exec.Admits = func(map[cluster.NodeID]cluster.MilliCPU) bool { return false }
		d.settle()
		d.adopt([]ctxGang{group(cluster.Boot, 1, 0)}, act(cluster.Boot, 1, 0, "", "a"))
		d.wants(want)
	}
}

// asking lets the power of each node admit so much load, and notes what is asked.
func (d *harness) asking(limit cluster.MilliCPU) (asked *[]string) {
	asked = new([]string)
	d.exec.Admits = func(more map[cluster.NodeID]cluster.MilliCPU) bool {
		var list []string
		fits := true
		for id, load := range more {
			list = append(list, fmt.Sprintf("%s%+d", id, load))
			fits = fits && d.exec.VMs.Load(id)+load <= limit
		}
		slices.Sort(list)
		*asked = append(*asked, strings.Join(list, " "))
		return fits
	}
	return asked
}

// The members of a gang are admitted beside each other, and none goes on without.
func TestLoadIsAdmittedBesideOthers(t *testing.T) {
	d := newHarness(t, settings(), world(job(1, 3, cluster.Waiting)))
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
	d := newHarness(t, settings(), l)
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
	d := newHarness(t, set, l)
	d.settle()
	d.wants("1 migrate 1.0@a>b")
}

// Caps are set on each member of a vjob that is known, and on copies that can take them.
func TestCapsOfMembers(t *testing.T) {
	l := world(job(1, 2, cluster.Running))
	l.Gangs = append(l.Gangs, at(1, gang.Active, "a", "b"))
	d := newHarness(t, settings(), l)
	d.copies["a"][0].Cap = 300
	d.settle()
	d.hasAsked(0, 0) // after a start caps are left as they are
	d.caps(7, 500)
	d.caps(1, 500)
	d.hasAsked(0, 0) // one cap does not do for two members
	d.caps(1, 300, 600)
	d.wants("1 tune 1.1@b")
	d.copies["b"][0].Cap = 600
	d.reply(1, nil)
	d.caps(1, 300, 600)
	d.pass(time.Minute)
	d.wants("1 tune 1.1@b")
}

// The cap of a copy that is saved, that is dead or that is not seen is left alone.
func TestCapsWaitForJobs(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(d *harness, c *hypervisor.Copy)
		back   bool
	}{
		{"it is saved", func(_ *harness, c *hypervisor.Copy) { c.Job = hypervisor.JobSaving }, true},
		{"it is dead", func(_ *harness, c *hypervisor.Copy) { c.State = hypervisor.CopyDead }, false},
		{"its node is silent", func(d *harness, _ *hypervisor.Copy) { d.dead["a"] = true }, true},
	} {
		l := world(job(1, 1, cluster.Running))
		l.Gangs = append(l.Gangs, at(1, gang.Active, "a"))
		d := newHarness(t, settings(), l)
		d.settle()
		c.change(d, &d.copies["a"][0])
		d.exec.Hint(d.now, "a")
		d.settle()
		d.caps(1, 500)
		if n, _ := d.asked(); n > 0 {
			t.Errorf("%s: asked for its cap", c.name)
		}
		if !c.back {
			continue
		}
		d.dead["a"], d.copies["a"][0].Job = false, hypervisor.JobNone
		d.pass(30 * time.Second)
		d.hasAsked(1, 500)
	}
}

// Each copy of a VM has its cap set; what it may use is what the one with the most may.
func TestCapsOfEachCopy(t *testing.T) {
	l := world(job(1, 1, cluster.Migrating))
	l.Gangs = append(l.Gangs, at(1, gang.Shifting, "a"))
	l.Gangs[0].Members[0].Next = "b"
	d := newHarness(t, settings(), l)
	d.copies["a"][0].Cap = 300
	d.settle()
	d.wants("1 migrate 1.0@a>b")
	d.has(1, 0, "b", hypervisor.CopyPaused)
	d.copies["b"][0].Cap = 600
	d.exec.Hint(d.now, "b")
	d.settle()
	if got := d.exec.VMs.Cap(cluster.VMID{VJob: 1}); got != 600 {
		t.Errorf("it may use %s, want 0.6 CPU", got)
	}
	d.caps(1, 500)
	d.wants("1 migrate 1.0@a>b, 2 tune 1.0@a")
	d.copies["a"][0].Cap = 500
	d.reply(2, nil)
	d.exec.Hint(d.now, "b") // not to be relied on any more
	d.settle()
	d.wants("1 migrate 1.0@a>b, 2 tune 1.0@a, 3 tune 1.0@b")
}

// A cap that does not come about is tried again later and later.
func TestCapsAreTriedLaterAndLater(t *testing.T) {
	l := world(job(1, 1, cluster.Running))
	l.Gangs = append(l.Gangs, at(1, gang.Active, "a"))
	d := newHarness(t, settings(), l)
	d.settle()
	d.caps(1, 500)
	want := "0s 5s 15s 35s 1m15s 2m35s 5m15s 10m35s 15m55s 21m15s 26m35s"
	if got := d.repliesFor(30*time.Minute, errors.New("no such controller")); got != want {
		t.Errorf("asked at %s, want %s", got, want)
	}
}
