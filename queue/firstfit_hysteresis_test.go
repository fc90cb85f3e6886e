package queue_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/queue"
)

// Random queues run for seconds with full capacity and changing needs. A vjob is suspended within
// its first minute only for one of a higher grade, for one that has waited for a minute, or because
// earlier running ones need more. The first of its grade runs within two minutes.
func TestHysteresis(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 5))
	const total = 12
	kept := 0
	for range 60 {
		var jobs []queue.Job
		need := map[cluster.VJobID]int{}
		for second := range 400 {
			now := noon.Add(time.Duration(second) * time.Second)
			if rng.IntN(6) == 0 && len(jobs) < 12 {
				id := cluster.VJobID(second + 1)
				jobs = append(jobs, queue.Job{VJob: &cluster.VJob{ID: id, Submitted: now, Priority: rng.IntN(2), Terms: &cluster.Terms{}}})
				need[id] = 1 + rng.IntN(total)
			}
			if len(jobs) > 0 && rng.IntN(4) == 0 {
				need[jobs[rng.IntN(len(jobs))].ID] = 1 + rng.IntN(total)
			}
			decide := func(p queue.FirstFit) []queue.Verdict {
				return p.Select(&queue.Input{Now: now, Jobs: jobs, Capacity: func() queue.Capacity { return &sums{free: total, need: need} }})
			}
			plain, verdicts := decide(queue.FirstFit{}), decide(queue.FirstFit{Hysteresis: time.Minute})
			before := 0 // needs of earlier vjobs that keep running
			for i, v := range verdicts {
				j := &jobs[i]
				if v.Target == queue.Suspend && now.Sub(j.Since) < time.Minute && !excused(jobs, verdicts, i, now) && before+need[j.ID] <= total {
					t.Fatalf("second %d: vjob %d is suspended %s after its start: %s", second, j.ID, now.Sub(j.Since), v.Reason)
				}
				if v.Target == queue.Run && j.State == cluster.Running {
					before += need[j.ID]
				}
				if v.Target == queue.Run && plain[i].Target == queue.Suspend {
					kept++
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
	if kept < 100 {
		t.Errorf("hysteresis avoided only %d suspensions", kept)
	}
}

// excused reports whether another vjob starts or goes on that may preempt a recent one.
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

// above reports whether any vjob has a higher priority than the first.
func above(jobs []queue.Job) bool {
	for i := range jobs {
		if jobs[i].Priority > jobs[0].Priority {
			return true
		}
	}
	return false
}

// sums is capacity in whole processors.
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
