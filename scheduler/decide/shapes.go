package decide

import (
	"time"

	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/ctxswitch/execute"
	"vjob/queue"
	"vjob/queue/availability"
)

// moldable reports whether a vjob may still change its shape: it has never started.
func moldable(r *execute.Report) bool {
	return len(r.Job.Shapes) > 1 && isApplicant(r) && r.Record.Incarnation == 0
}

// chooseShapes gives each moldable vjob the shape that ends first beside the vjobs before it.
// The shape becomes durable when the vjob starts.
func (v *View) chooseShapes() {
	last := -1
	for i := range v.VJobs {
		if moldable(&v.VJobs[i]) {
			last = i
		}
	}
	if last < 0 {
		return
	}
	gap := v.settings.Policy.Traits().Gap
	o := availabilityOf(v, gap)
	for i := range v.VJobs[:last+1] {
		r := &v.VJobs[i]
		if r.Bound == cluster.VMRunning || !r.Job.State.Ready() || r.Job.Held || !r.Job.Reservation.IsZero() {
			continue
		}
		shapes := []availability.Shape{{Need: r.Job.Reserved(), Length: r.Job.Walltime}}
		if moldable(r) {
			shapes = shapes[:0]
			for _, s := range r.Job.Shapes {
				shapes = append(shapes, availability.Shape{Need: cluster.Reserved(s.VMs), Length: s.Walltime})
			}
			best, start, ok := availability.ChooseShape(o, shapes, gap)
			if ok {
				o.Reserve(start, shapes[best].Need, shapes[best].Length+gap, true)
				v.chosenShapes[r.Job.ID] = best
				r.Job = r.Job.WithShape(best)
			}
			continue
		}
		job := queue.Job{VJob: r.Job, Ran: r.Ran, Gap: gap}
		left, ends := job.Left()
		if start, ok := o.Earliest(shapes[0].Need, left, ends, false); ok {
			o.Reserve(start, shapes[0].Need, left, ends)
		}
	}
}

// availabilityOf returns what is free beside running vjobs and reservations, with a gap after each.
func availabilityOf(v *View, gap time.Duration) *availability.Profile {
	o := availability.New(v.facts.Now, v.layout.total(), cluster.Resources{})
	for _, reserved := range []bool{false, true} {
		for i := range v.VJobs {
			r := &v.VJobs[i]
			job := queue.Job{VJob: r.Job, Ran: r.Ran, Gap: gap}
			left, ends := job.Left()
			switch runs := r.Bound == cluster.VMRunning; {
			case runs && !reserved:
				o.Occupy(r.Job.Reserved(), left, ends)
			case !runs && reserved && !r.Job.Reservation.IsZero() && r.Job.State.Ready():
				o.Book(r.Job.Reservation, r.Job.Reserved(), left)
			}
		}
	}
	return o
}

// startShapes returns the shapes in which a plan starts moldable vjobs.
func (a *attempt) startShapes(plan *ctxswitch.Plan) map[cluster.VJobID]int {
	starts := map[cluster.VJobID]int{}
	for _, g := range plan.Gangs {
		if shape, molded := a.chosenShapes[g.VJob]; molded && g.Kind == cluster.Boot {
			starts[g.VJob] = shape
		}
	}
	return starts
}
