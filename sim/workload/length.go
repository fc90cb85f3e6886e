package workload

import (
	"fmt"
	"time"

	"vjob/cluster"
)

// Length returns the duration of a vjob of the job alone, with its VMs always satisfied, and
// at most its walltime. For a moldable vjob it is the duration of the shortest shape.
func (j *Job) Length() time.Duration {
	s := &j.Submission
	least := alone(s.VMs, s.Walltime)
	for _, shape := range s.Shapes {
		least = min(least, alone(shape.VMs, shape.Walltime))
	}
	return least
}

func alone(vms []cluster.VM, walltime time.Duration) time.Duration {
	ends := map[cluster.StepRef]time.Duration{}
	var last time.Duration
	for rank := range vms {
		if p := vms[rank].Work().Program; p != nil && len(p.Steps) > 0 {
			last = max(last, end(vms, ends, cluster.StepRef{Rank: rank, Index: len(p.Steps) - 1}))
		}
	}
	if walltime > 0 {
		return min(last, walltime)
	}
	return last
}

// end returns the end of a step: its duration after the previous step and the steps that it
// waits for. Readers of workloads exclude cycles.
func end(vms []cluster.VM, ends map[cluster.StepRef]time.Duration, at cluster.StepRef) time.Duration {
	if at.Index < 0 {
		return 0
	}
	if known, ok := ends[at]; ok {
		return known
	}
	step := &vms[at.Rank].Work().Program.Steps[at.Index]
	begin := end(vms, ends, cluster.StepRef{Rank: at.Rank, Index: at.Index - 1})
	for _, other := range step.After {
		begin = max(begin, end(vms, ends, other))
	}
	ends[at] = begin + step.Duration
	return ends[at]
}

// Describe returns the name of the job for messages.
func (j *Job) Describe() string {
	if j.Line > 0 {
		return fmt.Sprintf("vjob %s of line %d", j.Submission.Name, j.Line)
	}
	return "vjob " + j.Submission.Name
}
