package scheduler_test

import (
	"cmp"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/journal"
	"vjob/queue"
	"vjob/scheduler"
)

// latecomer is a vjob of some VMs of a size that comes now.
func latecomer(id cluster.VJobID, vms int, size cluster.Resources) *cluster.VJob {
	job := &cluster.VJob{ID: id, Name: id.String(), Owner: "u", Submitted: epoch, Walltime: time.Hour, Terms: &cluster.Terms{}}
	for rank := range vms {
		job.VMs = append(job.VMs, cluster.VM{ID: cluster.VMID{VJob: id, Rank: rank}, Reserved: size})
	}
	return job
}

// submitted lets a vjob come within the rest after a decision. It returns the verdict on it if that is known before the
// next decision, and "" otherwise.
func (r *rig) submitted(job *cluster.VJob) (why string) {
	r.core.VJobs.Submitted(r.now, job)
	r.drain()
	return r.core.Snapshot().VJob(job.ID).Reason
}

// After a decision that took a second, a vjob that certainly waits has that verdict at once and makes nothing happen soon; one
// that may start, or that comes with any other change, does.
func TestLatecomers(t *testing.T) {
	const (
		id       = 100
		inPieces = "waits: the room that is free lies in pieces too small for its VMs; 1st in line"
	)
	small, large := cluster.Resources{CPU: cluster.CPU, Memory: 1024}, cluster.Resources{CPU: 4 * cluster.CPU, Memory: 1024}
	for _, c := range []struct {
		name   string
		policy queue.Policy
		vms    int
		size   cluster.Resources
		change func(job *cluster.VJob)
		also   func(r *rig)
		why    string // "" if a decision is wanted soon
		then   string // what the next decision says; "": the same
	}{
		{name: "too much in sum", vms: 5, size: large, why: "waits: needs 8 CPU more; 1st in line"},
		{name: "too large for each piece", vms: 1, size: large, why: inPieces, then: "context switch 1 makes room for it"},
		{name: "too many for the pieces", vms: 5, size: cluster.Resources{CPU: 2 * cluster.CPU, Memory: 1024}, why: inPieces, then: "context switch 1 makes room for it"},
		{name: "held", vms: 1, size: small, change: func(j *cluster.VJob) { j.Held = true }, why: "is held"},
		{name: "best-effort", vms: 5, size: large, change: func(j *cluster.VJob) { j.BestEffort = true }, why: "waits: needs 8 CPU more; 1st in line"},
		{name: "it fits", vms: 12, size: small},
		{name: "before one that runs", vms: 5, size: large, change: func(j *cluster.VJob) { j.Priority = 1 }},
		{
			name: "before one that keeps its room", policy: queue.EASY{}, vms: 5, size: large,
			change: func(j *cluster.VJob) { j.Priority = 1 }, why: "waits: needs 8 CPU more; 1st in line",
			then: "waits: needs 8 CPU more, and when it will be there cannot be known: what runs has no walltime; 1st in line",
		},
		{name: "slots change", policy: queue.TimeSlices{Quantum: time.Hour}, vms: 5, size: large},
		{name: "it has a start window", vms: 5, size: large, change: func(j *cluster.VJob) { j.NotBefore = epoch.Add(time.Minute) }},
		{name: "something else has changed", vms: 5, size: large, also: func(r *rig) {
			if err := r.core.VJobs.Order(r.now, 1, scheduler.OrderDelete, "root"); err != nil {
				r.t.Fatal(err)
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			set := settings()
			if c.policy != nil {
				set.Policy = c.policy
			}
			r := mount(t, set, state(4, 0))
			r.drain()
			r.took(time.Second)
			job := latecomer(id, c.vms, c.size)
			if c.change != nil {
				c.change(job)
			}
			if c.also != nil {
				c.also(r)
			}
			if why := r.submitted(job); why != c.why {
				t.Errorf("before the next decision: %q; want %q", why, c.why)
			}
			r.at(2 * time.Second)
			if why := r.core.Snapshot().VJob(id).Reason; why == "" || c.why != "" && why != c.why {
				t.Errorf("after two seconds: %q", why)
			}
			r.at(20 * time.Second)
			if why := r.core.Snapshot().VJob(id).Reason; c.why != "" && why != cmp.Or(c.then, c.why) {
				t.Errorf("the next decision says %q, before it was %q", why, c.why)
			}
		})
	}
}

// Behind so many that its start is not estimated, a vjob that certainly waits makes nothing happen at all, until its
// policy has something to do for it; the first ones in line get a decision that estimates their starts.
func TestLatecomersAtTheEndOfALongQueue(t *testing.T) {
	large := cluster.Resources{CPU: 4 * cluster.CPU, Memory: 1024}
	for _, c := range []struct {
		policy queue.Policy
		again  time.Duration // when a decision is wanted, since the beginning; 0: never
	}{
		{queue.FirstFit{}, 0},
		{queue.EASY{}, 0},
		{queue.SJF{AgeBound: 40 * time.Minute}, 40 * time.Minute},
		{queue.DynamicEASY{Due: 0.5}, time.Second + 15*time.Minute}, // of the last one, which has half the walltime
	} {
		set := settings()
		set.Policy = c.policy
		r := mount(t, set, state(4, 0))
		r.drain()
		id := cluster.VJobID(100)
		for ; id < 100+queue.MaxEstimates; id++ {
			r.core.VJobs.Submitted(r.now, latecomer(id, 5, large))
		}
		r.at(time.Second)
		r.took(time.Second)
		last := latecomer(id, 5, large)
		last.Submitted, last.Walltime = r.now, last.Walltime/2
		if why := r.submitted(last); why != "waits: needs 8 CPU more; 1001st in line" {
			t.Errorf("%s: %q", c.policy.Name(), why)
		}
		if next := r.core.NextDecision(); c.again == 0 && !next.IsZero() || c.again > 0 && !next.Equal(epoch.Add(c.again)) {
			t.Errorf("%s: another decision at %s, want one after %s", c.policy.Name(), next, c.again)
		}
	}
}

// The decision that follows when nothing else has changed does not start a vjob that was put off, unless it moves others
// for it, and stops none. It starts another one only if that now fills a gap before the one that has come first in line.
func TestLatecomersAreJudgedAsByADecision(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 16))
	putOff := 0
	for range 10 {
		for _, policy := range policies {
			set := settings()
			set.Policy = policy
			r := mount(t, set, state(4+4*rng.IntN(3), rng.IntN(20)))
			r.drain()
			for id := cluster.VJobID(1000); id < 1012; id++ {
				far := latecomer(id+1000, 1, cluster.Resources{CPU: cluster.CPU, Memory: 1024}) // a decision is wanted for it at once
				far.NotBefore = epoch.Add(1000 * time.Hour)
				r.at(r.now.Sub(epoch) + time.Second)
				r.submitted(far)
				r.took(500 * time.Millisecond)
				size := cluster.Resources{CPU: cluster.MilliCPU(1+rng.IntN(8)) * cluster.CPU / 2, Memory: cluster.MiB(1+rng.IntN(8)) * 512}
				job := latecomer(id, 1+rng.IntN(8), size)
				job.Priority, job.BestEffort, job.Submitted = rng.IntN(2), rng.IntN(5) == 0, r.now
				why, before := r.submitted(job), len(r.plans)
				r.at(r.now.Sub(epoch) + 10*time.Second)
				if why == "" {
					continue
				}
				putOff++
				mayStartOthers := job.Priority > 0 && startsOthers(r.plans[before:], id)
				if after := r.core.Snapshot().VJob(id).Reason; len(r.plans) > before && !mayStartOthers && !moves(r.plans[before:]) {
					t.Fatalf("%s: vjob %d %s; then it %s, with plan %+v", policy.Name(), id, why, after, r.plans[before].Plan.Gangs)
				}
			}
		}
	}
	if putOff < 40 {
		t.Errorf("only %d vjobs were put off", putOff)
	}
}

// moves reports whether plans move VMs.
func moves(plans []journal.Plan) bool {
	for i := range plans {
		for k := range plans[i].Plan.Actions {
			if kind := plans[i].Plan.Actions[k].Kind; kind == cluster.Migrate || kind == cluster.Suspend {
				return true
			}
		}
	}
	return false
}

// startsOthers reports whether plans boot vjobs, and not this one.
func startsOthers(plans []journal.Plan, id cluster.VJobID) bool {
	for i := range plans {
		for _, g := range plans[i].Plan.Gangs {
			if g.VJob == id || g.Kind != cluster.Boot {
				return false
			}
		}
	}
	return true
}

// After a decision that took a second, a vjob that leaves makes another one urgent only while a vjob waits that may take its room. A
// vjob that comes after it always does: the room may have grown.
func TestWhatIsPlannedIsUrgentOnlyForThoseThatWait(t *testing.T) {
	const urgent, patient = 2 * time.Second, 20 * time.Second
	large := cluster.Resources{CPU: 4 * cluster.CPU, Memory: 1024}
	for _, c := range []struct {
		name string
		vms  []int // of the vjobs that wait
		held bool
		then time.Duration // when the next decision is taken
	}{
		{name: "nothing waits", then: patient},
		{name: "a held vjob waits", vms: []int{5}, held: true, then: patient},
		{name: "a vjob waits", vms: []int{5}, then: urgent},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := mount(t, settings(), state(4, 0))
			for i, vms := range c.vms {
				job := latecomer(cluster.VJobID(100+i), vms, large)
				job.Held = c.held
				r.core.VJobs.Submitted(r.now, job)
			}
			r.drain()
			r.took(time.Second)
			if err := r.core.VJobs.Order(r.now, 1, scheduler.OrderDelete, "root"); err != nil {
				t.Fatal(err)
			}
			r.drain()
			if next := r.core.NextDecision(); !next.Equal(epoch.Add(c.then)) {
				t.Errorf("the next decision is taken after %s, want %s", next.Sub(epoch), c.then)
			}
			if why := r.submitted(latecomer(200, 5, large)); why != "" {
				t.Errorf("a vjob that comes after it %q", why)
			}
			if next := r.core.NextDecision(); !next.Equal(epoch.Add(urgent)) {
				t.Errorf("then the next decision is taken after %s, want %s", next.Sub(epoch), urgent)
			}
		})
	}
}

// After a decision that took a second, a vjob that is deleted before it began makes another one urgent only if others may have
// waited for it. Those that come after it are judged as before it.
func TestLeavers(t *testing.T) {
	const urgent, patient = 2 * time.Second, 20 * time.Second
	large := cluster.Resources{CPU: 4 * cluster.CPU, Memory: 1024}
	for _, c := range []struct {
		name    string
		deleted cluster.VJobID
		change  func(third *cluster.VJob)
		policy  queue.Policy
		then    time.Duration
		place   string // of a vjob that comes then; "" if that has no verdict before the next decision
	}{
		{name: "behind others", deleted: 101, then: patient, place: "3rd in line"},
		{name: "the last", deleted: 102, then: patient, place: "3rd in line"},
		{name: "the first", deleted: 100, then: urgent},
		{name: "one waits for another to end", deleted: 101, then: urgent, change: func(j *cluster.VJob) {
			j.After = []cluster.Dependency{{On: 101}}
		}},
		{name: "held", deleted: 102, then: patient, place: "3rd in line", change: func(j *cluster.VJob) { j.Held = true }},
		{name: "all have turns", policy: queue.TimeSlices{Quantum: time.Hour}, deleted: 101, then: urgent},
	} {
		t.Run(c.name, func(t *testing.T) {
			set := settings()
			set.Policy = cmp.Or(c.policy, set.Policy)
			r := mount(t, set, state(4, 0))
			for id := cluster.VJobID(100); id < 103; id++ {
				job := latecomer(id, 5, large)
				if c.change != nil && id == 102 {
					c.change(job)
				}
				r.core.VJobs.Submitted(r.now, job)
			}
			r.drain()
			r.took(time.Second)
			if err := r.core.VJobs.Order(r.now, c.deleted, scheduler.OrderDelete, "root"); err != nil {
				t.Fatal(err)
			}
			r.drain()
			if next := r.core.NextDecision(); !next.Equal(epoch.Add(c.then)) {
				t.Errorf("the next decision is taken after %s, want %s", next.Sub(epoch), c.then)
			}
			if why := r.submitted(latecomer(200, 5, large)); (why == "") != (c.place == "") || !strings.HasSuffix(why, c.place) {
				t.Errorf("a vjob that comes then %q, want %q", why, c.place)
			}
		})
	}
}
