package ctxswitch_test

import (
	"slices"
	"testing"

	"vjob/cluster"
	"vjob/ctxswitch"
)

// What an action waits for counts also if others are between them; what it does not wait for does not count.
func TestBefore(t *testing.T) {
	vm := func(id cluster.VJobID, rank int) cluster.VMID { return cluster.VMID{VJob: id, Rank: rank} }
	p := ctxswitch.Plan{Actions: []ctxswitch.Action{
		{ID: 0, Kind: cluster.Suspend, VM: vm(5, 0), From: "n1"},
		{ID: 1, Kind: cluster.Suspend, VM: vm(5, 1), From: "n1"},
		{ID: 2, Kind: cluster.Migrate, VM: vm(6, 0), From: "n2", To: "n1", After: []ctxswitch.ActionID{0, 1}},
		{ID: 3, Kind: cluster.Migrate, VM: vm(7, 0), From: "n3", To: "n1"},
		{ID: 4, Kind: cluster.Boot, VM: vm(8, 0), To: "n2", After: []ctxswitch.ActionID{2}},
		{ID: 5, Kind: cluster.Boot, VM: vm(8, 1), To: "n4", After: []ctxswitch.ActionID{4}},
	}}
	for _, c := range []struct {
		name  string
		some  func(a *ctxswitch.Action) bool
		moves []cluster.Move
		leave []cluster.VJobID
	}{
		{"a start", func(a *ctxswitch.Action) bool { return a.VM.VJob == 8 }, []cluster.Move{{VM: vm(6, 0), From: "n2", To: "n1"}}, []cluster.VJobID{5}},
		{"one VM", func(a *ctxswitch.Action) bool { return a.ID == 5 }, []cluster.Move{{VM: vm(6, 0), From: "n2", To: "n1"}}, []cluster.VJobID{5}},
		{"a move", func(a *ctxswitch.Action) bool { return a.ID == 2 }, nil, []cluster.VJobID{5}},
		{"nothing", func(a *ctxswitch.Action) bool { return a.ID == 3 }, nil, nil},
	} {
		if moves, leave := p.Before(c.some); !slices.Equal(moves, c.moves) || !slices.Equal(leave, c.leave) {
			t.Errorf("%s: %v, %v", c.name, moves, leave)
		}
	}
}
