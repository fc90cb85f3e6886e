package queue_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/queue"
)

// workload is an endless queue: small vjobs arrive all the time, wide ones now and then.
type workload struct {
	rng  *rand.Rand
	now  time.Time
	next cluster.VJobID
	need map[cluster.VJobID]int
	jobs []queue.Job
	// head is the first vjob, or the first waiting one, and since when.
	head  cluster.VJobID
	since time.Time
}

// longest is the longest walltime, width the processors of the cluster.
const (
	longest = 90 * time.Second
	width   = 8
)

// The first vjob starts within a bound however many small ones follow, and policies that preempt
// do not suspend it any more.
func TestStarvation(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	for _, c := range []struct {
		policy queue.Policy
		bound  time.Duration
	}{
		{queue.FCFS{}, longest},
		{queue.EASY{}, longest},
		{queue.Conservative{}, longest},
		{queue.FirstFit{}, 0},
		{queue.FirstFit{MinRun: 20 * time.Second}, 40 * time.Second},
		{queue.FirstFit{Hysteresis: 20 * time.Second}, 20 * time.Second},
		{queue.FirstFit{Patience: 30 * time.Second}, 30 * time.Second},
		{queue.DynamicEASY{}, 0},
		{queue.DynamicEASY{MinRun: 20 * time.Second}, 40 * time.Second},
	} {
		waits, wide := time.Duration(0), 0
		for run := range 12 {
			l := &workload{rng: rand.New(rand.NewPCG(seed, uint64(run))), now: noon, need: map[cluster.VJobID]int{}}
			for range 600 {
				wait, why := l.second(c.policy)
				waits = max(waits, wait)
				if wait > c.bound+time.Second {
					why = fmt.Sprintf("vjob %d with %d CPU is the first and has waited for %s: %s", l.head, l.need[l.head], wait, why)
				}
				if why != "" && (wait > c.bound+time.Second || wait < 0) {
					t.Fatalf("%s %+v, run %d: %s", c.policy.Name(), c.policy, run, why)
				}
				if l.need[l.head] == width {
					wide++
				}
			}
		}
		if wide == 0 {
			t.Errorf("%s: no wide vjob was ever the first", c.policy.Name())
		}
		t.Logf("%s %+v: the first waits for %s at most", c.policy.Name(), c.policy, waits)
	}
}

// second advances by a second. It returns how long the first vjob has waited and why, or less than
// 0 if it was suspended.
func (l *workload) second(p queue.Policy) (wait time.Duration, why string) {
	l.now = l.now.Add(time.Second)
	l.jobs = slices.DeleteFunc(l.jobs, func(j queue.Job) bool { return j.Ran >= j.Walltime })
	for len(l.jobs) < 12 && l.rng.IntN(2) == 0 {
		l.next++
		l.need[l.next] = 1 + l.rng.IntN(2)
		if l.rng.IntN(8) == 0 {
			l.need[l.next] = width
		}
		l.jobs = append(l.jobs, queue.Job{
			VJob: &cluster.VJob{ID: l.next, Submitted: l.now, Walltime: time.Duration(1+l.rng.IntN(int(longest/time.Second))) * time.Second, Terms: &cluster.Terms{}},
			Need: cluster.Resources{CPU: cluster.MilliCPU(l.need[l.next])},
		})
	}
	if len(l.jobs) == 0 {
		return 0, ""
	}
	first := 0
	if !p.Traits().Preempts { // those before it keep their room
		first = max(0, slices.IndexFunc(l.jobs, func(j queue.Job) bool { return j.State.Ready() }))
	}
	if l.head != l.jobs[first].ID {
		l.head, l.since = l.jobs[first].ID, l.now
	}
	verdicts := p.Select(l.moment())
	suspended := l.jobs[first].State == cluster.Running && verdicts[first].Target != queue.Run
	l.obey(verdicts)
	switch {
	case suspended:
		return -1, "the first is suspended: " + verdicts[first].Reason
	case verdicts[first].Target == queue.Run:
		return 0, ""
	}
	return l.now.Sub(l.since), verdicts[first].Reason
}

func (l *workload) moment() *queue.Input {
	return &queue.Input{
		Now: l.now, Jobs: slices.Clone(l.jobs), Total: cluster.Resources{CPU: width},
		Capacity: func() queue.Capacity { return &sums{free: width, need: l.need} },
	}
}

// obey applies verdicts.
func (l *workload) obey(verdicts []queue.Verdict) {
	for i, v := range verdicts {
		job := l.jobs[i].Clone()
		j := &l.jobs[i]
		switch v.Target {
		case queue.Run:
			if job.State != cluster.Running {
				j.Since = l.now
			}
			job.State = cluster.Running
			j.Ran += time.Second
		case queue.Suspend:
			if job.State == cluster.Running {
				job.State, j.Since = cluster.Suspended, l.now
			}
		case queue.Wait, queue.Pause:
		}
		j.VJob = job
	}
}

// With time slices a wide vjob gets its turn although small ones come and go in the current slot.
func TestSlotsTakeTurns(t *testing.T) {
	const quantum = 20 * time.Second
	policy := queue.TimeSlices{Quantum: quantum}
	l := &workload{now: noon, need: map[cluster.VJobID]int{}}
	add := func(need int, walltime time.Duration) {
		l.next++
		l.need[l.next] = need
		l.jobs = append(l.jobs, queue.Job{VJob: &cluster.VJob{ID: l.next, Submitted: l.now, Walltime: walltime, Terms: &cluster.Terms{}}})
	}
	waited := 0 // seconds
	for second := range 600 {
		l.now = l.now.Add(time.Second)
		l.jobs = slices.DeleteFunc(l.jobs, func(j queue.Job) bool { return j.Ran >= j.Walltime })
		if second%4 == 0 && len(l.jobs) < 5 {
			add(2, 6*time.Second)
		}
		if second == 10 {
			add(width, time.Hour)
		}
		l.obey(policy.Select(l.moment()))
		for i := range l.jobs {
			if j := &l.jobs[i]; l.need[j.ID] == width {
				waited++
				if j.State == cluster.Running {
					waited = 0
				}
				if waited > int(4*quantum/time.Second) {
					t.Fatalf("after %d s the wide one has waited for %d s", second, waited)
				}
			}
		}
	}
}
