package replay

import (
	"context"
	"errors"
	"fmt"
	"time"

	"vjob/cluster"
	"vjob/scheduler/admission"
)

// serve submits the jobs at their times, and advances the time until every vjob has ended and
// is cleaned up, or will never end by itself.
func (r *run) serve(ctx context.Context) error {
	for {
		next, to := r.arrivals.next(), r.limit
		if next >= 0 {
			to = r.start.Add(next)
		}
		err := r.until(ctx, to, func(now time.Time) bool {
			return r.arrivals.next() != next || next < 0 && r.recorder.settled(now)
		})
		if err != nil {
			return err
		}
		for _, i := range r.arrivals.due(r.shell.Now().Sub(r.start)) {
			if err := r.submit(i); err != nil { //nolint:contextcheck // nothing in virtual time blocks
				return err
			}
		}
		if next < 0 && r.arrivals.next() < 0 {
			break
		}
	}
	for _, i := range r.arrivals.unreached() {
		s := &r.workload.Jobs[i].Submission
		r.recorder.refused(r.shell.Now(), s, fmt.Errorf("it comes after another vjob, which has never ended: %w", cluster.ErrConflict))
	}
	return nil
}

// submit submits a job as a user would. It records a refused job with the error.
func (r *run) submit(i int) error {
	w := r.workload
	s, err := w.Submission(i, r.start, r.numbers)
	if err == nil {
		err = s.Validate(r.options.Limits, nil)
	}
	var job *cluster.VJob
	fill(&s)
	if err == nil && !s.Reservation.IsZero() {
		err = r.shell.Confirm(s)
	}
	if err == nil {
		job, err = r.shell.Submit(s)
	}
	switch {
	case errors.Is(err, cluster.ErrInvalid) || errors.Is(err, cluster.ErrConflict):
		r.recorder.refused(r.shell.Now(), &s, err)
		r.arrivals.jobEnded(i, w.Jobs[i].At) // jobs that follow a refused job come at its time
		return nil
	case err != nil:
		return fmt.Errorf("submit %s: %w", w.Jobs[i].Describe(), err)
	}
	r.numbers[i] = job.ID
	vjobs := s.VJobs(job.ID)
	r.arrivals.submitted(i, vjobs)
	for _, one := range vjobs {
		one.Terms = job.Terms // with its queue and project
		r.recorder.submitted(r.shell.Now(), one, w.Jobs[i].Length())
	}
	return nil
}

// fill sets the image of VMs without one.
func fill(s *admission.Submission) {
	fill := func(vms []cluster.VM) {
		for k := range vms {
			if work := vms[k].Work(); work.Image == "" {
				work.Image = image
				vms[k].Payload = &work
			}
		}
	}
	fill(s.VMs)
	for _, shape := range s.Shapes {
		fill(shape.VMs)
	}
}
