package repack_test

import (
	"testing"

	"vjob/repack"
)

// Thesis table 8.3 and eq. 8.1: a suspend of 2, then a remote resume of 3 beside a
// migration of 5, then a migration of 1; a boot costs nothing but waits for the first.
func TestCost(t *testing.T) {
	vm := func(memory int64) repack.VM { return repack.VM{Next: []int64{1, memory}} }
	in := &repack.Instance{Dims: []string{"cpu", "mem"}, Nodes: make([]repack.Node, 3), VMs: []repack.VM{vm(2), vm(3), vm(5), vm(1), vm(9)}}
	plan := &repack.Plan{Actions: []repack.Action{
		{Kind: repack.Suspend, VM: 0, From: 0, To: repack.Nowhere},
		{Kind: repack.Resume, VM: 1, From: 1, To: 0, After: []int{0}},
		{Kind: repack.Migrate, VM: 2, From: 2, To: 1, After: []int{0}},
		{Kind: repack.Migrate, VM: 3, From: 0, To: 2, After: []int{1, 2}},
		{Kind: repack.Boot, VM: 4, From: repack.Nowhere, To: 0, After: []int{0}},
		{Kind: repack.NodeOff, VM: repack.Nowhere, From: repack.Nowhere, To: 2, After: []int{3}},
		{Kind: repack.Allocate, VM: 0, From: repack.Nowhere, To: 0},
	}}
	if got := in.Cost(plan); got != 2+(2+6)+(2+5)+(2+6+1)+2 {
		t.Errorf("cost %d", got)
	}
	plan.Actions[1].From = 0 // the image lies where it is resumed
	if got := in.Cost(plan); got != 2+(2+3)+(2+5)+(2+5+1)+2 {
		t.Errorf("cost %d with a local resume", got)
	}
}
