package workload

import (
	"cmp"
	"time"

	"vjob/cluster"
	"vjob/scheduler/admission"
)

// Submission returns the submission of a job in a workload that begins at an instant. numbers
// are the ids of the jobs before it, 0 for a refused one. It is an error, which names the
// field, if the job depends on a refused one.
func (w *Workload) Submission(job int, begin time.Time, numbers []cluster.VJobID) (admission.Submission, error) {
	j := &w.Jobs[job]
	s := j.Submission
	s.Terms = s.Clone()
	j.date(&s, begin)
	for _, link := range j.After {
		on := &w.Jobs[link.On].Submission
		first := numbers[link.On]
		if first == 0 {
			return s, cluster.BadField("after", on.Name, "a vjob that was not refused")
		}
		array := len(on.Array) > 0 && link.Index == 0
		s.After = append(s.After, cluster.Dependency{On: first + cluster.VJobID(max(0, link.Index-1)), When: link.When, Array: array})
	}
	if j.Inner != nil {
		if s.Inner = numbers[*j.Inner]; s.Inner == 0 {
			return s, cluster.BadField("inner", w.Jobs[*j.Inner].Submission.Name, "a container that was not refused")
		}
	}
	return s, nil
}

// date sets the instants of a submission in a workload that begins at begin.
func (j *Job) date(s *admission.Submission, begin time.Time) {
	for _, d := range []struct {
		after *time.Duration
		at    *time.Time
	}{{j.Deadline, &s.Deadline}, {j.Reserve, &s.Reservation}, {j.NotBefore, &s.NotBefore}, {j.NotAfter, &s.NotAfter}} {
		if d.after != nil {
			*d.at = begin.Add(*d.after)
		}
	}
}

// check validates a job as far as is possible without the cluster.
func (j *Job) check() error {
	s := j.Submission
	s.Rules = "" // they may name nodes
	j.date(&s, time.Unix(0, 0))
	if len(j.waits) > 0 {
		s.After = []cluster.Dependency{{On: 1}}
	}
	return s.Validate(admission.Limits{}, nil)
}

// VJobs counts the vjobs, with each vjob of an array.
func (w *Workload) VJobs() int {
	n := 0
	for i := range w.Jobs {
		n += cmp.Or(len(w.Jobs[i].Submission.Array), 1)
	}
	return n
}
