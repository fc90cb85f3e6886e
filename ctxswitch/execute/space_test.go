package execute_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/gang"
	"vjob/hypervisor"
)

// What was written since a look at the store takes room there, whether the look shows a
// part of it or not.
func TestSpaceIsCountedOnce(t *testing.T) {
	l := world(job(1, 1, cluster.Suspending), job(2, 1, cluster.Suspended))
	l.Gangs = append(l.Gangs, at(1, gang.Saving, "a"), at(2, gang.Saved, ""))
	d := newHarness(t, priced(), l)
	d.has(1, 0, "a", hypervisor.CopyPaused)
	d.settle()
	all := d.store.Free["a"].Free - gang.DefaultLimits.Margin
	if got, want := d.exec.Space()["a"].Free, all-gang.ImageSpace(1024); got != want {
		t.Errorf("while nothing is written: %s, want %s", got, want)
	}
	half := imageOf(1, 1)
	half.Complete, half.Bytes = false, 512<<20
	d.store.Images = append(d.store.Images, half)
	d.pass(time.Minute)
	if got, want := d.exec.Space()["a"].Free, all-gang.ImageSpace(1024)+512; got != want {
		t.Errorf("while the half is written: %s, want %s", got, want)
	}
}

// pools gives a and b one image store with so much room, and c its own, which has no name.
func (d *harness) pools(shared, own cluster.MiB) {
	d.store.Free = hypervisor.Spaces{
		"a": {Pool: "shared", Free: shared}, "b": {Pool: "shared", Free: shared}, "c": {Free: own},
	}
}

// Room for images is promised to every member that is to be saved, until its image is
// sealed, in the pool of its node.
func TestSpaceThatIsPromised(t *testing.T) {
	one := gang.ImageSpace(1024)
	saving := func(change func(*gang.Record)) gang.Record {
		rec := at(1, gang.Saving, "a", "c")
		change(&rec)
		return rec
	}
	phase := func(phase gang.Phase, then gang.Then) gang.Record {
		return saving(func(r *gang.Record) { r.Phase, r.Then = phase, then })
	}
	image := func(attempt int, size cluster.MiB) hypervisor.Image {
		i := imageOf(1, 1)
		i.ID.Attempt, i.Bytes, i.Complete = attempt, int64(size)<<20, false
		return i
	}
	sealed := image(1, 300)
	for _, c := range []struct {
		name        string
		rec         gang.Record
		shown       []hypervisor.Image
		shared, own cluster.MiB // that is promised
	}{
		{"pausing to save", phase(gang.Pausing, gang.ThenSave), nil, one, one},
		{"pausing to move", phase(gang.Pausing, gang.ThenMove), nil, 0, 0},
		{"pausing to stand", phase(gang.Pausing, gang.ThenStand), nil, 0, 0},
		{"turned back to be saved", phase(gang.Restoring, gang.ThenSave), nil, 0, 0},
		{"running", phase(gang.Active, gang.ThenNothing), nil, 0, 0},
		{"saving", phase(gang.Saving, gang.ThenNothing), nil, one, one},
		{"an ended member", saving(func(r *gang.Record) { r.Members[1].Ended = true }), nil, one, 0},
		{
			"a sealed member", saving(func(r *gang.Record) { r.Members[0].Image = &gang.Image{ID: sealed.ID, Node: "a"} }),
			[]hypervisor.Image{sealed},
			0, one,
		},
		{"the second attempt", saving(func(r *gang.Record) { r.Members[0].Save = 2 }), []hypervisor.Image{image(1, 900), image(2, 100)}, one - 100, one},
		{"restored from kept images", saving(func(r *gang.Record) {
			r.Then, r.Members = gang.ThenVerify, make([]gang.Member, 2)
		}), nil, 0, 0},
		{"larger than expected", saving(func(r *gang.Record) { r.Members[0].Save = 1 }), []hypervisor.Image{image(1, 3000)}, 0, one},
	} {
		other := at(2, gang.Saving, "b")
		l := world(job(1, 2, c.rec.State()), job(2, 1, cluster.Suspending))
		l.Gangs = append(l.Gangs, c.rec, other)
		d := newHarness(t, settings(), l)
		d.pools(10000, 20000)
		d.store.Images = c.shown
		d.exec.LookedStore(d.now, d.store, nil) // and nothing else is done
		margin := gang.DefaultLimits.Margin
		shared, own := 10000-margin-one-c.shared, 20000-margin-c.own
		want := hypervisor.Spaces{
			"a": {Pool: "shared", Free: shared}, "b": {Pool: "shared", Free: shared}, "c": {Free: own},
		}
		if got := d.exec.Space(); !maps.Equal(got, want) {
			t.Errorf("%s: free is %v, want %v", c.name, got, want)
		}
	}
}

// No less than nothing is free, and of a store that cannot be read nothing is known.
func TestSpaceThatIsLeft(t *testing.T) {
	d := newHarness(t, settings(), world())
	d.pools(gang.DefaultLimits.Margin+1, gang.DefaultLimits.Margin-1)
	d.settle()
	if got := fmt.Sprint(d.exec.Space()); got != "map[a:{shared 1 MiB} b:{shared 1 MiB} c:{ 0 MiB}]" {
		t.Errorf("free is %s", got)
	}
	d.storeErr = hypervisor.ErrNoImage
	d.pass(time.Minute)
	if got := d.exec.Space(); len(got) != 0 {
		t.Errorf("of a store that is lost %v is free", got)
	}
}

// A gang is paused to be saved only if all its images fit, beside those of other gangs.
func TestSpaceForImages(t *testing.T) {
	one, margin := gang.ImageSpace(1024), gang.DefaultLimits.Margin
	lacks := func(node cluster.NodeID, need cluster.MiB) string {
		return fmt.Sprintf("aborted: the images need %s on the image store of %s, 1 MiB more than is free", need, node)
	}
	gangs := func(nodes ...[]cluster.NodeID) (list [][]cluster.NodeID) { return nodes }
	on := func(nodes ...cluster.NodeID) []cluster.NodeID { return nodes }
	for _, c := range []struct {
		name   string
		nodes  [][]cluster.NodeID
		change func(*harness)
		want   string // calls
		told   string
	}{
		{"all fit", gangs(on("a", "c")), func(d *harness) { d.pools(one+margin, one+margin) }, "1 pause 1.0@a, 2 pause 1.1@c", ""},
		{
			"one does not", gangs(on("a", "c")), func(d *harness) { d.pools(one+margin, one+margin-1) },
			"", lacks("c", one),
		},
		{"both in one pool", gangs(on("a", "b")), func(d *harness) { d.pools(2*one+margin, 0) }, "1 pause 1.0@a, 2 pause 1.1@b", ""},
		{
			"not both in one pool", gangs(on("a", "b")), func(d *harness) { d.pools(2*one+margin-1, 0) },
			"", lacks("a", 2*one),
		},
		{
			"one of two gangs", gangs(on("a"), on("b")), func(d *harness) { d.pools(2*one+margin-1, 0) },
			"1 pause 2.0@b", lacks("a", one),
		},
		{
			"the store of one node is not seen", gangs(on("a", "c")), func(d *harness) { delete(d.store.Free, "c") },
			"", "aborted: the image store of c has not been seen",
		},
		{
			"no store is seen", gangs(on("a")), func(d *harness) { d.storeErr = hypervisor.ErrNoImage },
			"", "aborted: the image store has not been seen",
		},
	} {
		l := world()
		for i, nodes := range c.nodes {
			id := cluster.VJobID(i + 1)
			rec := at(id, gang.Pausing, nodes...)
			rec.Then = gang.ThenSave
			l.VJobs = append(l.VJobs, job(id, len(nodes), cluster.Suspending))
			l.Gangs = append(l.Gangs, rec)
		}
		d := newHarness(t, settings(), l)
		c.change(d)
		d.settle()
		var pauses []string
		for call := range strings.SplitSeq(d.wanted(), ", ") {
			if strings.Contains(call, " pause ") {
				pauses = append(pauses, call)
			}
		}
		if got := strings.Join(pauses, ", "); got != c.want {
			t.Errorf("%s: calls %q, want %q", c.name, got, c.want)
		}
		if c.told != "" && d.told(c.told) == 0 || c.told == "" && d.told("aborted") > 0 {
			t.Errorf("%s: told is %+v, want %q", c.name, d.steps, c.told)
		}
	}
}
