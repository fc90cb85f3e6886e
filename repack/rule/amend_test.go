package rule_test

import (
	"strings"
	"testing"

	"vjob/repack"
)

// posted are rules that are hard, unless the name begins with ~.
func posted(t *testing.T, in *repack.Instance, rules ...any) {
	t.Helper()
	for i := 0; i < len(rules); i += 2 {
		name, soft := strings.CutPrefix(rules[i].(string), "~")
		p := repack.Posted{Rule: made(t, in, name, false, rules[i+1].(map[string]any))}
		if soft {
			p.Penalty = 1
		}
		in.Rules = append(in.Rules, p)
	}
}

func TestWantsAreAmended(t *testing.T) {
	in := instanceOf(3, "0 1 - z2")
	posted(t, in,
		"~running", values{"vms": []int{0}}, "~online", values{"nodes": []int{0}},
		"ready", values{"vms": []int{0}}, "sleeping", values{"vms": []int{1}}, "killed", values{"vms": []int{2}},
		"running", values{"vms": []int{3}}, "ready", values{"vms": []int{0}},
		"offline", values{"nodes": []int{0}}, "online", values{"nodes": []int{1}}, "~offline", values{"nodes": []int{1, 2}})
	out, err := in.Amended()
	if err != nil {
		t.Fatal(err)
	}
	for vm, want := range []repack.VMState{repack.Ready, repack.Sleeping, repack.Killed, repack.Running} {
		if out.VMs[vm].Want != want {
			t.Errorf("VM %d: %s, want %s", vm, out.VMs[vm].Want, want)
		}
		if in.VMs[vm].Want != repack.Running {
			t.Errorf("VM %d of the instance itself has changed", vm)
		}
	}
	for n, want := range []repack.NodeState{repack.Offline, repack.Online, repack.Online} {
		if out.Nodes[n].Want != want || in.Nodes[n].Want != repack.Online {
			t.Errorf("node %d: %s, want %s", n, out.Nodes[n].Want, want)
		}
	}
}

func TestDemandsAndCapacitiesAreAmended(t *testing.T) {
	in := instanceOf(3, "0 1 2")
	in.VMs[1].Next = []int64{40}
	posted(t, in,
		"preserve", values{"vms": []int{0, 1}, "resource": "cpu", "amount": int64(30)},
		"~preserve", values{"vms": []int{2}, "resource": "cpu", "amount": int64(30)},
		"overbook", values{"nodes": []int{0, 1}, "resource": "cpu", "ratio": 1.15},
		"overbook", values{"nodes": []int{1}, "resource": "cpu", "ratio": 1.0},
		"overbook", values{"nodes": []int{1}, "resource": "cpu", "ratio": 3.0},
		"~overbook", values{"nodes": []int{2}, "resource": "cpu", "ratio": 0.5})
	out, err := in.Amended()
	if err != nil {
		t.Fatal(err)
	}
	for vm, want := range []int64{30, 40, 10} {
		if got := out.VMs[vm].Next[0]; got != want {
			t.Errorf("VM %d asks for %d, want %d", vm, got, want)
		}
	}
	for n, want := range []int64{115, 100, 100} {
		if got := out.Nodes[n].Capacity[0]; got != want {
			t.Errorf("node %d offers %d, want %d", n, got, want)
		}
	}
	if in.VMs[0].Next[0] != 10 || in.Nodes[0].Capacity[0] != 100 {
		t.Error("the instance itself has changed")
	}
}

func TestContradictions(t *testing.T) {
	for _, c := range []struct {
		name, want string
		rules      []any
	}{
		{
			"two states of a VM", "running({VM 0, VM 1}) and ready({VM 1}) contradict each other: VM 1 cannot end running and ready",
			[]any{"running", values{"vms": []int{0, 1}}, "ready", values{"vms": []int{1}}},
		},
		{
			"as the instance has it and otherwise", "sleeping({VM 1}) and running({VM 1}) contradict each other: VM 1 cannot end sleeping and running",
			[]any{"sleeping", values{"vms": []int{1}}, "running", values{"vms": []int{1}}},
		},
		{
			"two states of a node", "online({node 0}) and offline({node 0, node 1}) contradict each other: node 0 cannot end online and offline",
			[]any{"online", values{"nodes": []int{0}}, "offline", values{"nodes": []int{0, 1}}},
		},
		{"killed", "running({VM 2}): VM 2 is killed, that is for ever", []any{"running", values{"vms": []int{2}}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			in := instanceOf(2, "0 1 -")
			in.VMs[2].State = repack.Killed
			posted(t, in, c.rules...)
			if _, err := in.Amended(); err == nil || err.Error() != c.want {
				t.Errorf("got %v, want %s", err, c.want)
			}
			for i := range in.Rules {
				in.Rules[i].Penalty = 1
			}
			if _, err := in.Amended(); err != nil {
				t.Errorf("soft rules contradict nothing, but %v", err)
			}
		})
	}
}

// A rule on the end may be broken for as many penalties as it says breaches.
func TestSoftRulesCost(t *testing.T) {
	in := instanceOf(2, "0 0 0 1")
	posted(t, in, "~capacity", values{"nodes": []int{0}, "max": int64(1)}, "~spread", values{"vms": []int{0, 3}})
	in.Rules[0].Penalty = 7
	report, err := repack.Check(in, &repack.Plan{})
	if err != nil || !report.Valid() || report.Figures.Penalty != 14 || len(report.Broken) != 1 {
		t.Errorf("%+v, %v", report, err)
	}
}

// Growth waits for what leaves.
func TestResourceCapacityGate(t *testing.T) {
	in := instanceOf(2, "0 0")
	in.VMs[0].Next = []int64{30}
	b := newPostings(in)
	made(t, in, "resourceCapacity", true, values{"nodes": []int{0}, "resource": "cpu", "amount": int64(35)}).Post(b)
	s := newWatchedPlan(in, b.watches[0])
	g := b.gates[0]
	g.Begin([]int{0, 1})
	if g.May(0, repack.Allocate, 0) || !g.May(0, repack.Migrate, 0) {
		t.Error("grows while another is there")
	}
	s.start(1, 1)
	s.end(1)
	if !g.May(0, repack.Allocate, 1) {
		t.Error("does not grow with the other gone")
	}
}

// Many VMs in one small set of nodes: what counts them grows.
func TestCapacityOfMany(t *testing.T) {
	in := instanceOf(2, strings.Repeat("0 ", 500))
	b := newPostings(in)
	made(t, in, "capacity", true, values{"nodes": []int{1}, "max": int64(400)}).Post(b)
	w := b.watches[0]
	for vm := range in.VMs {
		if w.Admits(vm, 1) != (vm < 400) {
			t.Fatalf("VM %d", vm)
		}
		if vm < 400 {
			w.Come(vm, 1)
		}
	}
	for vm := range 400 {
		if !w.Admits(vm, 1) {
			t.Fatalf("VM %d is there, and may come to another of the nodes", vm)
		}
		w.Go(vm, 1)
		if !w.Admits(499, 1) {
			t.Fatalf("VM %d has gone", vm)
		}
	}
}
