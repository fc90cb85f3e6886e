package admission_test

import (
	"testing"
	"time"

	"vjob/cluster"
	"vjob/scheduler/admission"
)

// Each alternative has to fit as if it were the vjob, and to end.
func TestShapesAreChecked(t *testing.T) {
	shape := func(vms int, walltime time.Duration) cluster.Shape {
		s := cluster.Shape{Walltime: walltime}
		for range vms {
			s.VMs = append(s.VMs, cluster.VM{Reserved: cluster.Resources{CPU: 2000, Memory: 512}})
		}
		return s
	}
	for _, c := range []struct {
		name   string
		second cluster.Shape
		want   string // the error
	}{
		{"good", shape(2, time.Minute), ""},
		{"too large", shape(4, time.Hour), "shapes[0].vms: 8 CPU, 2 GiB requested, the cluster has 6 CPU, 3 GiB"},
		{"no walltime", shape(2, 0), "shapes[0].walltime_seconds: 0s is not more than 0: the alternative that ends first is taken"},
	} {
		t.Run(c.name, func(t *testing.T) {
			first := shape(1, time.Hour)
			s := admission.Submission{Owner: "u", VMs: first.VMs, Walltime: first.Walltime}
			s.Shapes = []cluster.Shape{first, c.second}
			got := ""
			if err := s.Validate(bounds, house); err != nil {
				got = err.Error()
			}
			if got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}
