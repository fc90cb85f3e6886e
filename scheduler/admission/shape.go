package admission

import (
	"fmt"

	"vjob/cluster"
)

// validateShapes checks each alternative as if it were the vjob.
func (s *Submission) validateShapes(b Limits, nodes []cluster.Node) error {
	if len(s.Shapes) == 0 {
		return nil
	}
	if s.Idempotent {
		return cluster.Fault("idempotent", "a vjob with alternatives cannot be tried again: another attempt has one shape")
	}
	for i, shape := range s.Shapes[1:] {
		if shape.Walltime <= 0 {
			return cluster.BadField(fmt.Sprintf("shapes[%d].walltime_seconds", i), shape.Walltime, "more than 0: the alternative that ends first is taken")
		}
		one := *s
		one.VMs, one.Walltime, one.Rules, one.Shapes = shape.VMs, shape.Walltime, shape.Rules, nil
		if err := one.Validate(b, nodes); err != nil {
			return cluster.WithPath(fmt.Sprintf("shapes[%d]", i), err)
		}
	}
	s.Shapes[0].VMs = s.VMs // with their images
	return nil
}
