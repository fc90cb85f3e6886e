package backfill

// running is the jobs that run on a pool, and those that wait for it, for the
// disciplines that plan no further ahead than for the head of the queue.
type running struct {
	free    int64 // of the pool, now
	jobs    map[int64]stay
	waiting line
	started []int64 // in this pass
}

// stay is a job that runs.
type stay struct {
	width int64
	end   Time // by then
}

func newRunning(size int64) running { return running{free: size, jobs: map[int64]stay{}} }

// begin begins a pass; the places of the line may change.
func (r *running) begin() {
	r.started = r.started[:0]
	r.waiting.tidy()
}

// leave frees what a job has, and returns it, or takes the job out of the line.
func (r *running) leave(id int64) (s stay, ran bool) {
	if s, ran = r.jobs[id]; !ran {
		r.waiting.drop(id)
		return s, false
	}
	delete(r.jobs, id)
	r.free += s.width
	return s, true
}

// start starts the job at a place of the line.
func (r *running) start(place int, now Time) Job {
	j := r.waiting.jobs[place]
	r.waiting.remove(place)
	r.free -= j.Width
	r.jobs[j.ID] = stay{j.Width, now.Plus(j.Length)}
	r.started = append(r.started, j.ID)
	return j
}
