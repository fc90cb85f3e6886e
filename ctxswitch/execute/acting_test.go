package execute_test

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/ctxswitch/execute"
	"vjob/ctxswitch/gang"
	"vjob/ctxswitch/journal"
	"vjob/hypervisor"
)

// acting is what is under way, in words: "suspend 1.0 saving a>b plan 1 since 0s for 1s".
func acting(e *execute.Executor) string {
	var list []string
	for _, a := range e.Actions() {
		list = append(list, fmt.Sprintf("%s %s %s %s>%s plan %d since %s for %s",
			a.Kind, a.VM, a.Phase, a.From, a.To, a.Plan, a.Began.Sub(start), a.Expected))
	}
	return strings.Join(list, ", ")
}

// priced are settings in which each kind of action takes another time for 1 GiB.
func priced() execute.Settings {
	s := settings()
	s.Costs = ctxswitch.Costs{
		Boot: 5 * time.Second, Stop: 2 * time.Second, SuspendPer: 50 * time.Second,
		ResumePer: 20 * time.Second, RemoteFactor: 3, MigratePer: 12 * time.Second,
	}
	return s
}

// What a gang does and what it is on its way to follow from its phase, where no plan has
// anything else in mind.
func TestPhasesAreReported(t *testing.T) {
	for _, c := range []struct {
		phase  gang.Phase
		then   gang.Then
		bound  cluster.VMState
		acting string
	}{
		{gang.Absent, 0, cluster.VMWaiting, ""},
		{gang.Creating, 0, cluster.VMRunning, "boot 1.0 creating a>b plan 0 since -1m0s for 5s"},
		{gang.Active, 0, cluster.VMRunning, ""},
		{gang.Pausing, gang.ThenSave, cluster.VMSleeping, "suspend 1.0 pausing a>b plan 0 since -1m0s for 50s"},
		{gang.Pausing, gang.ThenStand, cluster.VMPaused, "pause 1.0 pausing a>b plan 0 since -1m0s for 0s"},
		{gang.Pausing, gang.ThenMove, cluster.VMRunning, "migrate 1.0 pausing a>b plan 0 since -1m0s for 12s"},
		{gang.Paused, 0, cluster.VMPaused, ""},
		{gang.Saving, 0, cluster.VMSleeping, "suspend 1.0 saving a>b plan 0 since -1m0s for 50s"},
		{gang.Saving, gang.ThenStand, cluster.VMSleeping, "suspend 1.0 saving a>b plan 0 since -1m0s for 50s"},
		{gang.Saved, 0, cluster.VMSleeping, ""},
		{gang.Restoring, 0, cluster.VMRunning, "resume 1.0 restoring a>b plan 0 since -1m0s for 1m0s"},
		{gang.Restoring, gang.ThenSave, cluster.VMSleeping, "resume 1.0 restoring a>b plan 0 since -1m0s for 1m0s"},
		{gang.Restoring, gang.ThenStand, cluster.VMPaused, "resume 1.0 restoring a>b plan 0 since -1m0s for 1m0s"},
		{gang.Resuming, 0, cluster.VMRunning, "resume 1.0 resuming a>b plan 0 since -1m0s for 1m0s"},
		{gang.Moving, 0, cluster.VMRunning, "migrate 1.0 moving a>b plan 0 since -1m0s for 12s"},
		{gang.Shifting, 0, cluster.VMRunning, "migrate 1.0 shifting a>b plan 0 since -1m0s for 12s"},
		{gang.Clearing, gang.ThenExpire, cluster.VMTerminated, "stop 1.0 clearing a>b plan 0 since -1m0s for 2s"},
	} {
		rec := at(1, c.phase, "a", "b")
		rec.Then, rec.Members[0].Next, rec.Members[1].Ended = c.then, "b", true
		rec.Since = start.Add(-time.Minute)
		l := world(job(1, 2, cluster.Running))
		l.Gangs = append(l.Gangs, rec)
		e := execute.New(priced(), l, start)
		report, known := e.Job(1)
		if !known || report.Bound != c.bound {
			t.Errorf("%s(%s) leads to %s, want %s", c.phase, c.then, report.Bound, c.bound)
		}
		if report.Idle != (c.acting == "") {
			t.Errorf("%s(%s) is idle: %t", c.phase, c.then, report.Idle)
		}
		if got := acting(e); got != c.acting {
			t.Errorf("%s(%s): under way is %q, want %q", c.phase, c.then, got, c.acting)
		}
	}
}

// Members that stay are not under way while others migrate, and those that are restored
// come from where their images are, or from where they were until now.
func TestMembersThatAct(t *testing.T) {
	moving := at(1, gang.Shifting, "a", "b")
	moving.Members[1].Next = "c"
	restoring := at(2, gang.Restoring, "")
	restoring.Members[0].Next = "c"
	restoring.Members[0].Image = &gang.Image{Node: "b"}
	turnedBack := at(3, gang.Restoring, "a")
	turnedBack.Members[0].Next, turnedBack.Members[0].Image = "a", restoring.Members[0].Image
	l := world(job(1, 2, cluster.Migrating), job(2, 1, cluster.Resuming), job(3, 1, cluster.Resuming))
	l.Gangs = append(l.Gangs, moving, restoring, turnedBack)
	e := execute.New(priced(), l, start)
	if got, want := acting(e), "migrate 1.1 shifting b>c plan 0 since 0s for 12s, resume 2.0 restoring b>c plan 0 since 0s for 1m0s, "+
		"resume 3.0 restoring a>a plan 0 since 0s for 20s"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// A plan says what a vjob is on its way to, from when it is adopted until it has ended.
func TestPlansAreReported(t *testing.T) {
	for _, c := range []struct {
		from   gang.Phase
		kind   cluster.ActionKind
		to     cluster.NodeID
		bound  cluster.VMState
		acting string
	}{
		{gang.Absent, cluster.Boot, "a", cluster.VMRunning, "boot 1.0 creating >a plan 1 since 0s for 5s"},
		{gang.Active, cluster.Suspend, "", cluster.VMSleeping, "suspend 1.0 pausing a> plan 1 since 0s for 50s"},
		{gang.Active, cluster.Pause, "", cluster.VMPaused, "pause 1.0 pausing a> plan 1 since 0s for 0s"},
		{gang.Active, cluster.Stop, "", cluster.VMTerminated, "stop 1.0 clearing a> plan 1 since 0s for 2s"},
		{gang.Active, cluster.Migrate, "b", cluster.VMRunning, "migrate 1.0 pausing a>b plan 1 since 0s for 12s"},
		{gang.Paused, cluster.Unpause, "a", cluster.VMRunning, "unpause 1.0 resuming a> plan 1 since 0s for 0s"},
		{gang.Saved, cluster.Resume, "a", cluster.VMRunning, "resume 1.0 restoring b>a plan 1 since 0s for 1m0s"},
	} {
		rec := at(1, c.from, "a")
		switch c.from {
		case gang.Absent:
			rec.Members[0].Node = ""
		case gang.Saved:
			rec = savedOn("b", 1, 1)
		default: // as it is
		}
		state := rec.State()
		l := world(job(1, 1, state))
		l.Gangs = append(l.Gangs, rec)
		d := newHarness(t, priced(), l)
		if c.from == gang.Paused {
			d.has(1, 0, "a", hypervisor.CopyPaused)
		}
		d.settle()
		if r, _ := d.exec.Job(1); !r.Idle || r.Promised != 0 {
			t.Errorf("%s: before it is planned it is idle %t, promised to %d", c.kind, r.Idle, r.Promised)
		}
		d.exec.Adopt(d.now, 1, "test", ctxswitch.Plan{
			Actions: []ctxswitch.Action{act(c.kind, 1, 0, rec.Members[0].Node, c.to)},
			Gangs:   []ctxGang{group(c.kind, 1, 0)},
		})
		r, _ := d.exec.Job(1)
		if r.Idle || r.Promised != 1 || r.Bound != c.bound {
			t.Errorf("%s: promised to %d, idle %t, leads to %s, want %s", c.kind, r.Promised, r.Idle, r.Bound, c.bound)
		}
		if got := d.exec.VMs.Destination(cluster.VMID{VJob: 1}); got != c.to {
			t.Errorf("%s: it will be on %q, want %q", c.kind, got, c.to)
		}
		d.settle()
		if got := acting(d.exec); got != c.acting {
			t.Errorf("%s: under way is %q, want %q", c.kind, got, c.acting)
		}
		if r, _ := d.exec.Job(1); r.Promised != 0 || r.Idle {
			t.Errorf("%s: while it is under way it is idle %t, promised to %d", c.kind, r.Idle, r.Promised)
		}
	}
}

// A member holds the nodes where it is, where it goes, and every one between.
func TestHeldNodes(t *testing.T) {
	moving := at(1, gang.Shifting, "a", "a")
	moving.Members[0].Next = "b"
	saved := at(2, gang.Saved, "c")
	l := world(job(1, 2, cluster.Migrating), job(2, 1, cluster.Suspended), job(3, 1, cluster.Waiting), job(4, 2, cluster.Running))
	l.Gangs = append(l.Gangs, moving, saved, at(4, gang.Active, "b", "b"))
	d := newHarness(t, settings(), l)
	if got := d.exec.VMs.Holds(cluster.VMID{VJob: 4}); !slices.Equal(got, []cluster.NodeID{"b"}) {
		t.Errorf("before it is seen it holds %v", got)
	}
	d.settle()
	d.exec.Adopt(d.now, 1, "test", ctxswitch.Plan{
		Actions: []ctxswitch.Action{
			act(cluster.Resume, 2, 0, "", "a"), act(cluster.Boot, 3, 0, "", "c"),
			act(cluster.Suspend, 4, 0, "b", ""), act(cluster.Suspend, 4, 1, "b", ""),
			act(cluster.Resume, 4, 0, "", "a", 2, 3), act(cluster.Resume, 4, 1, "", "c", 2, 3),
		},
		Gangs: []ctxGang{group(cluster.Resume, 2, 0), group(cluster.Boot, 3, 1), group(cluster.Suspend, 4, 2, 3), group(cluster.Resume, 4, 4, 5)},
	})
	for vm, want := range map[cluster.VMID][]cluster.NodeID{
		{VJob: 1}: {"a", "b"}, {VJob: 1, Rank: 1}: {"a"}, {VJob: 2}: {"a"}, {VJob: 3}: {"c"}, {VJob: 4}: {"a", "b"}, {VJob: 4, Rank: 1}: {"b", "c"},
	} {
		if got := d.exec.VMs.Holds(vm); !slices.Equal(got, want) {
			t.Errorf("%s holds %v, want %v", vm, got, want)
		}
	}
	for vm, want := range map[cluster.VMID]cluster.NodeID{
		{VJob: 1}: "b", {VJob: 1, Rank: 1}: "a", {VJob: 2}: "a", {VJob: 3}: "c", {VJob: 4}: "a", {VJob: 4, Rank: 1}: "c",
	} {
		if got := d.exec.VMs.Destination(vm); got != want {
			t.Errorf("%s will be on %q, want %q", vm, got, want)
		}
	}
}

// A node reports the copies that were seen, those that a lock protects, and its problem.
func TestNodesAreReported(t *testing.T) {
	l := world(job(1, 3, cluster.Running))
	l.Gangs = append(l.Gangs, at(1, gang.Active, "a", "a", "a"))
	d := newHarness(t, settings(), l)
	slices.Reverse(d.copies["a"])
	d.copies["a"][0].Lock, d.copies["a"][1].Lock = true, true
	d.dead["b"], d.dead["c"] = true, true
	d.exec.PowerStates.Set(d.now, "c", time.Hour, 0)
	d.settle()
	d.pass(time.Minute)
	a, known := d.exec.Node("a")
	one, two, three := cluster.VMID{VJob: 1}, cluster.VMID{VJob: 1, Rank: 1}, cluster.VMID{VJob: 1, Rank: 2}
	if !known || a.Silent || !a.On || a.Problem != "" || !slices.Equal(a.VMs, []cluster.VMID{one, two, three}) ||
		!slices.Equal(a.Locked, []cluster.VMID{two, three}) || a.Used != (cluster.Resources{CPU: 3000, Memory: 3072}) {
		t.Errorf("a is reported as %+v", a)
	}
	if c, _ := d.exec.Node("c"); c.On || c.Silent {
		t.Errorf("c, which is off, is reported as %+v", c)
	}
	if b, _ := d.exec.Node("b"); !b.On || !b.Silent || b.Problem == "" || b.Since.IsZero() || len(b.VMs) != 0 || b.Locked != nil {
		t.Errorf("b is reported as %+v", b)
	}
	if n, known := d.exec.Node("x"); known || n.ID != "" {
		t.Errorf("x is reported as %+v", n)
	}
	if got := d.exec.Names(); !slices.Equal(got, []cluster.NodeID{"a", "b", "c"}) || len(d.exec.Nodes()) != 3 {
		t.Errorf("nodes %v, reported as %+v", got, d.exec.Nodes())
	}
}

// A vjob is blind when a node is silent on which a member is or to which it goes.
func TestBlindVJobs(t *testing.T) {
	coming := at(2, gang.Shifting, "a")
	coming.Members[0].Next = "b"
	l := world(job(1, 2, cluster.Running), job(2, 1, cluster.Migrating), job(3, 1, cluster.Running), job(4, 1, cluster.Waiting))
	l.Gangs = append(l.Gangs, at(1, gang.Active, "a", "b"), coming, at(3, gang.Active, "c"))
	d := newHarness(t, settings(), l)
	d.dead["b"] = true
	d.settle()
	for id, want := range map[cluster.VJobID]bool{1: true, 2: true, 3: false, 4: false} {
		if r, _ := d.exec.Job(id); r.Blind != want {
			t.Errorf("vjob %d is blind: %t, want %t", id, r.Blind, want)
		}
	}
}

// A vjob is blind as well while a node is silent on which a call for it is under way, or has
// ended and was not looked at since.
func TestVJobsAreBlindForCalls(t *testing.T) {
	d := harnessWith(t, gang.Active)
	used := imageOf(1, 1)
	used.Node = "c"
	d.store.Images = []hypervisor.Image{used}
	d.exec.LookedStore(d.now, d.store, nil)
	d.settle()
	d.wants("1 discard 1.0@c")
	silent := func(silent bool) {
		d.dead["c"] = silent
		d.exec.Hint(d.now, "c")
		d.settle()
	}
	for _, c := range []struct {
		name string
		do   func()
		want bool
	}{
		{"a call is under way", func() {}, false},
		{"its node is silent", func() { silent(true) }, true},
		{"the call has ended", func() { d.reply(1, nil) }, true},
		{"the node answers", func() { silent(false) }, false},
		{"another call has ended", func() { d.exec.Replied(d.now, d.replyTo(2, nil)) }, false},
	} {
		c.do()
		if r, _ := d.exec.Job(1); r.Blind != c.want {
			t.Errorf("%s: blind %t", c.name, r.Blind)
		}
	}
}

// What is not known counts for nothing.
func TestNeedOfTheUnknown(t *testing.T) {
	d := newHarness(t, settings(), world(job(1, 2, cluster.Waiting)))
	for vm, want := range map[cluster.VMID]cluster.Resources{
		{VJob: 1, Rank: 1}: {CPU: 1000, Memory: 1024}, {VJob: 1, Rank: 2}: {}, {VJob: 2}: {},
	} {
		if got := d.exec.VMs.Need(vm); got != want {
			t.Errorf("%s counts for %s, want %s", vm, got, want)
		}
		if got := d.exec.VMs.Demand(vm); got != want.CPU {
			t.Errorf("%s needs %s, want %s", vm, got, want.CPU)
		}
	}
}

// A vjob takes another of its shapes as long as it has never been started.
func TestReshape(t *testing.T) {
	moldable := func() *cluster.VJob {
		j := job(1, 1, cluster.Waiting)
		wide := job(1, 3, cluster.Waiting)
		j.Walltime = time.Hour
		j.Shapes = []cluster.Shape{{VMs: j.VMs, Walltime: time.Hour}, {VMs: wide.VMs, Walltime: time.Minute}}
		return j
	}
	d := newHarness(t, settings(), world(moldable()))
	d.settle()
	changes := d.exec.Changes()
	for shape, fault := range map[int]error{-1: cluster.ErrInvalid, 2: cluster.ErrInvalid} {
		if err := d.exec.Reshape(d.now, 1, shape); !errors.Is(err, fault) {
			t.Errorf("shape %d: %v", shape, err)
		}
	}
	if err := d.exec.Reshape(d.now, 2, 0); !errors.Is(err, cluster.ErrNotFound) {
		t.Errorf("a vjob that there is not: %v", err)
	}
	if err := d.exec.Reshape(d.now, 1, 0); err != nil || d.exec.Changes() != changes {
		t.Errorf("its own shape: %v, %d changes", err, d.exec.Changes()-changes)
	}
	d.steps = nil
	later := d.now.Add(time.Second)
	if err := d.exec.Reshape(later, 1, 1); err != nil {
		t.Fatal(err)
	}
	d.settle()
	r, _ := d.exec.Job(1)
	if len(r.Job.VMs) != 3 || len(r.Record.Members) != 3 || r.Record.VJob != 1 || r.Job.Walltime != time.Minute || d.exec.Changes() == changes {
		t.Errorf("it is %+v with %d members", r.Job, len(r.Record.Members))
	}
	var written []journal.Reshape
	for _, s := range d.steps {
		written = append(written, s.Reshape...)
	}
	one := cluster.Resources{CPU: 1000, Memory: 1024}
	want := []journal.Reshape{{VJob: 1, Shape: 1, Walltime: time.Minute, Reserved: []cluster.Resources{one, one, one}}}
	if !reflect.DeepEqual(written, want) || d.told("takes shape 2 of 2") != 1 {
		t.Errorf("written is %+v, want %+v", written, want)
	}
	if got, want := d.events(journal.EventState), (journal.Event{Kind: journal.EventState, At: later, VJob: 1, State: "waiting"}); !reflect.DeepEqual(got, []journal.Event{want}) {
		t.Errorf("the events are %+v, want %+v", got, want)
	}
	d.adopt([]ctxGang{group(cluster.Boot, 1, 0, 1, 2)}, act(cluster.Boot, 1, 0, "", "a"), act(cluster.Boot, 1, 1, "", "b"), act(cluster.Boot, 1, 2, "", "c"))
	d.wants("1 boot 1.0@a, 2 boot 1.1@b, 3 boot 1.2@c")

	d = newHarness(t, settings(), full(moldable(), job(2, 1, cluster.Waiting)))
	d.settle()
	d.adopt([]ctxGang{group(cluster.Boot, 2, 0), group(cluster.Boot, 1, 1)}, act(cluster.Boot, 2, 0, "", "a"), act(cluster.Boot, 1, 0, "", "a", 0))
	if err := d.exec.Reshape(d.now, 1, 1); !errors.Is(err, cluster.ErrConflict) {
		t.Errorf("promised to be started: %v", err)
	}

	for _, started := range []gang.Phase{gang.Absent, gang.Active} {
		l := world(moldable())
		l.Gangs = append(l.Gangs, at(1, started, "a"))
		e := execute.New(settings(), l, start)
		if err := e.Reshape(start, 1, 1); !errors.Is(err, cluster.ErrConflict) {
			t.Errorf("%s, and has been started: %v", started, err)
		}
	}
}

// Live vjobs are reported in order, those of an array by its number.
func TestVJobsAreReported(t *testing.T) {
	l := world()
	for id := range cluster.VJobID(6) {
		j := job(id+1, 1, cluster.Waiting)
		if id%2 == 0 {
			j.Array = 1
		}
		l.VJobs = append(l.VJobs, j)
	}
	l.VJobs[1].State = cluster.Running
	l.Gangs = append(l.Gangs, at(2, gang.Active, "a"))
	l.Ran = map[cluster.VJobID]time.Duration{2: time.Hour}
	d := newHarness(t, settings(), l)
	d.settle()
	d.pass(90 * time.Second)
	var order []cluster.VJobID
	for _, r := range d.exec.Jobs() {
		order = append(order, r.Job.ID)
		ran, booked := time.Duration(0), time.Duration(0)
		if r.Job.ID == 2 {
			ran, booked = time.Hour+90*time.Second, time.Hour+time.Minute
		}
		if r.Ran != ran || r.Booked != booked || r.Began != (r.Job.ID == 2) || r.Short || r.Crowded != 0 {
			t.Errorf("vjob %d is reported as %+v", r.Job.ID, r)
		}
	}
	if want := []cluster.VJobID{1, 2, 3, 4, 5, 6}; !slices.Equal(order, want) {
		t.Errorf("reported are %v, want %v", order, want)
	}
	var array []cluster.VJobID
	for _, r := range d.exec.Members(1) {
		array = append(array, r.Job.ID)
	}
	slices.Sort(array)
	if want := []cluster.VJobID{1, 3, 5}; !slices.Equal(array, want) {
		t.Errorf("reported of the array are %v, want %v", array, want)
	}
}
