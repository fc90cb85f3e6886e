package workload

import (
	"fmt"
	"time"

	"vjob/cluster"
	"vjob/scheduler/admission"
)

// work makes the VMs of a vjob, and says how long it may run; the path is for errors.
type work func(path string) (vms []cluster.VM, walltime time.Duration, err error)

// mold adds to a submission what the vjob may be instead. The first shape is what it is.
func mold(path string, s *admission.Submission, works []work) error {
	const want = "more than 0 beside shapes: the one that ends first is taken"
	if len(works) == 0 {
		return nil
	}
	if s.Walltime == 0 {
		return cluster.BadField(path+"walltime", 0, want)
	}
	s.Shapes = []cluster.Shape{{VMs: s.VMs, Walltime: s.Walltime}}
	for i, w := range works {
		at := fmt.Sprintf("%sshapes[%d].", path, i)
		vms, walltime, err := w(at)
		if err == nil && walltime == 0 {
			err = cluster.BadField(at+"walltime", 0, want)
		}
		if err != nil {
			return err
		}
		s.Shapes = append(s.Shapes, cluster.Shape{VMs: vms, Walltime: walltime})
	}
	return nil
}
