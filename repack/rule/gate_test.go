package rule_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"vjob/repack"
)

// What gates let start breaks nothing; and of what they hold back there is always
// one that may start, so that no schedule is stuck.
func TestGates(t *testing.T) {
	for _, name := range []string{"seq", "precedence", "serialize"} {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				in := drawn(t)
				to := make([]int, len(in.VMs))
				for vm := range to {
					v := &in.VMs[vm]
					to[vm] = repack.Nowhere
					if v.State == repack.Running && rapid.IntRange(0, 3).Draw(t, "stops") == 0 {
						v.Want = rapid.SampledFrom([]repack.VMState{repack.Ready, repack.Killed, repack.Sleeping}).Draw(t, "want")
					} else if v.Want == repack.Running {
						to[vm] = rapid.IntRange(0, len(in.Nodes)-1).Draw(t, "to")
					}
				}
				r := made(t, in, name, true, arguments(t, in, name))
				b := newPostings(in)
				r.Post(b)
				for range 2 { // the second schedule knows nothing of the first
					p := carryOut(t, in, b, steps(in, to))
					if found := breaches(t, in, r, p); len(found) > 0 {
						t.Fatalf("%s: %v: %v", r, p.Actions, found)
					}
				}
			})
		})
	}
}

// steps are the actions that lead to a placement, without times.
func steps(in *repack.Instance, to []int) []repack.Action {
	p := leading(in, to)
	for i := range p.Actions {
		a := &p.Actions[i]
		a.Start, a.End = 0, 0
		if a.Kind == repack.Shutdown && in.VMs[a.VM].Want == repack.Sleeping {
			a.Kind = repack.Suspend
		}
	}
	return p.Actions
}

// carryOut starts and ends actions at random as the gates allow.
func carryOut(t *rapid.T, in *repack.Instance, b *postings, list []repack.Action) *repack.Plan {
	to := make([]int, len(in.VMs))
	for vm := range to {
		to[vm] = repack.Nowhere
		if in.VMs[vm].Keeps() {
			to[vm] = in.VMs[vm].Host
		}
	}
	for _, a := range list {
		to[a.VM] = a.To
	}
	for _, g := range b.gates {
		g.Begin(to)
	}
	each := func(vm int, visit func(g gated)) {
		for _, g := range b.gates {
			if slices.Contains(g.vms, vm) {
				visit(g)
			}
		}
	}
	waits, under := numbers(len(list)), []int(nil)
	for now := repack.Ticks(0); len(waits)+len(under) > 0; now++ {
		var can []int
		for _, i := range waits {
			may := true
			each(list[i].VM, func(g gated) { may = may && g.May(list[i].VM, list[i].Kind, now) })
			if may {
				can = append(can, i)
			}
		}
		if len(can)+len(under) == 0 {
			t.Fatalf("stuck: %v", list)
		}
		if len(under) == 0 || len(can) > 0 && rapid.Bool().Draw(t, "start") {
			for range rapid.IntRange(0, 2).Draw(t, "undone") { // leaves no trace
				j := rapid.SampledFrom(can).Draw(t, "tried")
				each(list[j].VM, func(g gated) { g.Started(list[j].VM, list[j].Kind, now) })
				each(list[j].VM, func(g gated) { g.Undo(list[j].VM, list[j].Kind) })
			}
			i := rapid.SampledFrom(can).Draw(t, "next")
			list[i].Start = now
			waits, under = slices.DeleteFunc(waits, func(j int) bool { return j == i }), append(under, i)
			each(list[i].VM, func(g gated) { g.Started(list[i].VM, list[i].Kind, now) })
			continue
		}
		i := rapid.SampledFrom(under).Draw(t, "ends")
		list[i].End = now
		under = slices.DeleteFunc(under, func(j int) bool { return j == i })
		each(list[i].VM, func(g gated) { g.Ended(list[i].VM, list[i].Kind, now) })
	}
	return &repack.Plan{Actions: list}
}

// A VM that is suspended for a while changes its state twice, and no other VM does in between.
func TestSeqAndNaps(t *testing.T) {
	in := instanceOf(2, "0 - 0")
	r := made(t, in, "seq", true, map[string]any{"vms": []int{0, 1}})
	b := newPostings(in)
	r.Post(b)
	g := b.gates[0]
	g.Begin([]int{0, 1, 0})
	g.Started(0, repack.Suspend, 0)
	if g.May(1, repack.Boot, 0) {
		t.Error("boots while another is suspended")
	}
	g.Ended(0, repack.Suspend, 1)
	if g.May(1, repack.Boot, 1) {
		t.Error("boots while another sleeps")
	}
	g.Started(0, repack.Resume, 1)
	g.Ended(0, repack.Resume, 2)
	if !g.May(1, repack.Boot, 2) || !g.May(0, repack.Suspend, 2) {
		t.Error("waits for nothing")
	}
	g.Started(1, repack.Boot, 2)
	g.Ended(1, repack.Boot, 3)
	if g.May(0, repack.Suspend, 3) || !g.May(0, repack.Migrate, 3) {
		t.Error("only migrations have no order")
	}
}

// Once the other has started to migrate, the first one may not start any more.
func TestPrecedenceByAThirdNode(t *testing.T) {
	in := instanceOf(3, "0 1")
	r := made(t, in, "precedence", true, map[string]any{"first": 0, "then": 1})
	b := newPostings(in)
	r.Post(b)
	g := b.gates[0]
	g.Begin([]int{0, 2})
	if !g.May(1, repack.Migrate, 0) || !g.May(0, repack.Migrate, 0) {
		t.Error("the first one does not migrate, and yet is waited for")
	}
	g.Started(0, repack.Migrate, 0)
	if g.May(1, repack.Migrate, 0) {
		t.Error("the other does not wait")
	}
	g.Ended(0, repack.Migrate, 1)
	g.Started(1, repack.Migrate, 1)
	if g.May(0, repack.Migrate, 1) || !g.May(0, repack.Suspend, 1) {
		t.Error("the first one starts after the other")
	}
}

// What the rules on times tell a solver.
func TestTimesArePosted(t *testing.T) {
	in := instanceOf(4, "0 1 - z2")
	for _, c := range []struct {
		rule   string
		values map[string]any
		ok     func(b *postings) bool
	}{
		{"sync", map[string]any{"vms": []int{0, 1, 2}}, func(b *postings) bool { return slices.Equal(b.together, []string{"[0 1] false"}) }},
		{"syncEnd", map[string]any{"vms": []int{0, 1, 3}}, func(b *postings) bool { return slices.Equal(b.together, []string{"[0 1] true"}) }},
		{"sync", map[string]any{"vms": []int{0, 2}}, func(b *postings) bool { return slices.Equal(b.together, []string{"[0] false"}) }},
		{"sync", map[string]any{"vms": []int{2, 3}}, func(b *postings) bool { return len(b.together) == 0 }},
		{"noDelay", map[string]any{"vms": []int{2}}, func(b *postings) bool { return b.due[2] == [2]repack.Ticks{0, repack.Forever} }},
		{"deadline", map[string]any{"vms": []int{2}, "at": repack.Ticks(7)}, func(b *postings) bool { return b.due[2] == [2]repack.Ticks{repack.Forever, 7} }},
		{"root", map[string]any{"vms": []int{1}}, func(b *postings) bool { return b.root[1] && len(b.root) == 1 }},
		{"maxOnline", map[string]any{"nodes": []int{1, 2}, "max": int64(1)}, func(b *postings) bool { return slices.Equal(b.limit, []string{"[1 2] 1 true"}) }},
		{"running", map[string]any{"vms": []int{1}}, func(b *postings) bool { return b.String() == "0 guards, 0 watches, 0 gates" }},
		{"online", map[string]any{"nodes": []int{1}}, func(b *postings) bool { return b.String() == "0 guards, 0 watches, 0 gates" }},
	} {
		b := newPostings(in)
		made(t, in, c.rule, slices.Contains([]string{"maxOnline"}, c.rule), c.values).Post(b)
		if !c.ok(b) {
			t.Errorf("%s %v: posted %+v", c.rule, c.values, b)
		}
	}
}
