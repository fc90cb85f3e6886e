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

// What could never start beside the room that is kept for lost nodes is refused; a reservation starts whatever is left.
func TestFailoverLimitsSubmissions(t *testing.T) {
	for _, c := range []struct {
		vms, lost int
		at        time.Time
		want      string
	}{
		{3, 0, time.Time{}, ""},
		{2, 1, time.Time{}, ""},
		{3, 1, time.Time{}, "vms: 6 CPU, 1.5 GiB requested, the cluster has 4 CPU, 2 GiB beside what it keeps for the loss of a node (policy.failover)"},
		{3, 1, time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC), ""},
	} {
		s := admission.Submission{Owner: "u"}
		s.Reservation, s.Walltime = c.at, time.Hour
		for range c.vms {
			s.VMs = append(s.VMs, cluster.VM{Reserved: cluster.Resources{CPU: 2000, Memory: 512}})
		}
		limits, nodes := bounds, []cluster.Node{}
		limits.Failover = c.lost
		for _, id := range []cluster.NodeID{"n1", "n2", "n3"} {
			nodes = append(nodes, cluster.Node{ID: id, Capacity: cluster.Resources{CPU: 2000, Memory: 1024}})
		}
		got := ""
		if err := s.Validate(limits, nodes); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%d VMs, %d lost: %q, want %q", c.vms, c.lost, got, c.want)
		}
	}
}
