package solve_test

import (
	"slices"
	"strings"

	"vjob/repack"
)

// brute tries every plan of a tiny problem: every way for each VM, of two actions at
// most, every start of each, every time at which nodes are switched and VMs that
// stay change. What is a plan, and what it costs, [repack.Check] says.
type brute struct {
	in       *repack.Instance // amended
	aim      repack.Objective
	limit    int64 // only plans that cost less are looked for
	horizon  repack.Ticks
	switches bool // nodes may be switched at any time
	left     int  // how many plans may still be looked at
	steps    int  // how many times may still be tried
	actions  []repack.Action
	found    *repack.Plan
}

// How many plans are looked at, and times for actions tried, before it is given up.
const (
	mostPlans = 20_000
	maxSteps  = 200_000
)

// cheaper looks for a plan that costs less. Not done: there were too many.
func cheaper(in *repack.Instance, aim repack.Objective, limit int64) (p *repack.Plan, done bool) {
	in, err := in.Amended()
	if err != nil {
		return nil, true
	}
	b := &brute{in: in, aim: aim, limit: limit, left: mostPlans, steps: maxSteps, horizon: in.NodeOn + in.NodeOff}
	for vm := range in.VMs {
		t := in.VMs[vm].Takes
		longest := max(t.Boot, t.Shutdown, t.Suspend+t.ResumeRemote, t.ResumeRemote, 2*t.Migrate)
		if in.Network != nil || in.LimitsTransfers() {
			for _, way := range rated(in, vm) {
				if len(way) == 0 {
					continue
				}
				longest = max(longest, way[0].End+way[len(way)-1].End)
			}
		}
		b.horizon += longest
	}
	for n := range in.Nodes {
		for _, until := range in.Nodes[n].Busy {
			b.horizon += until
		}
	}
	b.switches = slices.ContainsFunc(in.Rules, func(r repack.Posted) bool { return len(r.String()) > 9 && r.String()[:9] == "maxOnline" })
	b.choose(0)
	return b.found, b.found != nil || b.left > 0 && b.steps > 0
}

// worth is what a plan costs.
func worth(aim repack.Objective, f repack.Figures) int64 {
	switch aim {
	case repack.Makespan:
		return int64(f.Makespan) + f.Penalty
	case repack.Migrations:
		return int64(f.Migrations) + f.Penalty
	default:
		return f.Objective + f.Penalty
	}
}

// least is what an action adds to the cost of a plan that has cost so much already.
func (b *brute) least(sum int64, a repack.Action) int64 {
	switch {
	case b.aim == repack.Makespan:
		return max(sum, int64(a.End))
	case b.aim == repack.Migrations && a.Kind == repack.Migrate:
		return sum + 1
	case b.aim == repack.Migrations:
		return sum
	default:
		return sum + int64(a.End)*b.in.VMs[a.VM].Weight
	}
}

func (b *brute) over() bool { return b.found != nil || b.left <= 0 || b.steps <= 0 }

// choose decides on the ways of VMs from one on: first what is done, at the earliest.
func (b *brute) choose(vm int) {
	if b.over() || b.cost() >= b.limit {
		return
	}
	if vm == len(b.in.VMs) {
		b.time(0, 0)
		return
	}
	for _, way := range append(rated(b.in, vm), still(b.in, vm)...) {
		mark := len(b.actions)
		var clock repack.Ticks
		for _, a := range way {
			a.Start, a.End = clock, clock+a.End
			clock = a.End
			b.actions = append(b.actions, a)
		}
		b.choose(vm + 1)
		b.actions = b.actions[:mark]
	}
}

func (b *brute) cost() (sum int64) {
	for _, a := range b.actions {
		sum = b.least(sum, a)
	}
	return sum
}

// ways are the lists of actions with which a VM may become what it shall be. The
// ends are how long they take.
func ways(in *repack.Instance, vm int) (list [][]repack.Action) {
	v := &in.VMs[vm]
	act := func(k repack.Kind, from, to int, takes repack.Ticks) repack.Action {
		return repack.Action{Kind: k, VM: vm, From: from, To: to, End: takes}
	}
	onward := func(way []repack.Action) { // and perhaps one migration more
		list = append(list, way)
		at := way[len(way)-1].To
		for n := range in.Nodes {
			if n != at {
				list = append(list, append(slices.Clone(way), act(repack.Migrate, at, n, v.Takes.Migrate)))
			}
		}
	}
	switch {
	case v.State == v.Want && (v.State != repack.Running || v.Stays):
		return [][]repack.Action{nil}
	case v.Keeps():
		list = append(list, nil)
		for n := range in.Nodes {
			if n != v.Host {
				onward([]repack.Action{act(repack.Migrate, v.Host, n, v.Takes.Migrate)})
			}
			if v.Sleepable && (n == v.Host || !rooted(in, vm)) {
				resume := repack.VM{State: repack.Sleeping, Host: v.Host, Takes: v.Takes}
				list = append(list, []repack.Action{
					act(repack.Suspend, v.Host, repack.Nowhere, v.Takes.Suspend), act(repack.Resume, v.Host, n, resume.DurationTo(n)),
				})
			}
		}
	case v.Comes() && v.State != repack.Killed:
		kind := repack.Boot
		if v.State == repack.Sleeping {
			kind = repack.Resume
		}
		for n := range in.Nodes {
			onward([]repack.Action{act(kind, v.Host, n, v.DurationTo(n))})
		}
	case v.State == repack.Running && v.Want == repack.Sleeping:
		list = append(list, []repack.Action{act(repack.Suspend, v.Host, repack.Nowhere, v.Takes.Suspend)})
	case v.State == repack.Running:
		list = append(list, []repack.Action{act(repack.Shutdown, v.Host, repack.Nowhere, v.Takes.Shutdown)})
	}
	return list
}

// still is the way of a VM that does nothing, if it may.
func still(in *repack.Instance, vm int) (list [][]repack.Action) {
	return slices.DeleteFunc(ways(in, vm), func(way []repack.Action) bool { return len(way) > 0 })
}

// rated are the ways of a VM that does something, with every rate of its transfers
// that makes a difference, up to three times as long as at the best.
func rated(in *repack.Instance, vm int) (list [][]repack.Action) {
	for _, way := range ways(in, vm) {
		if len(way) == 0 {
			continue
		}
		some := [][]repack.Action{nil}
		for _, a := range way {
			var more [][]repack.Action
			for _, before := range some {
				for _, b := range append(paced(in, a), waiting(in, a)...) {
					more = append(more, append(slices.Clone(before), b))
				}
			}
			some = more
		}
		list = append(list, some...)
	}
	return list
}

// paced is an action at each of its rates.
func paced(in *repack.Instance, a repack.Action) (list []repack.Action) {
	t := in.Transfer(a.VM, a.Kind, a.From, a.To)
	if t.Amount == 0 {
		return []repack.Action{a}
	}
	rate := int64(1 << 40)
	for _, l := range in.AppendCrossed(nil, a.From, a.To) {
		rate = min(rate, in.Bandwidth(l))
	}
	best := t.Lasts(rate)
	for ; rate > 0; rate-- {
		takes := t.Lasts(rate)
		if takes > 3*best || takes == repack.Forever {
			break
		}
		if rate == 1 || t.Lasts(rate-1) != takes {
			a.Rate, a.End = rate, takes
			list = append(list, a)
		}
	}
	return list
}

// waiting is an action of a gang that waits for a transfer slot, so long as two others may take.
func waiting(in *repack.Instance, a repack.Action) (list []repack.Action) {
	together := a.Kind == repack.Suspend || a.Kind == repack.Resume || a.Kind == repack.Migrate && in.VMs[a.VM].Paused
	if !together || !in.LimitsTransfers() || !slices.ContainsFunc(in.Gangs, func(vms []int) bool { return slices.Contains(vms, a.VM) }) {
		return nil
	}
	for range 6 {
		a.End++
		list = append(list, a)
	}
	return list
}

// rooted reports whether a hard rule keeps the VM where it is; that it could sleep
// and be resumed elsewhere is not meant.
func rooted(in *repack.Instance, vm int) bool {
	return slices.ContainsFunc(in.Rules, func(r repack.Posted) bool {
		text := r.String()
		return r.Penalty == 0 && strings.HasPrefix(text, "root(") && strings.Contains(strings.ReplaceAll(text, "}", ","), in.VMName(vm)+",")
	})
}

// time decides when actions from one on start. The cost is that of those before.
func (b *brute) time(i int, cost int64) {
	if b.over() || cost >= b.limit {
		return
	}
	if i == len(b.actions) {
		b.power(0, nil)
		return
	}
	before := b.actions[i]
	takes := before.End - before.Start
	var first repack.Ticks
	if i > 0 && b.actions[i-1].VM == before.VM {
		first = b.actions[i-1].End
	}
	for at := first; at+takes <= b.horizon; at++ {
		b.steps--
		b.actions[i].Start, b.actions[i].End = at, at+takes
		after := b.least(cost, b.actions[i])
		rest := after
		for _, a := range b.actions[i+1:] {
			rest = b.least(rest, a) // at its earliest
		}
		if rest >= b.limit {
			break
		}
		b.time(i+1, after)
	}
	b.actions[i] = before
}

// power decides when nodes from one on are switched, if they are.
func (b *brute) power(n int, switched []repack.Action) {
	if b.over() {
		return
	}
	if n == len(b.in.Nodes) {
		b.change(0, slices.Concat(b.actions, switched))
		return
	}
	node := &b.in.Nodes[n]
	if node.Want == repack.AnyState || node.State == node.Want {
		b.power(n+1, switched)
	}
	kind, takes := repack.NodeOff, b.in.NodeOff
	if node.State == repack.Offline {
		kind, takes = repack.NodeOn, b.in.NodeOn
	}
	if node.State == node.Want || node.State == repack.Online && node.Want == repack.AnyState && !b.switches {
		return
	}
	first, last := repack.Ticks(0), repack.Ticks(0)
	for _, a := range b.actions {
		if kind == repack.NodeOff && a.From != repack.Nowhere {
			last = max(last, a.End) // and those of its gang
		}
	}
	if b.switches {
		last = b.horizon
	} else {
		first = last
		for _, a := range b.actions {
			if kind == repack.NodeOff && a.From == n {
				first = min(first, a.End)
			}
		}
	}
	for at := first; at <= last; at++ {
		b.power(n+1, append(slices.Clone(switched), repack.Action{
			Kind: kind, VM: repack.Nowhere, From: repack.Nowhere, To: n, Start: at, End: at + takes,
		}))
	}
}

// change decides when VMs that stay, and need more of one thing and less of
// another, do so. For others that is best at once, or at last.
func (b *brute) change(vm int, list []repack.Action) {
	if b.over() {
		return
	}
	if vm == len(b.in.VMs) {
		b.judge(list)
		return
	}
	v := &b.in.VMs[vm]
	shrinks := slices.ContainsFunc(dims(b.in), func(k int) bool { return v.Next[k] < v.Now[k] })
	if !v.Keeps() || !v.Grows() || !shrinks || slices.ContainsFunc(list, func(a repack.Action) bool { return a.VM == vm }) {
		b.change(vm+1, list)
		return
	}
	for at := range b.horizon + 1 {
		b.change(vm+1, append(slices.Clone(list), repack.Action{
			Kind: repack.Allocate, VM: vm, From: repack.Nowhere, To: v.Host, Start: at, End: at,
		}))
	}
}

func (b *brute) judge(list []repack.Action) {
	b.left--
	p := &repack.Plan{Actions: list}
	report, err := repack.Check(b.in, p)
	if err == nil && report.Valid() && worth(b.aim, report.Figures) < b.limit {
		b.found = p
	}
}
