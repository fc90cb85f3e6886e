package queue_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/queue"
)

// recorder refuses all vjobs and records the order in which they are tried.
type recorder struct{ ids *[]cluster.VJobID }

func (a recorder) Take(id cluster.VJobID) (bool, queue.Shortage) {
	*a.ids = append(*a.ids, id)
	return false, queue.Shortage{Limit: "none"} // so that none is the head
}

// Due vjobs pass all that are not due, but none of a queue with a higher priority: the same order
// as from swapping neighbours.
func TestDueWithinLevels(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 21))
	moved := 0
	for range 2000 {
		var jobs []queue.Job
		for id := range cluster.VJobID(1 + rng.IntN(9)) {
			j := queue.Job{VJob: &cluster.VJob{ID: id + 1, Submitted: noon, Walltime: time.Hour, Terms: &cluster.Terms{}}, Level: rng.IntN(4)}
			if rng.IntN(2) == 0 {
				j.Submitted = noon.Add(-2 * time.Hour)
			}
			jobs = append(jobs, j)
		}
		var got []cluster.VJobID
		queue.DynamicEASY{Due: 1}.Select(&queue.Input{Now: noon, Jobs: jobs, Capacity: func() queue.Capacity { return recorder{&got} }})
		want := forward(jobs)
		if !slices.Equal(got, want) {
			t.Fatalf("%v\nscanned as %v, want %v", jobs, got, want)
		}
		if !slices.IsSorted(want) {
			moved++
		}
	}
	if moved < 100 {
		t.Errorf("only %d queues were reordered", moved)
	}
}

// forward swaps neighbours as long as the second is due and may pass the first.
func forward(jobs []queue.Job) (ids []cluster.VJobID) {
	jobs = slices.Clone(jobs)
	due := func(j *queue.Job) bool { return j.Submitted.Before(noon) }
	for again := true; again; {
		again = false
		for i := 1; i < len(jobs); i++ {
			x, y := &jobs[i-1], &jobs[i]
			if due(y) && (x.Level < y.Level || x.Level == y.Level && !due(x)) {
				*x, *y, again = *y, *x, true
			}
		}
	}
	for i := range jobs {
		ids = append(ids, jobs[i].ID)
	}
	return ids
}
