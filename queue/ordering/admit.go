package ordering

import (
	"fmt"

	"vjob/cluster"
	"vjob/queue/quota"
)

// Admit sets the queue and the project of a vjob, and returns why it cannot be submitted there: it exceeds
// the limits of the queue, or a quota would never allow it. The error names the field of the submission.
func (r *Settings) Admit(j *cluster.VJob) error {
	q, err := r.Queues.Route(j.Queue)
	if err != nil {
		return err
	}
	project, err := r.Projects.Route(j.Owner, j.Project)
	if err != nil {
		return err
	}
	terms := j.OwnTerms()
	terms.Queue, terms.Project = q.Name, project
	if err := r.admit(j); err != nil || len(j.Shapes) == 0 {
		return err
	}
	for i, s := range j.Shapes {
		shape := *j
		shape.VMs, shape.Walltime = s.VMs, s.Walltime
		if err := r.admit(&shape); err != nil {
			return cluster.WithPath(fmt.Sprintf("shapes[%d]", i), err)
		}
	}
	return nil
}

func (r *Settings) admit(j *cluster.VJob) error {
	need := j.Reserved()
	if err := r.Queues.of(j.Queue).Admit(len(j.VMs), need, j.Walltime); err != nil {
		return err
	}
	return r.Quotas.CheckFeasible(&quota.Job{
		ID: j.ID, Association: r.Association(j), VMs: len(j.VMs), Need: need, Left: j.Walltime, Ends: j.Walltime > 0,
	})
}
