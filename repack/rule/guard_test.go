package rule_test

import (
	"testing"

	"pgregory.net/rapid"

	"vjob/repack"
	"vjob/repack/rule"
)

// withGuard are the rules with a guard as discrete form.
var withGuard = []string{
	"spread", "gather", "lonely", "capacity", "among", "split", "splitAmong", "mostlySpread", "resourceCapacity", "maxOnline",
}

// subset draws some of 0..n-1 in any order, at least one.
func subset(t *rapid.T, n int, label string) []int {
	list := rapid.Permutation(numbers(n)).Draw(t, label)
	return list[:rapid.IntRange(1, n).Draw(t, label+" size")]
}

func numbers(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}

// sets draws disjoint sets of 0..n-1.
func sets(t *rapid.T, n int, label string) [][]int {
	var list [][]int
	for rest := subset(t, n, label); len(rest) > 0; {
		k := rapid.IntRange(1, len(rest)).Draw(t, "part")
		list, rest = append(list, rest[:k]), rest[k:]
	}
	return list
}

// arguments draws what a rule of the kind may take.
func arguments(t *rapid.T, in *repack.Instance, name string) map[string]any {
	k, err := rule.Find(name)
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]any{}
	for _, p := range k.Params {
		switch p.Type {
		case rule.VMs:
			values[p.Name] = subset(t, len(in.VMs), p.Name)
		case rule.Nodes:
			values[p.Name] = subset(t, len(in.Nodes), p.Name)
		case rule.VMSets:
			values[p.Name] = sets(t, len(in.VMs), p.Name)
		case rule.NodeSets:
			values[p.Name] = sets(t, len(in.Nodes), p.Name)
		case rule.VM:
			values[p.Name] = rapid.IntRange(0, len(in.VMs)-1).Draw(t, p.Name)
		case rule.Number, rule.Amount:
			most := int64(4)
			if p.Name == "amount" {
				most = 60
			}
			values[p.Name] = rapid.Int64Range(0, most).Draw(t, p.Name)
		case rule.Resource:
			values[p.Name] = "cpu"
		case rule.Ratio:
			values[p.Name] = rapid.Float64Range(0.5, 2).Draw(t, p.Name)
		case rule.Time:
			values[p.Name] = repack.Ticks(rapid.IntRange(0, 20).Draw(t, p.Name))
		}
	}
	return values
}

// drawn is an instance with a few VMs in any state, that are all to run unless
// they sleep and are to.
func drawn(t *rapid.T) *repack.Instance {
	in := instanceOf(rapid.IntRange(2, 5).Draw(t, "nodes"), "")
	for range rapid.IntRange(2, 7).Draw(t, "vms") {
		need := rapid.Int64Range(0, 20).Draw(t, "need")
		v := repack.VM{
			State: rapid.SampledFrom([]repack.VMState{repack.Ready, repack.Running, repack.Running, repack.Sleeping}).Draw(t, "state"),
			Host:  repack.Nowhere, Want: repack.Running, Now: []int64{need}, Next: []int64{need}, Weight: 1,
		}
		if v.State != repack.Ready {
			v.Host = rapid.IntRange(0, len(in.Nodes)-1).Draw(t, "host")
		}
		if v.State == repack.Sleeping && rapid.Bool().Draw(t, "sleeps on") {
			v.Want = repack.Sleeping
		}
		in.VMs = append(in.VMs, v)
	}
	return in
}

// leading is a plan that has each VM end where it should; those that should be
// nowhere are shut down, or left alone.
func leading(in *repack.Instance, at []int) *repack.Plan {
	p := &repack.Plan{}
	for vm, to := range at {
		v := &in.VMs[vm]
		a := repack.Action{VM: vm, From: v.Host, To: to, Start: 0, End: 1}
		switch {
		case to == repack.Nowhere && v.State == repack.Running:
			a.Kind = repack.Shutdown
		case to == repack.Nowhere || v.State == repack.Running && to == v.Host:
			continue
		case v.State == repack.Running:
			a.Kind = repack.Migrate
		case v.State == repack.Sleeping:
			a.Kind = repack.Resume
		default:
			a.Kind = repack.Boot
		}
		p.Actions = append(p.Actions, a)
	}
	return p
}

// judged is how many breaches the check finds if the VMs end there. Nodes that may
// be switched off and hold nothing are.
func judged(t *rapid.T, in *repack.Instance, r repack.Rule, at []int) int {
	p := leading(in, at)
	holds := make([]bool, len(in.Nodes))
	for vm, n := range at {
		if n != repack.Nowhere {
			holds[n] = true
		} else if in.VMs[vm].Want == repack.Sleeping {
			holds[in.VMs[vm].Host] = true
		}
	}
	for n, held := range holds {
		if in.Nodes[n].Want == repack.AnyState && !held {
			p.Actions = append(p.Actions, repack.Action{Kind: repack.NodeOff, VM: repack.Nowhere, From: repack.Nowhere, To: n, Start: 1, End: 2})
		}
	}
	line, faults := repack.Trace(in, p)
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	final, _ := count(r.Check(line))
	return final
}

// The count of a guard is what the check finds, a delta is how that will change, and
// moves can be undone. So the count is 0 just when the check finds nothing.
func TestGuards(t *testing.T) {
	for _, name := range withGuard {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				in := drawn(t)
				for n := range in.Nodes {
					in.Nodes[n].Want = rapid.SampledFrom([]repack.NodeState{repack.Online, repack.AnyState}).Draw(t, "want")
				}
				r := made(t, in, name, false, arguments(t, in, name))
				b := newPostings(in)
				r.Post(b)
				if len(b.guards) != 1 || len(b.watches) > 0 {
					t.Fatalf("posted %s", b)
				}
				wander(t, in, r, b.guards[0])
			})
		})
	}
}

// wander moves VMs about and compares.
func wander(t *rapid.T, in *repack.Instance, r repack.Rule, g guarded) {
	at := make([]int, len(in.VMs))
	for vm := range at {
		at[vm] = repack.Nowhere
	}
	before := judged(t, in, r, at)
	if _, ok := r.(repack.Amender); ok {
		t.Fatal("amends")
	}
	start := before
	total := 0
	shift := func(vm, to int) {
		from := at[vm]
		d := 0
		if concerns(g.Scope, vm, from, to) {
			if d = g.Delta(vm, from, to); d != g.Delta(vm, from, to) {
				t.Fatal("a delta changes something")
			}
			g.Move(vm, from, to)
		}
		if _, mendable := r.(interface{ Mendable() }); from == repack.Nowhere && d < 0 && !mendable {
			t.Fatalf("VM %d mends %d breaches by coming to %d; at %v", vm, -d, to, at)
		}
		at[vm] = to
		total += d
		if after := judged(t, in, r, at); after-before != d || after != start+total {
			t.Fatalf("VM %d from %d to %d: delta %d, but %d breaches become %d; at %v", vm, from, to, d, before, after, at)
		} else {
			before = after
		}
	}
	for range rapid.IntRange(1, 25).Draw(t, "moves") {
		vm := rapid.IntRange(0, len(at)-1).Draw(t, "vm")
		if in.VMs[vm].Want != repack.Running {
			continue
		}
		back := at[vm]
		shift(vm, rapid.IntRange(-1, len(in.Nodes)-1).Draw(t, "to"))
		if rapid.Bool().Draw(t, "undo") {
			shift(vm, back)
		}
	}
}

// Rules on single VMs take nodes from the choice: what is left is what the check
// has nothing against.
func TestChoices(t *testing.T) {
	for _, name := range []string{"ban", "fence", "quarantine"} {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				in := drawn(t)
				r := made(t, in, name, rapid.Bool().Draw(t, "continuous"), arguments(t, in, name))
				b := newPostings(in)
				r.Post(b)
				at, barred := make([]int, len(in.VMs)), false
				for vm := range at {
					at[vm] = repack.Nowhere
					if in.VMs[vm].Want == repack.Running {
						at[vm] = rapid.IntRange(0, len(in.Nodes)-1).Draw(t, "to")
						barred = barred || b.bars(vm, at[vm], false)
					}
				}
				line, _ := repack.Trace(in, leading(in, at))
				if found := r.Check(line); barred != (len(found) > 0) {
					t.Fatalf("%s: barred %t, but the check finds %v", r, barred, found)
				}
			})
		})
	}
}

// some are arguments for eight VMs and eight nodes.
func some() map[string]map[string]any {
	return map[string]map[string]any{
		"spread": {"vms": numbers(8)}, "gather": {"vms": numbers(8)}, "lonely": {"vms": []int{0, 1}},
		"capacity": {"nodes": numbers(4), "max": int64(3)}, "among": {"vms": numbers(8), "groups": [][]int{{0, 1, 2}, {3, 4}}},
		"split":            {"sets": [][]int{{0, 1}, {2, 3}, {4, 5, 6, 7}}},
		"splitAmong":       {"sets": [][]int{{0, 1, 2, 3}, {4, 5, 6, 7}}, "groups": [][]int{{0, 1, 2}, {3, 4}}},
		"mostlySpread":     {"vms": numbers(8), "min": int64(3)},
		"resourceCapacity": {"nodes": numbers(4), "resource": "cpu", "amount": int64(30)},
		"maxOnline":        {"nodes": numbers(8), "max": int64(3)},
	}
}

// Nothing is allocated on the way.
func TestGuardsDoNotAllocate(t *testing.T) {
	in, all := instanceOf(8, "0 1 2 3 4 5 6 7"), some()
	for _, name := range withGuard {
		b := newPostings(in)
		made(t, in, name, false, all[name]).Post(b)
		g := b.guards[0]
		if n := testing.AllocsPerRun(20, func() {
			for vm := range 8 {
				g.Delta(vm, repack.Nowhere, vm/2)
				g.Move(vm, repack.Nowhere, vm/2)
			}
			for vm := range 8 {
				g.Delta(vm, vm/2, repack.Nowhere)
				g.Move(vm, vm/2, repack.Nowhere)
			}
		}); n > 0 {
			t.Errorf("%s allocates %v times", name, n)
		}
	}
}

func BenchmarkDelta(b *testing.B) {
	in, all := instanceOf(8, "0 1 2 3 4 5 6 7"), some()
	for _, name := range withGuard {
		b.Run(name, func(b *testing.B) {
			board := newPostings(in)
			made(b, in, name, false, all[name]).Post(board)
			g := board.guards[0]
			for vm := range 8 {
				g.Move(vm, repack.Nowhere, vm/2)
			}
			for i := 0; b.Loop(); i++ {
				g.Delta(i&7, (i&7)/2, i>>3&7)
			}
		})
	}
}
