package queue_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/queue"
)

// Random queues go on by seconds in a room that is full by sums, with needs that change:
// nobody is suspended in his first minute but for one of a higher grade, one that has waited
// for a minute, or since those before him that run need more; and nobody starves: whoever is
// the first of his grade runs at the latest two minutes after he came.
func TestSettling(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 5))
	const total = 12
	spared := 0
	for range 60 {
		var jobs []queue.Job
		need := map[cluster.VJobID]int{}
		for second := range 400 {
			now := noon.Add(time.Duration(second) * time.Second)
			if rng.IntN(6) == 0 && len(jobs) < 12 {
				id := cluster.VJobID(second + 1)
				jobs = append(jobs, queue.Job{VJob: &cluster.VJob{ID: id, Submitted: now, Priority: rng.IntN(2)}})
				need[id] = 1 + rng.IntN(total)
			}
			if len(jobs) > 0 && rng.IntN(4) == 0 {
				need[jobs[rng.IntN(len(jobs))].ID] = 1 + rng.IntN(total)
			}
			decide := func(p queue.FirstFit) []queue.Verdict {
				return p.Select(&queue.Input{Now: now, Jobs: jobs, Capacity: func() queue.Capacity { return &sums{free: total, need: need} }})
			}
			plain, verdicts := decide(queue.FirstFit{}), decide(queue.FirstFit{Settle: time.Minute})
			before := 0 // what those need that run, go on, and come before
			for i, v := range verdicts {
				j := &jobs[i]
				if v.Target == queue.Suspend && now.Sub(j.Since) < time.Minute && !excused(jobs, verdicts, i, now) && before+need[j.ID] <= total {
					t.Fatalf("second %d: vjob %d is suspended %s after it began: %s", second, j.ID, now.Sub(j.Since), v.Reason)
				}
				if v.Target == queue.Run && j.State == cluster.Running {
					before += need[j.ID]
				}
				if v.Target == queue.Run && plain[i].Target == queue.Suspend {
					spared++
				}
			}
			for i, v := range verdicts {
				switch j := &jobs[i]; {
				case v.Target == queue.Run && j.State != cluster.Running:
					j.State, j.Since = cluster.Running, now
				case v.Target == queue.Suspend:
					j.State, j.Since = cluster.Suspended, now
				case i == 0 && j.State.Ready() && now.Sub(j.Submitted) > 2*time.Minute && now.Sub(j.Since) > 2*time.Minute && !above(jobs):
					t.Fatalf("second %d: vjob %d is the first and waits: %s", second, j.ID, v.Reason)
				}
				jobs[i].VJob = jobs[i].Clone()
			}
			if len(jobs) > 0 && rng.IntN(20) == 0 {
				at := rng.IntN(len(jobs))
				jobs = append(jobs[:at], jobs[at+1:]...)
			}
		}
	}
	if spared < 100 {
		t.Errorf("only %d times somebody was spared", spared)
	}
}

// excused reports whether somebody starts or goes on for whom one may be suspended that has
// just begun.
func excused(jobs []queue.Job, verdicts []queue.Verdict, i int, now time.Time) bool {
	for k := range jobs {
		j := &jobs[k]
		since := j.Submitted
		if j.Since.After(since) {
			since = j.Since
		}
		starts := verdicts[k].Target == queue.Run && j.State != cluster.Running
		if k < i && starts && (j.Priority > jobs[i].Priority || now.Sub(since) >= time.Minute) {
			return true
		}
	}
	return false
}

// above reports whether somebody has a higher priority than the first.
func above(jobs []queue.Job) bool {
	for i := range jobs {
		if jobs[i].Priority > jobs[0].Priority {
			return true
		}
	}
	return false
}

// sums is a room that counts.
type sums struct {
	free int
	need map[cluster.VJobID]int
}

// Take implements [queue.Capacity].
func (s *sums) Take(id cluster.VJobID) (bool, queue.Shortage) {
	if s.need[id] > s.free {
		return false, queue.Shortage{}
	}
	s.free -= s.need[id]
	return true, queue.Shortage{}
}
