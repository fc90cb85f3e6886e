package display_test

import (
	"testing"

	"vjob/api/wire"
	"vjob/cmd/vjob/display"
)

// A node that has less CPU than its VMs demand says so, beside its warnings; a problem comes first.
func TestCrowdedNodes(t *testing.T) {
	for _, c := range []struct {
		node wire.Node
		want string
	}{
		{wire.Node{CPUMilli: 4000, DemandCPUMilli: 4000}, "-"},
		{wire.Node{CPUMilli: 4000, DemandCPUMilli: 6500}, "crowded: its VMs demand 6.5 CPU"},
		{wire.Node{CPUMilli: 4000, DemandCPUMilli: 6500, Warnings: []string{"a", "b"}}, "crowded: its VMs demand 6.5 CPU; warning: a; b"},
		{wire.Node{CPUMilli: 4000, Warnings: []string{"a"}}, "warning: a"},
		{wire.Node{CPUMilli: 4000, DemandCPUMilli: 6500, Warnings: []string{"a"}, Problem: "not drained"}, "not drained"},
	} {
		if got := display.NodeProblem(&c.node); got != c.want {
			t.Errorf("%+v: %q, want %q", c.node, got, c.want)
		}
	}
}
