package planted_test

import (
	"testing"

	"vjob/tests/planted"
)

// In a planted problem no node is over capacity at first, and the final packing is as full as
// requested.
func TestPlanted(t *testing.T) {
	in := planted.New(planted.Options{Nodes: 50, Fill: 1, Seed: 3})
	if err := in.Validate(); err != nil {
		t.Fatal(err)
	}
	if over := in.Overloaded(); len(over) > 0 {
		t.Errorf("nodes %v are overloaded at first", over)
	}
	for d := range in.Dims {
		var asked, has int64
		for vm := range in.VMs {
			asked += in.VMs[vm].Next[d]
		}
		for n := range in.Nodes {
			has += in.Nodes[n].Capacity[d]
		}
		if asked != has {
			t.Errorf("%d of %d %s are asked for", asked, has, in.Dims[d])
		}
	}
}
