package backfill

import (
	"context"

	"vjob/cluster"
	"vjob/sim/swf"
)

// Result is what became of the jobs of a log under one policy.
type Result struct {
	Policy     string
	Processors int64
	Jobs       []swf.Job
	Starts     []Time // of each job
}

// end is when a job ends.
func (r *Result) end(i int) Time { return r.Starts[i].Plus(Time(r.Jobs[i].Run)) }

// every is how many instants pass between two looks at the context.
const every = 64

// Run replays the jobs of a log under a policy. It ends with the error of the context when
// that ends. It calls progress from time to time with the number of jobs that have started,
// the number of jobs, and the virtual time; progress may be nil.
func Run(ctx context.Context, log *swf.Log, policy string, progress func(started, all int, at Time)) (*Result, error) {
	d, err := New(policy, log.Processors)
	if err != nil {
		return nil, err
	}
	r := &run{
		discipline: d,
		result:     &Result{Policy: policy, Processors: log.Processors, Jobs: log.Jobs, Starts: make([]Time, len(log.Jobs))},
	}
	for step := 0; ; step++ {
		if step%every == 0 {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			if progress != nil {
				progress(r.started, len(log.Jobs), r.now)
			}
		}
		if !r.step() {
			return r.result, r.check()
		}
	}
}

// check is an error if a job never started: the times of the log are so long that
// together they have no end.
func (r *run) check() error {
	if left := len(r.result.Jobs) - r.started; left > 0 {
		return cluster.Fault("requested time", "%d jobs are never started, want times that add up to less than 2^63 seconds", left)
	}
	return nil
}

// run is a replay under way.
type run struct {
	discipline Discipline
	result     *Result
	now        Time
	submitted  int // jobs
	started    int
	ends       ends
	gone       []int64
	came       []Job
}

// step goes on to the next instant at which something happens; it is false when
// nothing does any more.
func (r *run) step() bool {
	jobs := r.result.Jobs
	next := r.discipline.Wake()
	if len(r.ends) > 0 {
		next = min(next, r.ends[0].at)
	}
	if r.submitted < len(jobs) {
		next = min(next, Time(jobs[r.submitted].Submit))
	}
	if next == Never {
		return false
	}
	r.now = next
	r.gone, r.came = r.gone[:0], r.came[:0]
	for len(r.ends) > 0 && r.ends[0].at == r.now {
		r.gone = append(r.gone, r.ends.pop())
	}
	for ; r.submitted < len(jobs) && Time(jobs[r.submitted].Submit) == r.now; r.submitted++ {
		j := &jobs[r.submitted]
		r.came = append(r.came, Job{ID: int64(r.submitted), Width: j.Processors, Length: Time(j.Walltime)})
	}
	for _, id := range r.discipline.Pass(r.now, r.gone, r.came) {
		r.result.Starts[id] = r.now
		r.ends.push(r.result.end(int(id)), id)
		r.started++
	}
	return true
}
