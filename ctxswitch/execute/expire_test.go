package execute_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/gang"
	"vjob/ctxswitch/journal"
	"vjob/hypervisor"
)

// left is the record of a vjob that has ended, of one VM, and keeps images since the start.
func left(id cluster.VJobID, generations ...int) gang.Record {
	rec := gang.Record{VJob: id, Generation: 9, Members: make([]gang.Member, 1)}
	for _, g := range generations {
		rec.Kept = append(rec.Kept, gang.Kept{Generation: g, Since: start, Cause: "node down"})
	}
	return rec
}

// What is said of an image that no gang is saved in depends on what its vjob knows of it.
func TestWhyImagesAreOrphans(t *testing.T) {
	kept := func(change func(*gang.Kept)) func(*journal.Loaded) {
		return func(l *journal.Loaded) { change(&l.Gangs[0].Kept[0]) }
	}
	for _, c := range []struct {
		name   string
		change func(*journal.Loaded)
		image  hypervisor.Image
		want   string
	}{
		{"kept", func(*journal.Loaded) {}, imageOf(1, 2), "node down, restorable"},
		{"of the first generation", kept(func(k *gang.Kept) { k.Generation = 1 }), imageOf(1, 1), "node down, restorable"},
		{"used", kept(func(k *gang.Kept) { k.Used = true }), imageOf(1, 2), "node down"},
		{"not what is being restored", kept(func(k *gang.Kept) { k.Wanted = true }), imageOf(1, 2), ""},
		{"half", func(*journal.Loaded) {}, hypervisor.Image{ID: imageOf(1, 2).ID, Node: "a"}, "node down"},
		{"of a vjob that has ended", func(l *journal.Loaded) { l.Ended = append(l.Ended, left(5, 1)) }, imageOf(5, 1), "node down"},
		{
			"newer than a record that is under way", func(l *journal.Loaded) { l.Gangs[0].Phase, l.Gangs[0].Members[0].Node = gang.Pausing, "a" },
			imageOf(1, 4), "generation 4 is newer than the record, which knows 3",
		},
		{"about to be deleted", func(*journal.Loaded) {}, imageOf(1, 1), ""},
	} {
		l := lost(cluster.Waiting)
		c.change(&l)
		d := newHarness(t, settings(), l)
		d.dead["a"] = true // no call is made
		d.store.Images = []hypervisor.Image{c.image}
		d.settle()
		got := ""
		for _, o := range d.exec.Images.Orphans() {
			got = o.Why
			if o.Restorable {
				got += ", restorable"
			}
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// How long images are kept is a setting; none is for ever, and what is restored stays.
func TestUntilWhenImagesAreKept(t *testing.T) {
	for keep, want := range map[time.Duration]time.Time{0: {}, -1: {}, 1: start.Add(1), time.Hour: start.Add(time.Hour)} {
		set := settings()
		set.KeepLost = keep
		l := world()
		l.Ended = []gang.Record{left(5, 1)}
		d := newHarness(t, set, l)
		d.store.Images = []hypervisor.Image{imageOf(5, 1)}
		d.settle()
		if got := d.exec.Images.Orphans()[0].Until; !got.Equal(want) {
			t.Errorf("kept for %s: until %s, want %s", keep, got, want)
		}
	}
}

// A store that cannot be read shows no orphans, and nothing is restored from it.
func TestOrphansOfAStoreThatIsLost(t *testing.T) {
	set := settings()
	set.KeepLost = time.Hour
	l := lost(cluster.Waiting)
	l.Ended = []gang.Record{left(5, 1)}
	d := newHarness(t, set, l)
	d.store.Images = []hypervisor.Image{imageOf(1, 2), imageOf(5, 1)}
	d.settle()
	d.storeErr = hypervisor.ErrNoImage
	d.pass(2 * time.Hour)
	if list := d.exec.Images.Orphans(); list != nil {
		t.Errorf("it shows %+v", list)
	}
	if err := d.exec.Images.Restore(d.now, 1, 0, "ada"); !errors.Is(err, cluster.ErrUnavailable) {
		t.Errorf("restored: %v", err)
	}
	d.wants("")
	d.storeErr = nil
	d.pass(10 * time.Second)
	d.wants("1 discard 1.0@a, 2 discard 5.0@a")
}

// What cannot be deleted is tried again, ever more rarely.
func TestDiscardsThatFail(t *testing.T) {
	set := settings()
	set.KeepLost = time.Hour
	l := world()
	l.Ended = []gang.Record{left(5, 1)}
	d := newHarness(t, set, l)
	d.store.Images = []hypervisor.Image{imageOf(5, 1)}
	d.settle()
	d.pass(time.Hour)
	moments := d.repliesFor(1000*time.Second, errors.New("permission denied"))
	if want := "0s 5s 15s 35s 1m15s 2m35s 5m15s 10m35s 15m55s"; moments != want {
		t.Errorf("tried at %s, want %s", moments, want)
	}
	tries := len(d.calls)
	if err := d.exec.Images.Discard(d.now, imageOf(5, 1).ID, "ada"); err != nil {
		t.Error(err)
	}
	d.pass(time.Second)
	if n := len(d.calls); n != tries+1 {
		t.Errorf("an administrator has to wait: %d calls", n)
	}
}

// An image that is gone and comes back, from a back-up of the store, is deleted at once, however
// often that failed before; a store that cannot be read shows no image to be gone.
func TestDiscardsThatBeginAnew(t *testing.T) {
	for _, c := range []struct {
		name  string
		store error
		shown []hypervisor.Image
		calls int
	}{
		{"it is there all the time", nil, []hypervisor.Image{imageOf(5, 1)}, 0},
		{"it is gone for a while", nil, nil, 1},
		{"the store is lost for a while", hypervisor.ErrNoImage, nil, 0},
	} {
		set := settings()
		set.KeepLost = time.Hour
		l := world()
		l.Ended = []gang.Record{left(5, 1)}
		d := newHarness(t, set, l)
		d.store.Images = []hypervisor.Image{imageOf(5, 1)}
		d.settle()
		d.pass(time.Hour)
		d.repliesFor(100*time.Second, errors.New("permission denied"))
		calls := len(d.calls)
		d.exec.LookedStore(d.now, hypervisor.Store{Images: c.shown, Free: d.store.Free}, c.store)
		d.flush()
		d.exec.LookedStore(d.now, d.store, nil)
		d.pass(time.Second)
		if got := len(d.calls) - calls; got != c.calls {
			t.Errorf("%s: %d calls at once, want %d", c.name, got, c.calls)
		}
	}
}

// repliesFor answers every call for a while with an error, and says when each was made.
func (d *harness) repliesFor(long time.Duration, err error) string {
	var moments []string
	var answered hypervisor.OpID
	for began := d.now; d.now.Before(began.Add(long)); d.pass(time.Second) {
		if n := len(d.calls); n > 0 && d.calls[n-1].Op != answered {
			answered = d.calls[n-1].Op
			moments = append(moments, d.now.Sub(began).String())
			d.reply(answered, err)
		}
	}
	return strings.Join(moments, " ")
}

// The images of a vjob that ends stay as long as they would have before.
func TestImagesOutliveTheirVJob(t *testing.T) {
	set := settings()
	set.KeepLost = time.Hour
	d := newHarness(t, set, lost(cluster.Waiting))
	d.store.Images = []hypervisor.Image{imageOf(1, 2)}
	d.settle()
	if err := d.exec.Clear(d.now, 1, gang.ThenFail, cluster.Because("given up")); err != nil {
		t.Fatal(err)
	}
	d.pass(time.Hour - time.Second)
	d.wants("")
	d.pass(time.Second)
	d.wants("1 discard 1.0@a")
}

// Each vjob that has ended lets go of its own images when their time is over, one
// generation after another, and is forgotten in the end.
func TestEndedVJobsLetImagesGo(t *testing.T) {
	set := settings()
	set.KeepLost = time.Hour
	l := world()
	l.Ended = []gang.Record{left(4, 2), left(5, 1, 2)}
	l.Ended[1].Kept[1].Since = start.Add(time.Hour)
	first := imageOf(5, 1)
	l.Open, l.NextOp = []journal.Intent{openRestore(first.ID)}, 2 // no reason to wait
	l.Deadlines = map[hypervisor.OpID]time.Time{1: start.Add(24 * time.Hour)}
	second := first
	second.ID.Attempt = 2
	d := newHarness(t, set, l)
	d.store.Images = []hypervisor.Image{imageOf(4, 1), imageOf(4, 2), first, second, imageOf(5, 2)}
	d.settle()
	d.pass(time.Hour - time.Second)
	d.wants("")
	d.pass(time.Second)
	d.wants("2 discard 4.0@a, 3 discard 5.0@a, 4 discard 5.0@a")
	for i, want := range []hypervisor.ImageID{imageOf(4, 2).ID, first.ID, second.ID} {
		if got := d.calls[i].Image; got != want {
			t.Errorf("discards %s, want %s", got, want)
		}
	}
	for _, i := range d.steps[len(d.steps)-1].Intents {
		if i.Plan != 0 {
			t.Errorf("call %d is of plan %d", i.Call.Op, i.Plan)
		}
	}
	d.pass(14 * time.Second)
	if d.told("discard of 5.0 on a: no reply") != 0 {
		t.Error("a call is given up too early")
	}
	d.pass(time.Second)
	if d.told("discard of 5.0 on a: no reply") != 2 {
		t.Error("calls are not given up")
	}
	d.store.Images = []hypervisor.Image{imageOf(5, 2)}
	for op := range 3 {
		d.reply(hypervisor.OpID(2+op), nil)
	}
	d.pass(time.Minute)
	if got := d.keeping(); got != "4: [], 5: [2]" {
		t.Errorf("kept: %s", got)
	}
	steps := len(d.steps)
	d.pass(50 * time.Minute)
	if n := len(d.calls); n != 3 || len(d.steps) != steps {
		t.Errorf("%d calls, and %d steps of nothing", n, len(d.steps)-steps)
	}
	d.pass(start.Add(2 * time.Hour).Sub(d.now))
	if n := len(d.calls); n != 4 || d.calls[3].Image != imageOf(5, 2).ID {
		t.Errorf("calls so far: %s", d.wanted())
	}
	d.store.Images = nil
	d.reply(d.calls[3].Op, nil)
	d.pass(time.Minute)
	if got := d.keeping(); got != "4: [], 5: []" {
		t.Errorf("kept: %s", got)
	}
	d.store.Images = []hypervisor.Image{imageOf(5, 1)} // from a back-up of the store
	d.pass(time.Minute)
	if list := d.exec.Images.Orphans(); len(list) != 1 || !strings.Contains(list[0].Why, "not known") {
		t.Errorf("its vjob is not forgotten: %+v", list)
	}
}

// keeping is what the steps have told of vjobs that have ended: the generations that 4 and 5
// keep at last.
func (d *harness) keeping() string {
	last := map[cluster.VJobID][]int{}
	for _, s := range d.steps {
		for _, rec := range s.Gangs {
			last[rec.VJob] = []int{}
			for _, k := range rec.Kept {
				last[rec.VJob] = append(last[rec.VJob], k.Generation)
			}
		}
	}
	return fmt.Sprintf("4: %v, 5: %v", last[4], last[5])
}

// A vjob that lives lets images go when their time is over and it rests, at once.
func TestLiveVJobsLetImagesGo(t *testing.T) {
	set := settings()
	set.KeepLost = time.Hour
	l := lost(cluster.Running)
	l.Gangs[0].Phase, l.Gangs[0].Members[0].Node = gang.Active, "a"
	for id, phase := range map[cluster.VJobID]gang.Phase{2: gang.Active, 3: gang.Pausing} {
		rec := at(id, phase, "b")
		rec.Generation, rec.Kept = 3, l.Gangs[0].Kept
		if id == 3 {
			rec.Then, rec.Members[0].Node = gang.ThenMove, "c"
		}
		l.VJobs = append(l.VJobs, job(id, 1, cluster.Running))
		l.Gangs = append(l.Gangs, rec)
	}
	d := newHarness(t, set, l)
	d.has(1, 0, "a", hypervisor.CopyRunning)
	d.has(2, 0, "b", hypervisor.CopyRunning)
	d.dead["c"] = true // where vjob 3 is under way
	d.store.Images = []hypervisor.Image{imageOf(1, 2), imageOf(2, 2), imageOf(3, 2)}
	d.settle()
	d.pass(time.Hour - time.Second)
	d.wants("")
	for _, s := range d.steps {
		for _, rec := range s.Gangs {
			if rec.VJob < 3 {
				t.Errorf("vjob %s is written without a change", rec.VJob)
			}
		}
	}
	d.now = d.now.Add(time.Second)
	d.exec.Tick(d.now)
	d.flush()
	d.wants("1 discard 1.0@a, 2 discard 2.0@a")
	if r, _ := d.exec.Job(3); len(r.Record.Kept) != 1 {
		t.Errorf("a vjob under way is changed: %+v", r.Record)
	}
}

// To restore a vjob drops what is planned for it, unless it is refused.
func TestRestoreDropsThePlan(t *testing.T) {
	l := lost(cluster.Waiting)
	l.VJobs = append(l.VJobs, job(2, 1, cluster.Waiting))
	d := newHarness(t, settings(), l)
	d.store.Images = []hypervisor.Image{imageOf(1, 2)}
	d.settle()
	d.adopt([]ctxGang{group(cluster.Boot, 2, 0), group(cluster.Boot, 1, 1)},
		act(cluster.Boot, 2, 0, "", "b"), act(cluster.Boot, 1, 0, "", "a", 0))
	d.wants("1 boot 2.0@b")
	if err := d.exec.Images.Restore(d.now, 1, 7, "ada"); !errors.Is(err, cluster.ErrInvalid) {
		t.Fatal(err)
	}
	d.settle()
	if got := d.progress(1, 2); got != "running ; running" {
		t.Errorf("refused: the plan is %s", got)
	}
	later := d.now.Add(time.Second)
	if err := d.exec.Images.Restore(later, 1, 0, "ada"); err != nil {
		t.Fatal(err)
	}
	d.flush()
	if got := d.progress(1, 2); got != "running dropped; running" {
		t.Errorf("restored: the plan is %s", got)
	}
	for _, e := range d.steps[len(d.steps)-1].Events {
		if !e.At.Equal(later) {
			t.Errorf("event %q has the time %s", e.Text, e.At)
		}
	}
}
