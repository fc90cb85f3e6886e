package decide_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/ctxswitch/execute"
	"vjob/ctxswitch/gang"
	"vjob/ctxswitch/placement"
	"vjob/hypervisor"
	"vjob/queue"
	"vjob/queue/quota"
	"vjob/scheduler/decide"
)

var epoch = time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)

// world is a cluster that a test makes up: some vjobs run, some are on their way to, and
// others wait.
type world struct {
	nodes []cluster.Node
	jobs  []member
}

type member struct {
	job  *cluster.VJob
	at   []cluster.NodeID // of its VMs; none: it is nowhere
	busy bool             // it is about to run there
}

// draw makes a world up. It has a node or two on which no VM is, and its vjobs want more
// than there is.
func draw(rng *rand.Rand) *world {
	w := &world{}
	free := map[cluster.NodeID]cluster.Resources{}
	for i := range 3 + rng.IntN(4) {
		n := cluster.Node{ID: cluster.NodeID(fmt.Sprintf("n%d", i)), Capacity: cluster.Resources{CPU: 4000, Memory: 8192}}
		w.nodes = append(w.nodes, n)
		free[n.ID] = n.Capacity
	}
	for id := range cluster.VJobID(6 + rng.IntN(8)) {
		m := member{job: &cluster.VJob{ID: id + 1, Owner: "u", Name: fmt.Sprint(id), Submitted: epoch, Terms: &cluster.Terms{}}, busy: rng.IntN(4) == 0}
		for rank := range 1 + rng.IntN(3) {
			need := cluster.Resources{CPU: cluster.MilliCPU(500 * (1 + rng.IntN(4))), Memory: cluster.MiB(512 * (1 + rng.IntN(6)))}
			m.job.VMs = append(m.job.VMs, cluster.VM{ID: cluster.VMID{VJob: m.job.ID, Rank: rank}, Reserved: need})
			for _, n := range w.nodes[1:] {
				if len(m.at) == rank && need.Fits(free[n.ID]) {
					m.at, free[n.ID] = append(m.at, n.ID), free[n.ID].Minus(need)
				}
			}
		}
		if len(m.at) < len(m.job.VMs) || rng.IntN(2) == 0 {
			for rank, id := range m.at {
				free[id] = free[id].Plus(m.job.VMs[rank].Reserved)
			}
			m.at, m.busy = nil, false
		}
		w.jobs = append(w.jobs, m)
	}
	return w
}

// Booked implements [decide.Bookings].
func (w *world) Booked(id cluster.VJobID) (list []execute.Booking) {
	for _, vm := range w.of(cluster.VMID{VJob: id}).job.VMs {
		list = append(list, execute.Booking{Need: vm.Reserved, Demand: vm.Reserved.CPU})
	}
	return list
}

// Need implements [decide.Bookings].
func (w *world) Need(vm cluster.VMID) cluster.Resources {
	return w.of(vm).job.VMs[vm.Rank].Reserved
}

// Destination implements [decide.Bookings].
func (w *world) Destination(vm cluster.VMID) cluster.NodeID { return w.of(vm).at[vm.Rank] }

// Cap implements [decide.Bookings].
func (*world) Cap(cluster.VMID) cluster.MilliCPU { return 0 }

// Holds implements [decide.Bookings].
func (w *world) Holds(vm cluster.VMID) []cluster.NodeID {
	return []cluster.NodeID{w.of(vm).at[vm.Rank]}
}

func (w *world) of(vm cluster.VMID) *member {
	return &w.jobs[slices.IndexFunc(w.jobs, func(m member) bool { return m.job.ID == vm.VJob })]
}

// facts are what is known of the world, but for some vjobs.
func (w *world) facts(but ...cluster.VJobID) *decide.Facts {
	f := &decide.Facts{Now: epoch, Bookings: w, Past: &quota.Ledger{}, Reader: placement.NewReader(), Images: hypervisor.Spaces{}}
	for _, n := range w.nodes {
		f.Images[n.ID] = hypervisor.Space{Pool: "shared", Free: 1 << 20}
		f.Nodes = append(f.Nodes, &execute.NodeReport{Node: n, On: true})
	}
	for _, m := range w.jobs {
		if slices.Contains(but, m.job.ID) {
			continue
		}
		r := execute.Report{Job: m.job.Clone(), Idle: !m.busy, Record: &gang.Record{VJob: m.job.ID, Members: make([]gang.Member, len(m.job.VMs))}}
		for rank, node := range m.at {
			r.Record.Phase, r.Job.State, r.Bound = gang.Active, cluster.Running, cluster.VMRunning
			r.Record.Members[rank].Node = node
			if m.busy {
				r.Record.Phase, r.Job.State = gang.Creating, cluster.Booting
			}
		}
		f.VJobs = append(f.VJobs, r)
	}
	return f
}

func settings() *decide.Settings {
	return &decide.Settings{Policy: queue.FirstFit{}, Planner: ctxswitch.Repacker{}, Backoff: 10 * time.Second}
}

func decided(t *testing.T, p *decide.View) decide.Decision {
	t.Helper()
	d, err := p.Decide()
	if err != nil || len(d.Verdicts) != len(d.VJobs) {
		t.Fatalf("%d verdicts on %d vjobs, %v", len(d.Verdicts), len(d.VJobs), err)
	}
	return d
}

// text is what a decision says, without what it was taken on.
func text(d decide.Decision) string {
	return fmt.Sprintf("%+v", []any{d.Verdicts, d.Plan, d.Why, d.Breaches, d.Shapes, d.Caps, d.SharesCPU, d.Culprits})
}

// content is a planner that places every vjob.
type content struct{}

func (content) Plan(ctxswitch.Problem) (ctxswitch.Plan, error) { return ctxswitch.Plan{}, nil }

// seeds runs a property on many worlds.
func seeds(t *testing.T, property func(rng *rand.Rand, w *world)) {
	t.Helper()
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 1))
		property(rng, draw(rng))
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

// The same facts give the same decision, to the letter.
func TestSameFactsSameDecision(t *testing.T) {
	plans := 0
	seeds(t, func(_ *rand.Rand, w *world) {
		one, two := decided(t, decide.NewView(settings(), w.facts())), decided(t, decide.NewView(settings(), w.facts()))
		if !reflect.DeepEqual(one, two) {
			t.Errorf("%+v\nand then %+v", one, two)
		}
		if !one.Plan.Empty() {
			plans++
		}
	})
	if plans < 50 {
		t.Errorf("%d plans say nothing", plans)
	}
}

// A vjob that is removed is as if it had never been, and one that is added as if it had
// been submitted.
func TestRemovedAndAdded(t *testing.T) {
	added := 0
	seeds(t, func(rng *rand.Rand, w *world) {
		at := rng.IntN(len(w.jobs))
		m := w.jobs[at]
		without := decided(t, decide.NewView(settings(), w.facts(m.job.ID)))
		if !m.busy {
			p := decide.NewView(settings(), w.facts()).Vary()
			if err := p.Remove(m.job.ID); err != nil {
				t.Fatal(err)
			}
			if got := decided(t, &p.View); text(got) != text(without) {
				t.Errorf("without vjob %s: %+v\nand when it is removed: %+v", m.job.ID, without, got)
			}
		}
		if len(m.at) > 0 {
			return
		}
		p := decide.NewView(settings(), w.facts(m.job.ID)).Vary()
		p.Add(m.job.Clone(), at)
		added++
		if got, want := decided(t, &p.View), decided(t, decide.NewView(settings(), w.facts())); text(got) != text(want) {
			t.Errorf("with vjob %s: %+v\nand when it is added: %+v", m.job.ID, want, got)
		}
	})
	if added < 50 {
		t.Errorf("%d vjobs were added", added)
	}
	if err := decide.NewView(settings(), (&world{}).facts()).Vary().Remove(1); !errors.Is(err, cluster.ErrNotFound) {
		t.Errorf("a vjob that is not there: %v", err)
	}
}

// The fewest nodes are found by halving; here all numbers of them are tried.
func TestFewest(t *testing.T) {
	set := settings()
	set.Planner = content{} // it is the policy that is asked
	counts := map[int]int{}
	seeds(t, func(_ *rand.Rand, w *world) {
		off := w.nodes[:1] // it is empty
		for i := range 2 + len(w.jobs)%3 {
			n := cluster.Node{ID: cluster.NodeID(fmt.Sprintf("off%d", i)), Capacity: cluster.Resources{CPU: 2000, Memory: 4096}}
			w.nodes, off = append(w.nodes, n), append(slices.Clone(off), n)
		}
		runs := func(online int) (count int) {
			p := decide.NewView(set, w.facts()).Vary()
			for i, n := range off {
				if i < online {
					continue
				}
				if err := p.SetNodeState(n.ID, cluster.Offline); err != nil {
					t.Fatal(err)
				}
			}
			for _, v := range decided(t, &p.View).Verdicts {
				if v.Target == queue.Run {
					count++
				}
			}
			return count
		}
		want := 0
		for runs(want) < runs(len(off)) {
			want++
		}
		if got := decide.NewView(set, w.facts()).Vary().Fewest(off); got != want {
			t.Errorf("%d nodes of %d, want %d", got, len(off), want)
		}
		counts[want]++
	})
	if len(counts) < 3 {
		t.Errorf("always the same: %v", counts)
	}
}

// A node can be emptied as long as the others have the room.
func TestEmpties(t *testing.T) {
	w := &world{}
	for i := range 3 {
		w.nodes = append(w.nodes, cluster.Node{ID: cluster.NodeID(fmt.Sprintf("n%d", i)), Capacity: cluster.Resources{CPU: 2000, Memory: 4096}})
	}
	for i, at := range []cluster.NodeID{"n0", "n1", "n1"} {
		job := &cluster.VJob{ID: cluster.VJobID(i + 1), Terms: &cluster.Terms{}}
		job.VMs = []cluster.VM{{ID: cluster.VMID{VJob: job.ID}, Reserved: cluster.Resources{CPU: 1000, Memory: 1024}}}
		w.jobs = append(w.jobs, member{job: job, at: []cluster.NodeID{at}})
	}
	for _, c := range []struct {
		nodes []cluster.NodeID
		want  bool
	}{
		{[]cluster.NodeID{"n0"}, true},
		{[]cluster.NodeID{"n1"}, true},
		{[]cluster.NodeID{"n2"}, true},
		{[]cluster.NodeID{"n0", "n2"}, false},
		{[]cluster.NodeID{"n1", "n2"}, false},
		{[]cluster.NodeID{"n0", "n1"}, false},
	} {
		if got := decide.NewView(settings(), w.facts()).Vary().CanEmpty(c.nodes); got != c.want {
			t.Errorf("%v can be emptied: %t", c.nodes, got)
		}
	}
}

// A picture tells when it would be another one without any news.
func TestAgain(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(f *decide.Facts)
		want  time.Duration
	}{
		"nothing":        {func(*decide.Facts) {}, 0},
		"one has failed": {func(f *decide.Facts) { f.VJobs[0].Failures, f.VJobs[0].Failed = 1, epoch.Add(-3*time.Second) }, 7 * time.Second},
		"twice":          {func(f *decide.Facts) { f.VJobs[0].Failures, f.VJobs[0].Failed = 2, epoch.Add(-3*time.Second) }, 17 * time.Second},
		"long ago":       {func(f *decide.Facts) { f.VJobs[0].Failures, f.VJobs[0].Failed = 1, epoch.Add(-time.Minute) }, 0},
		"one is set aside": {func(f *decide.Facts) {
			f.Quarantined = map[cluster.VJobID]decide.Quarantined{1: {Why: "x", Until: epoch.Add(time.Hour)}}
		}, time.Hour},
		"both": {func(f *decide.Facts) {
			f.Quarantined = map[cluster.VJobID]decide.Quarantined{1: {Why: "x", Until: epoch.Add(time.Hour)}}
			f.VJobs[1].Failures, f.VJobs[1].Failed = 1, epoch
		}, 10 * time.Second},
	} {
		f := draw(rand.New(rand.NewPCG(1, 1))).facts()
		c.spoil(f)
		want := time.Time{}
		if c.want > 0 {
			want = epoch.Add(c.want)
		}
		if got := decide.NewView(settings(), f).RecheckAt; !got.Equal(want) {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}
