package decide_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/ctxswitch/gang"
	"vjob/hypervisor"
	"vjob/queue"
	"vjob/scheduler/decide"
)

// duo is a node of 4 CPU and 8 GiB on which vjob 2 is, with a VM of each size, and that
// vjob 1 wants for itself, which comes before.
func duo(state cluster.State, phase gang.Phase, sizes ...cluster.Resources) (*world, func() *decide.Facts) {
	w := &world{nodes: []cluster.Node{{ID: "n0", Capacity: cluster.Resources{CPU: 4000, Memory: 8192}}}}
	first := &cluster.VJob{ID: 1, Owner: "u", VMs: []cluster.VM{{ID: cluster.VMID{VJob: 1}, Reserved: w.nodes[0].Capacity}}, Terms: &cluster.Terms{}}
	second := &cluster.VJob{ID: 2, Owner: "u", Terms: &cluster.Terms{}}
	m := member{job: second}
	for rank, size := range sizes {
		second.VMs = append(second.VMs, cluster.VM{ID: cluster.VMID{VJob: 2, Rank: rank}, Reserved: size})
		m.at = append(m.at, "n0")
	}
	w.jobs = []member{{job: first}, m}
	return w, func() *decide.Facts {
		f := w.facts()
		r := &f.VJobs[1]
		r.Job.State, r.Record.Phase = state, phase
		if phase == gang.Paused {
			r.Bound = cluster.VMPaused
		}
		return f
	}
}

func store(free cluster.MiB) hypervisor.Spaces {
	return hypervisor.Spaces{"n0": {Pool: "p", Free: free}}
}

// A running vjob is suspended for another only if there is image space.
func TestSuspensionsNeedRoomForImages(t *testing.T) {
	small := cluster.Resources{CPU: 1000, Memory: 1024}
	for _, c := range []struct {
		name   string
		free   cluster.MiB
		hold   bool
		change func(w *world)
		want   [2]queue.Target
		why    string // of the first, or of the second if that is held
	}{
		{"there is room", 2 * gang.ImageSpace(1024), false, nil, [2]queue.Target{queue.Run, queue.Suspend}, "runs: there is room"},
		{"it lacks 1 MiB", 2*gang.ImageSpace(1024) - 1, false, nil, [2]queue.Target{queue.Wait, queue.Run}, "vjob 2 keeps its room: it cannot be suspended: the images need 2.1 GiB on the image store of n0, 1 MiB more than is free"},
		{
			"it needs none, since it is ended", 0, false,
			func(w *world) { w.jobs[1].job.Preemption = cluster.ByEnd },
			[2]queue.Target{queue.Run, queue.Suspend},
			"",
		},
		{
			"a user has suspended it", 1000, true, nil,
			[2]queue.Target{queue.Wait, queue.Run},
			"runs: it cannot be suspended: the images need 2.1 GiB on the image store of n0, 1.1 GiB more than is free",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			w, facts := duo(cluster.Running, gang.Active, small, small)
			if c.change != nil {
				c.change(w)
			}
			f := facts()
			f.Images, f.VJobs[1].Job.Held = store(c.free), c.hold
			d := decided(t, decide.NewView(settings(), f))
			if got := [2]queue.Target{d.Verdicts[0].Target, d.Verdicts[1].Target}; got != c.want {
				t.Errorf("%v, want %v: %+v", got, c.want, d.Verdicts)
			}
			which := 0
			if c.hold {
				which = 1
			}
			if !strings.Contains(d.Verdicts[which].Reason, c.why) {
				t.Errorf("%q, want %q", d.Verdicts[which].Reason, c.why)
			}
			if d.Why != "" {
				t.Error("no plan: " + d.Why)
			}
		})
	}
}

// A paused vjob that cannot be saved resumes before the vjob that wants its memory.
func TestPausedVJobsThatCannotBeSaved(t *testing.T) {
	for _, c := range []struct {
		name string
		cpu  cluster.MilliCPU // of each of its two VMs
		free cluster.MiB
		hold bool
		want [2]queue.Target
	}{
		{"it goes to disk", 1000, 8192, false, [2]queue.Target{queue.Run, queue.Suspend}},
		{"it goes on", 1000, 100, false, [2]queue.Target{queue.Wait, queue.Run}},
		{"its images are larger than its memory", 1000, 2048, false, [2]queue.Target{queue.Wait, queue.Run}},
		{"it goes on with less CPU", 4000, 100, false, [2]queue.Target{queue.Wait, queue.Run}},
		{"it may not", 1000, 100, true, [2]queue.Target{queue.Wait, queue.Wait}},
	} {
		t.Run(c.name, func(t *testing.T) {
			vm := cluster.Resources{CPU: c.cpu, Memory: 1024}
			_, facts := duo(cluster.Paused, gang.Paused, vm, vm)
			f := facts()
			f.Images, f.VJobs[1].Job.Held = store(c.free), c.hold
			set := settings()
			set.Suspend = decide.Auto
			d := decided(t, decide.NewView(set, f))
			if got := [2]queue.Target{d.Verdicts[0].Target, d.Verdicts[1].Target}; got != c.want {
				t.Errorf("%v, want %v: %+v", got, c.want, d.Verdicts)
			}
			for _, v := range d.Verdicts {
				if c.free < 8192 && !c.hold && v.Target == queue.Wait && !strings.Contains(v.Reason, "goes on first: it cannot be suspended: the images need 2.1 GiB on the image store of n0") {
					t.Error(v.Reason)
				}
			}
		})
	}
}

// Whatever there is room for, all that are saved by one decision find it together.
func TestImagesOfADecisionFindRoom(t *testing.T) {
	kept, saved := 0, 0
	seeds(t, func(rng *rand.Rand, w *world) {
		f := w.facts()
		free := cluster.MiB(rng.IntN(16384))
		f.Images = hypervisor.Spaces{}
		for _, n := range w.nodes {
			f.Images[n.ID] = hypervisor.Space{Pool: "p", Free: free}
		}
		p := decide.NewView(settings(), f)
		d := decided(t, p)
		for i, v := range d.Verdicts {
			if strings.Contains(v.Reason, "cannot be suspended") && v.Target == queue.Run {
				kept++
			}
			if r := &p.VJobs[i]; r.Idle && v.Target == queue.Suspend && r.Job.State == cluster.Running {
				saved++
				for _, vm := range r.Job.VMs {
					free -= gang.ImageSpace(vm.Reserved.Memory)
				}
			}
		}
		if free < 0 {
			t.Errorf("%s too much is saved: %+v", -free, d.Verdicts)
		}
	})
	if kept < 10 || saved < 20 {
		t.Errorf("only %d were kept and %d saved", kept, saved)
	}
}

// While the store cannot be read no vjob is suspended, for any reason.
func TestNothingIsSavedWithoutAStore(t *testing.T) {
	for _, held := range []bool{false, true} {
		_, facts := duo(cluster.Running, gang.Active, cluster.Resources{CPU: 1000, Memory: 1024})
		f := facts()
		f.Images, f.NoImages, f.VJobs[1].Job.Held = store(1<<20), "the image store cannot be read: it is gone", held
		p := decide.NewView(settings(), f)
		d := decided(t, p)
		if !d.Plan.Empty() || d.Verdicts[1].Target != queue.Run || d.Verdicts[0].Target != queue.Wait {
			t.Errorf("held %v: %+v, wishes %v and %v", held, d.Plan, d.Verdicts[0].Target, d.Verdicts[1].Target)
		}
		for i, v := range d.Verdicts {
			if !strings.Contains(v.Reason, f.NoImages) {
				t.Errorf("held %v: vjob %d reads %q", held, i+1, v.Reason)
			}
		}
	}
}

// A vjob that runs is moved by way of images only if there is room for them: two of its VMs would
// have to change places on nodes that have no room to do so live. A third VM needs no image to go
// elsewhere, and does so whether there is room for images or not.
func TestMovesByWayOfImagesNeedRoomForThem(t *testing.T) {
	all := gang.ImageSpace(6144) + gang.ImageSpace(5120) + gang.ImageSpace(1024)
	for _, c := range []struct {
		name   string
		free   cluster.MiB
		closed string
		unseen bool // the store of a node has not been seen
		moves  bool
	}{
		{"there is room", all, "", false, true},
		{"1 MiB is missing", all - 1, "", false, false},
		{"the store cannot be read", 1 << 20, "the image store cannot be read: stale", false, false},
		{"the store of a node has not been seen", all, "", true, false},
	} {
		w := &world{nodes: []cluster.Node{
			{ID: "n0", Capacity: cluster.Resources{CPU: 8000, Memory: 10240}},
			{ID: "n1", Capacity: cluster.Resources{CPU: 8000, Memory: 6144}},
			{ID: "n2", Capacity: cluster.Resources{CPU: 8000, Memory: 5000}},
			{ID: "n3", Capacity: cluster.Resources{CPU: 8000, Memory: 2048}},
		}}
		sized := func(id cluster.VJobID, sizes ...cluster.MiB) *cluster.VJob {
			job := &cluster.VJob{ID: id, Owner: "u", Terms: &cluster.Terms{}}
			for rank, size := range sizes {
				job.VMs = append(job.VMs, cluster.VM{ID: cluster.VMID{VJob: id, Rank: rank}, Reserved: cluster.Resources{CPU: 1000, Memory: size}})
			}
			return job
		}
		w.jobs = []member{{job: sized(1, 5120)}, {job: sized(2, 6144, 5120, 1024), at: []cluster.NodeID{"n0", "n1", "n2"}}, {job: sized(3, 4608)}}
		f := w.facts()
		f.NoImages = c.closed
		for _, n := range w.nodes {
			f.Images[n.ID] = hypervisor.Space{Pool: "shared", Free: c.free}
		}
		if c.unseen {
			delete(f.Images, "n1")
		}
		d := decided(t, decide.NewView(settings(), f))
		saves := slices.ContainsFunc(d.Plan.Gangs, func(g ctxswitch.Gang) bool { return g.Kind == cluster.Suspend })
		if saves != c.moves || (d.Verdicts[0].Target == queue.Run) != c.moves || d.Verdicts[1].Target != queue.Run {
			t.Errorf("%s: %+v, %s", c.name, d.Verdicts, d.Plan)
		}
		if d.Verdicts[2].Target != queue.Run || d.Plan.Empty() {
			t.Errorf("%s: vjob 3 does not start, although a VM can go from n2 without an image: %+v, %s", c.name, d.Verdicts, d.Plan)
		}
	}
}

// A vjob that stands still in memory and could not be saved, although there was room for its
// images, goes on before those that want its memory.
func TestAfterAFailedSaveItGoesOn(t *testing.T) {
	for failures, want := range [][2]queue.Target{{queue.Run, queue.Suspend}, {queue.Wait, queue.Run}} {
		_, facts := duo(cluster.Paused, gang.Paused, cluster.Resources{CPU: 1000, Memory: 1024})
		f := facts()
		f.Images, f.VJobs[1].Failures, f.VJobs[1].Failed = store(1<<20), failures, epoch.Add(-time.Hour)
		set := settings()
		set.Suspend = decide.Auto
		d := decided(t, decide.NewView(set, f))
		if got := [2]queue.Target{d.Verdicts[0].Target, d.Verdicts[1].Target}; got != want {
			t.Errorf("after %d failures %v, want %v: %+v", failures, got, want, d.Verdicts)
		}
	}
}

// Whether it runs or stands still, a vjob that cannot be saved goes on with the CPU that its
// node has: it would stand there for ever, or go on and stop at every decision.
func TestWithoutRoomForImagesItSharesItsNode(t *testing.T) {
	for _, c := range []struct {
		free  cluster.MiB
		other bool            // one waits that wants the whole node
		want  [2]queue.Target // while it runs, and while it stands still
	}{
		{0, false, [2]queue.Target{queue.Run, queue.Run}},
		{0, true, [2]queue.Target{queue.Run, queue.Run}},
		{1 << 20, false, [2]queue.Target{queue.Pause, queue.Wait}},
		{1 << 20, true, [2]queue.Target{queue.Suspend, queue.Suspend}},
	} {
		var got [2]queue.Target
		for k, state := range []cluster.State{cluster.Running, cluster.Paused} {
			third := cluster.Resources{CPU: 1500, Memory: 1024}
			_, facts := duo(state, map[cluster.State]gang.Phase{cluster.Running: gang.Active, cluster.Paused: gang.Paused}[state], third, third, third)
			f := facts()
			f.Images = store(c.free)
			if !c.other {
				f.VJobs = f.VJobs[1:]
			}
			set := settings()
			set.Suspend = decide.Auto
			verdicts := decided(t, decide.NewView(set, f)).Verdicts
			got[k] = verdicts[len(verdicts)-1].Target
		}
		if got != c.want {
			t.Errorf("with room for %s of images, beside another %v, %v, want %v", c.free, c.other, got, c.want)
		}
	}
}
