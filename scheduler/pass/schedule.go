package pass

import (
	"vjob/cluster"
	"vjob/queue"
	"vjob/queue/forecast"
)

// Scene is what a forecast of all vjobs starts from, given what was last decided of them.
// Its vjobs are in the order of the picture.
func (p *Picture) Scene(decided map[cluster.VJobID]queue.Verdict) *forecast.Scene {
	s := &forecast.Scene{Now: p.now, Strict: p.settings.Policy.Name() == queue.FCFS{}.Name()}
	for _, n := range p.intended.Nodes() {
		if n.Hosts() {
			s.Nodes = append(s.Nodes, n.Capacity)
			s.Total = s.Total.Plus(n.Capacity)
		}
	}
	counts := needs(p.intended)
	for i, at := range p.lined {
		job := p.job(i, at, counts)
		v, known := decided[job.ID]
		f := foreseen(&job, p.aside[job.ID] != "", v, known)
		if later, waits := p.Later[job.ID]; waits && !f.Runs {
			f.NotBefore, f.Stuck = later, false
		}
		s.Jobs = append(s.Jobs, f)
	}
	return s
}

// foreseen is what the forecast is told of a vjob.
func foreseen(j *queue.Job, aside bool, v queue.Verdict, decided bool) forecast.Job {
	f := forecast.Job{ID: j.ID, Need: j.Need, Reason: j.Reason}
	if decided && v.Reason != "" && (j.State.Ready() || v.Wish == queue.Run) {
		f.Reason = v.Reason
	}
	f.Left, f.Ends = j.Left()
	switch {
	case j.Busy:
		f.Runs, f.Stuck = j.Bound == queue.Run, j.Bound != queue.Run
	case j.State == cluster.Running:
		f.Runs = true
	default:
		f.Runs = decided && v.Wish == queue.Run
		f.Stuck = !f.Runs && (j.Held || j.Barred != "" || aside)
	}
	if j.State == cluster.Running {
		f.Since = j.Since
	}
	if j.State.Ready() && !f.Runs {
		f.Reserved = j.Reservation
	}
	return f
}
