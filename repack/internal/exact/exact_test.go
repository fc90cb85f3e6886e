package exact_test

import (
	"testing"

	"vjob/repack"
	"vjob/repack/internal/exact"
	"vjob/repack/internal/placement"
	"vjob/repack/internal/problem"
	"vjob/repack/rule"
)

// vm is a VM that runs and must end on some node.
func vm(host int, need int64, sleepable bool) repack.VM {
	return repack.VM{
		State: repack.Running, Want: repack.Running, Host: host, Now: []int64{need}, Next: []int64{need}, Weight: 1, Sleepable: sleepable,
		Takes: repack.Durations{Boot: 1, Shutdown: 2, Suspend: 4, ResumeLocal: 5, ResumeRemote: 6, Migrate: 3},
	}
}

// exchange has VMs of size 6 on nodes of size 10, each of which must end on the next node.
func exchange(t *testing.T, vms, nodes int, sleepable bool) *repack.Instance {
	t.Helper()
	in := &repack.Instance{Dims: []string{"mem"}, NodeOff: 1, NodeOn: 1}
	for range nodes {
		in.Nodes = append(in.Nodes, repack.Node{Capacity: []int64{10}})
	}
	fence, err := rule.Find("fence")
	if err != nil {
		t.Fatal(err)
	}
	for i := range vms {
		in.VMs = append(in.VMs, vm(i, 6, sleepable))
	}
	for i := range vms {
		r, err := fence.New(rule.Args{Instance: in, Values: map[string]any{"vms": []int{i}, "nodes": []int{(i + 1) % vms}}})
		if err != nil {
			t.Fatal(err)
		}
		in.Rules = append(in.Rules, repack.Posted{Rule: r})
	}
	return in
}

func TestSearch(t *testing.T) {
	for _, c := range []struct {
		name       string
		vms, nodes int
		sleepable  bool
		limit      int64
		steps      int
		cost       int64 // 0: none
		actions    int
		done       bool
	}{
		{name: "a swap by a third node", vms: 2, nodes: 3, limit: problem.Never, steps: exact.Steps, cost: 3 + 6 + 9, actions: 3, done: true},
		{name: "a cycle of three by a fourth node", vms: 3, nodes: 4, limit: problem.Never, steps: exact.Steps, cost: 3 + 6 + 9 + 12, actions: 4, done: true},
		{name: "a swap by a suspend", vms: 2, nodes: 2, sleepable: true, limit: problem.Never, steps: exact.Steps, cost: 4 + 7 + 13, actions: 3, done: true},
		{name: "no room to swap", vms: 2, nodes: 2, limit: problem.Never, steps: exact.Steps, done: true},
		{name: "nothing below the best", vms: 2, nodes: 3, limit: 18, steps: exact.Steps, done: true},
		{name: "too few steps", vms: 3, nodes: 4, limit: problem.Never, steps: 5},
	} {
		t.Run(c.name, func(t *testing.T) {
			in := exchange(t, c.vms, c.nodes, c.sleepable)
			m := problem.New(in, repack.Completion)
			if !exact.Small(m) {
				t.Fatal("not small")
			}
			r := exact.Search(placement.New(m), c.limit, c.steps)
			if r.Cost != c.cost || len(r.Actions) != c.actions || r.Done != c.done {
				t.Fatalf("got %+v", r)
			}
			if r.Actions == nil {
				return
			}
			report, err := repack.Check(in, &repack.Plan{Actions: r.Actions})
			if err != nil || !report.Valid() || report.Figures.Objective != c.cost {
				t.Errorf("%+v, %v", report, err)
			}
		})
	}
}

// VMs that get a place late may use the nodes that a rule misses: two VMs go, and no third one has to.
func TestRuleThatIsMended(t *testing.T) {
	in := &repack.Instance{Dims: []string{"mem"}, NodeOff: 1, NodeOn: 1}
	for range 4 {
		in.Nodes = append(in.Nodes, repack.Node{Capacity: []int64{10}})
	}
	in.VMs = []repack.VM{vm(0, 5, false), vm(0, 5, false), vm(1, 1, false), vm(1, 1, false)}
	in.Nodes[1].Want = repack.Offline
	spread, err := rule.Find("mostlySpread")
	if err != nil {
		t.Fatal(err)
	}
	r, err := spread.New(rule.Args{Instance: in, Values: map[string]any{"vms": []int{0, 1, 2, 3}, "min": int64(3)}})
	if err != nil {
		t.Fatal(err)
	}
	in.Rules = []repack.Posted{{Rule: r}}
	got := exact.Search(placement.New(problem.New(in, repack.Completion)), problem.Never, exact.Steps)
	if got.Cost != 6 || !got.Done {
		t.Errorf("got %+v", got)
	}
}

// Other objectives and many nodes are not for it.
func TestSmall(t *testing.T) {
	in := exchange(t, 2, 3, false)
	if exact.Small(problem.New(in, repack.Makespan)) {
		t.Error("makespan: small")
	}
	in.Nodes = append(in.Nodes, in.Nodes...)
	in.Nodes = append(in.Nodes, in.Nodes...)
	if exact.Small(problem.New(in, repack.Completion)) {
		t.Error("12 nodes: small")
	}
}
