package permit_test

import (
	"testing"
	"time"

	"vjob/repack"
	"vjob/repack/script"
	"vjob/scheduler/balance/permit"
)

// of is the permit of rules for VM0 to VM4, of which the first two run on N0, the next two on N1 and the last on N2; N3
// is empty.
func of(t *testing.T, rules string) *permit.Permit {
	t.Helper()
	in := &repack.Instance{Dims: []string{"cpu", "memory"}}
	for range 4 {
		in.Nodes = append(in.Nodes, repack.Node{Capacity: []int64{10, 10}})
	}
	for _, host := range []int{0, 0, 1, 1, 2} {
		in.VMs = append(in.VMs, repack.VM{State: repack.Running, Want: repack.Running, Host: host, Now: []int64{1, 1}, Next: []int64{1, 1}})
	}
	program, err := script.Compile("rules", rules, script.OfInstance(in, time.Second))
	if err != nil {
		t.Fatal(err)
	}
	posted, err := program.Rules(in)
	if err != nil {
		t.Fatal(err)
	}
	return permit.New(in, posted)
}

// Moves are refused by the rule that they would break, and by no other.
func TestCompatible(t *testing.T) {
	for _, c := range []struct {
		rules  string
		vms    []int
		node   int
		permit bool
	}{
		{"ban(VM0, N3);", []int{0}, 3, false},
		{"ban(VM0, N3);", []int{1}, 3, true},
		{"fence(VM0, {N0, N1});", []int{0}, 2, false},
		{"fence(VM0, {N0, N1});", []int{0}, 1, true},
		{"spread({VM0, VM2});", []int{0}, 1, false},
		{"spread({VM0, VM2});", []int{1}, 1, true},
		{"continuous spread({VM0, VM2});", []int{0}, 1, false},
		{"spread({VM0, VM1});", []int{0}, 3, true}, // it is broken now, and would not be
		{"gather({VM0, VM1});", []int{0}, 3, false},
		{"gather({VM0, VM1});", []int{0, 1}, 3, true},
		{"spread({VM0, VM1});", []int{0, 1}, 3, true}, // as broken as it is
		{"lonely({VM4});", []int{0}, 2, false},
		{"capacity({N1}, 2);", []int{0}, 1, false},
		{"capacity({N1}, 3);", []int{0}, 1, true},
		{"capacity({N1}, 3);", []int{0, 1}, 1, false},
		{"soft(3) ban(VM0, N3);", []int{0}, 3, false},
		{"maxOnline($ALL_NODES, 1);", []int{0}, 3, true},
	} {
		p := of(t, c.rules)
		for range 2 { // the question changes nothing
			if why := p.Compatible(c.vms, c.node); (why == "") != c.permit {
				t.Errorf("%s: %v to N%d: %q", c.rules, c.vms, c.node, why)
			}
		}
	}
	if p := of(t, "root(VM0);"); p.Fixed(0) == "" || p.Fixed(1) != "" {
		t.Errorf("root: %q and %q", p.Fixed(0), p.Fixed(1))
	}
}

// A permit follows moves, and those that are taken back. A continuous rule counts a VM on both nodes meanwhile.
func TestMoved(t *testing.T) {
	for rules, left := range map[string]bool{"spread({VM0, VM2, VM4});": true, "continuous spread({VM0, VM2, VM4});": false} {
		p := of(t, rules)
		p.Moved(0, 0, 3)
		if p.Compatible([]int{2}, 3) == "" || (p.Compatible([]int{2}, 0) == "") != left {
			t.Errorf("%s: after a move: %q, %q", rules, p.Compatible([]int{2}, 3), p.Compatible([]int{2}, 0))
		}
		p.Moved(0, 3, 0)
		if p.Compatible([]int{2}, 3) != "" || p.Compatible([]int{2}, 0) == "" {
			t.Errorf("%s: after the way back: %q, %q", rules, p.Compatible([]int{2}, 3), p.Compatible([]int{2}, 0))
		}
	}
}
