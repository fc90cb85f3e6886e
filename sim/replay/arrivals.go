package replay

import (
	"container/heap"
	"slices"
	"time"

	"vjob/cluster"
	"vjob/sim/workload"
)

// arrivals holds the jobs to submit: at their instants, or after the end of other jobs.
type arrivals struct {
	jobs  []workload.Job
	queue arrivalHeap
	after map[int][]int          // by job: the jobs to submit after its end
	of    map[cluster.VJobID]int // the job of a vjob, if other jobs follow that job
	open  map[int]int            // by such a job: its vjobs that have not ended
}

func newArrivals(w *workload.Workload) *arrivals {
	a := &arrivals{jobs: w.Jobs, after: map[int][]int{}, of: map[cluster.VJobID]int{}, open: map[int]int{}}
	for i := range w.Jobs {
		if f := w.Jobs[i].Follows; f != nil {
			a.after[f.On] = append(a.after[f.On], i)
		} else {
			a.queue = append(a.queue, arrival{w.Jobs[i].At, i}) // sorted, since the jobs are
		}
	}
	return a
}

// next returns the time of the next job since the start, or a negative number if none is known.
func (a *arrivals) next() time.Duration {
	if len(a.queue) == 0 {
		return -1
	}
	return a.queue[0].at
}

// due removes and returns the jobs to submit by now.
func (a *arrivals) due(now time.Duration) (jobs []int) {
	for len(a.queue) > 0 && a.queue[0].at <= now {
		jobs = append(jobs, heap.Pop(&a.queue).(arrival).job)
	}
	return jobs
}

// submitted records the vjobs of a submitted job.
func (a *arrivals) submitted(job int, vjobs []*cluster.VJob) {
	if len(a.after[job]) == 0 {
		return
	}
	a.open[job] = len(vjobs)
	for _, v := range vjobs {
		a.of[v.ID] = job
	}
}

// vjobEnded records the end of a vjob.
func (a *arrivals) vjobEnded(id cluster.VJobID, at time.Duration) {
	job, known := a.of[id]
	if !known {
		return
	}
	delete(a.of, id)
	if a.open[job]--; a.open[job] == 0 {
		a.jobEnded(job, at)
	}
}

// jobEnded schedules the jobs that follow a job.
func (a *arrivals) jobEnded(job int, at time.Duration) {
	for _, i := range a.after[job] {
		heap.Push(&a.queue, arrival{at + a.jobs[i].Follows.Think, i})
	}
	delete(a.after, job)
}

// unreached returns the jobs that are never submitted, in order.
func (a *arrivals) unreached() (jobs []int) {
	for _, list := range a.after {
		jobs = append(jobs, list...)
	}
	slices.Sort(jobs)
	return jobs
}

// arrival is a job with the time of its submission.
type arrival struct {
	at  time.Duration // since the start
	job int           // index in the workload, which breaks ties
}

// arrivalHeap is a heap of jobs, the earliest first.
type arrivalHeap []arrival

func (h arrivalHeap) Len() int      { return len(h) }
func (h arrivalHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h arrivalHeap) Less(i, j int) bool {
	return h[i].at < h[j].at || h[i].at == h[j].at && h[i].job < h[j].job
}

// Push implements [heap.Interface].
func (h *arrivalHeap) Push(x any) { *h = append(*h, x.(arrival)) }

// Pop implements [heap.Interface].
func (h *arrivalHeap) Pop() any {
	old := *h
	last := old[len(old)-1]
	*h = old[:len(old)-1]
	return last
}
