package workload

import (
	"fmt"
	"time"

	"vjob/cluster"
	"vjob/scheduler/admission"
)

// work returns the VMs of a vjob and its walltime; the path is for errors.
type work func(path string) (vms []cluster.VM, walltime time.Duration, err error)

// addShapes adds the shapes of a moldable vjob to its submission. The first shape is the vjob itself.
func addShapes(path string, s *admission.Submission, works []work) error {
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
