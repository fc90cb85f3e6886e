package replay

import (
	"container/heap"
	"slices"
	"time"

	"vjob/cluster"
	"vjob/sim/workload"
)

// comers are the jobs that are still to come: at their instants, or after others.
type comers struct {
	jobs  []workload.Job
	queue comerHeap
	after map[int][]int          // those that come after a job has ended
	of    map[cluster.VJobID]int // the job of which a vjob is, if others come after that
	open  map[int]int            // vjobs of such a job that have not ended
}

func newComers(w *workload.Workload) *comers {
	c := &comers{jobs: w.Jobs, after: map[int][]int{}, of: map[cluster.VJobID]int{}, open: map[int]int{}}
	for i := range w.Jobs {
		if f := w.Jobs[i].Follows; f != nil {
			c.after[f.On] = append(c.after[f.On], i)
		} else {
			c.queue = append(c.queue, comer{w.Jobs[i].At, i}) // which are in order
		}
	}
	return c
}

// next is when the next one comes, after the start; negative is that none is known to.
func (c *comers) next() time.Duration {
	if len(c.queue) == 0 {
		return -1
	}
	return c.queue[0].at
}

// due takes out those that have come.
func (c *comers) due(now time.Duration) (jobs []int) {
	for len(c.queue) > 0 && c.queue[0].at <= now {
		jobs = append(jobs, heap.Pop(&c.queue).(comer).job)
	}
	return jobs
}

// begun notes the vjobs of a job that was submitted.
func (c *comers) begun(job int, vjobs []*cluster.VJob) {
	if len(c.after[job]) == 0 {
		return
	}
	c.open[job] = len(vjobs)
	for _, v := range vjobs {
		c.of[v.ID] = job
	}
}

// gone notes the end of a vjob.
func (c *comers) gone(id cluster.VJobID, at time.Duration) {
	job, known := c.of[id]
	if !known {
		return
	}
	delete(c.of, id)
	if c.open[job]--; c.open[job] == 0 {
		c.ended(job, at)
	}
}

// ended lets those come who come after a job.
func (c *comers) ended(job int, at time.Duration) {
	for _, i := range c.after[job] {
		heap.Push(&c.queue, comer{at + c.jobs[i].Follows.Think, i})
	}
	delete(c.after, job)
}

// left are those that never come, in order.
func (c *comers) left() (jobs []int) {
	for _, list := range c.after {
		jobs = append(jobs, list...)
	}
	slices.Sort(jobs)
	return jobs
}

// comer is a job that comes at an instant after the start.
type comer struct {
	at  time.Duration
	job int // its place in the workload; of those that come together the first comes first
}

// comerHeap has the one that comes first on top.
type comerHeap []comer

func (h comerHeap) Len() int      { return len(h) }
func (h comerHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h comerHeap) Less(i, j int) bool {
	return h[i].at < h[j].at || h[i].at == h[j].at && h[i].job < h[j].job
}

// Push implements [heap.Interface].
func (h *comerHeap) Push(x any) { *h = append(*h, x.(comer)) }

// Pop implements [heap.Interface].
func (h *comerHeap) Pop() any {
	old := *h
	last := old[len(old)-1]
	*h = old[:len(old)-1]
	return last
}
