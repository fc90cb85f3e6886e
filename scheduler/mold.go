package scheduler

import (
	"fmt"

	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/ctxswitch/execute"
	"vjob/queue"
	"vjob/queue/mold"
	"vjob/queue/outlook"
)

// validateShapes checks each alternative as if it were the vjob.
func (s *Submission) validateShapes(b Bounds, nodes []NodeStatus) error {
	if len(s.Shapes) == 0 {
		return nil
	}
	if s.Idempotent {
		return cluster.BadField("idempotent", true, "false beside shapes: another attempt has one shape")
	}
	for i, shape := range s.Shapes[1:] {
		if shape.Walltime <= 0 {
			return cluster.BadField(fmt.Sprintf("shapes[%d].walltime_seconds", i), shape.Walltime, "more than 0: the alternative that ends first is taken")
		}
		one := *s
		one.VMs, one.Walltime, one.Rules, one.Shapes = shape.VMs, shape.Walltime, shape.Rules, nil
		if err := one.Validate(b, nodes); err != nil {
			return cluster.Within(fmt.Sprintf("shapes[%d]", i), err)
		}
	}
	s.Shapes[0].VMs = s.VMs // with their images
	return nil
}

// moldable reports whether a vjob may still become another of its shapes: nothing was
// ever made of it.
func moldable(r *execute.Report) bool {
	return len(r.Job.Shapes) > 1 && applies(r) && r.Record.Incarnation == 0
}

// mold gives the moldable vjobs of a picture the shapes that end first, each beside those
// before it. They become durable when the vjobs start.
func (c *Core) mold(p *picture) {
	last := -1
	for i := range p.reports {
		if moldable(&p.reports[i]) {
			last = i
		}
	}
	if last < 0 {
		return
	}
	o := c.outlook(p)
	for i := range p.reports[:last+1] {
		r := &p.reports[i]
		if r.Bound == cluster.VMRunning || !r.Job.State.Ready() || r.Job.Held || !r.Job.Reservation.IsZero() {
			continue
		}
		shapes := []mold.Shape{{Need: r.Job.Reserved(), Length: r.Job.Walltime}}
		if moldable(r) {
			shapes = shapes[:0]
			for _, s := range r.Job.Shapes {
				shapes = append(shapes, mold.Shape{Need: cluster.Reserved(s.VMs), Length: s.Walltime})
			}
			best, start, ok := mold.Choose(o, shapes)
			if ok {
				o.Reserve(start, shapes[best].Need, shapes[best].Length, true)
				p.molded[r.Job.ID] = best
				r.Job = r.Job.As(best)
			}
			continue
		}
		job := queue.Job{VJob: r.Job, Ran: r.Ran}
		left, ends := job.Left()
		if start, ok := o.Earliest(shapes[0].Need, left, ends, false); ok {
			o.Reserve(start, shapes[0].Need, left, ends)
		}
	}
}

// outlook is what is free beside all that runs, and what is reserved.
func (c *Core) outlook(p *picture) *outlook.Outlook {
	var total cluster.Resources
	for _, n := range p.intended.Nodes() {
		if n.Hosts() {
			total = total.Plus(n.Capacity)
		}
	}
	o := outlook.New(p.now, total, cluster.Resources{})
	for _, reserved := range []bool{false, true} {
		for i := range p.reports {
			r := &p.reports[i]
			job := queue.Job{VJob: r.Job, Ran: r.Ran}
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

// reshape makes the shapes durable that vjobs have in a plan.
func (c *Core) reshape(p *picture, plan *ctxswitch.Plan) {
	for _, g := range plan.Gangs {
		shape, molded := p.molded[g.VJob]
		if !molded || g.Kind != cluster.Boot {
			continue
		}
		// The vjob is there and waits: the plan starts it.
		if err := c.exec.Reshape(c.now, g.VJob, shape); err != nil {
			panic(fmt.Sprintf("scheduler: broken invariant: %v", err))
		}
	}
}
