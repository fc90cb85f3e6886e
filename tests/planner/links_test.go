package planner_test

import (
	"cmp"
	"math"
	"slices"
	"testing"

	"vjob/repack"
)

// linkSimulation executes a plan on links that transfers share max-min fairly, as TCP does. Each
// action starts when those before it have ended, whatever the times in the plan. A transfer
// never exceeds its rate in the plan.
type linkSimulation struct {
	in     *repack.Instance
	plan   *repack.Plan
	waits  []int   // number of unfinished actions before each action
	next   [][]int // actions after each action
	active []int
	left   []float64 // of each action: amount to send, or time
	speed  []float64 // decrease of left per tick
	free   []float64 // bandwidth that is left on each link
	users  [][]int   // transfers on each link without a share
}

// execute executes a plan on the links and returns the weighted sum of completion times and the
// makespan.
func execute(t *testing.T, in *repack.Instance, p *repack.Plan) (completion, makespan float64) {
	t.Helper()
	r := newLinkSimulation(in, p)
	for done := 0; done < len(p.Actions); {
		if len(r.active) == 0 {
			t.Fatalf("%d of %d actions are done, and no other is active", done, len(p.Actions))
		}
		step := r.share()
		makespan += step
		for _, i := range r.pass(step) {
			done++
			if a := &p.Actions[i]; a.VM != repack.Nowhere && a.Kind != repack.Allocate {
				completion += makespan * float64(in.VMs[a.VM].Weight)
			}
			for _, k := range r.next[i] {
				if r.waits[k]--; r.waits[k] == 0 {
					r.start(k)
				}
			}
		}
	}
	return completion, makespan
}

func newLinkSimulation(in *repack.Instance, p *repack.Plan) *linkSimulation {
	n, links := len(p.Actions), in.Links()
	r := &linkSimulation{
		in: in, plan: p, waits: make([]int, n), next: make([][]int, n), left: make([]float64, n), speed: make([]float64, n),
		free: make([]float64, links), users: make([][]int, links),
	}
	for i := range p.Actions {
		for _, j := range p.Actions[i].After {
			r.waits[i]++
			r.next[j] = append(r.next[j], i)
		}
	}
	for i := range p.Actions {
		if r.waits[i] == 0 {
			r.start(i)
		}
	}
	return r
}

func (r *linkSimulation) start(i int) {
	a := &r.plan.Actions[i]
	r.left[i] = float64(a.End - a.Start)
	if t := r.transfer(i); t.Amount > 0 {
		r.left[i] = float64(t.Amount)
	}
	r.active = append(r.active, i)
}

func (r *linkSimulation) transfer(i int) repack.Transfer {
	a := &r.plan.Actions[i]
	if a.Kind != repack.Migrate && a.Kind != repack.Resume {
		return repack.Transfer{}
	}
	return r.in.Transfer(a.VM, a.Kind, a.From, a.To)
}

func (r *linkSimulation) crossed(i int) []repack.Link {
	return r.in.AppendCrossed(nil, r.plan.Actions[i].From, r.plan.Actions[i].To)
}

// pass advances the time and returns the actions that have ended.
func (r *linkSimulation) pass(step float64) (ended []int) {
	r.active = slices.DeleteFunc(r.active, func(i int) bool {
		if r.left[i] -= step * r.speed[i]; r.left[i] > 1e-6 {
			return false
		}
		ended = append(ended, i)
		return true
	})
	return ended
}

// share gives each transfer its max-min fair rate, and returns the time until the first action
// ends. Repeatedly, the link with the least bandwidth per transfer divides what it has left.
func (r *linkSimulation) share() (step float64) {
	var links []int
	for _, i := range r.active {
		r.speed[i] = 1
		if r.transfer(i).Amount == 0 {
			continue
		}
		for _, l := range r.crossed(i) {
			if len(r.users[l]) == 0 {
				links = append(links, int(l))
				r.free[l] = float64(r.in.Bandwidth(l))
			}
			r.users[l] = append(r.users[l], i)
		}
	}
	each := func(l int) float64 { return r.free[l] / float64(len(r.users[l])) }
	for {
		links = slices.DeleteFunc(links, func(l int) bool { return len(r.users[l]) == 0 })
		if len(links) == 0 {
			break
		}
		r.divide(slices.MinFunc(links, func(a, b int) int { return cmp.Or(cmp.Compare(each(a), each(b)), cmp.Compare(a, b)) }))
	}
	step = math.Inf(1)
	for _, i := range r.active {
		step = min(step, r.left[i]/r.speed[i])
	}
	return step
}

// divide divides the bandwidth of a link: first among the transfers that cannot use an equal
// share, or equally among all if each can.
func (r *linkSimulation) divide(l int) {
	share, users := r.free[l]/float64(len(r.users[l])), slices.Clone(r.users[l])
	modest := false
	for _, i := range users {
		if most := r.most(i); most < share {
			r.give(i, most)
			modest = true
		}
	}
	if modest {
		return
	}
	for _, i := range users {
		r.give(i, share)
	}
}

// most returns the largest rate of a transfer: that of the plan, or what it can use.
func (r *linkSimulation) most(i int) float64 {
	if rate := r.plan.Actions[i].Rate; rate > 0 {
		return float64(rate)
	}
	t := r.transfer(i)
	return float64(t.Dirty) + float64(t.Amount)/float64(t.Base)
}

func (r *linkSimulation) give(i int, rate float64) {
	r.speed[i] = max(1e-9, rate-float64(r.transfer(i).Dirty))
	for _, l := range r.crossed(i) {
		r.free[l] -= rate
		r.users[l] = slices.DeleteFunc(r.users[l], func(k int) bool { return k == i })
	}
}

// Two transfers share a link. When the first is done, the second has it alone.
func TestExecute(t *testing.T) {
	vm := repack.VM{State: repack.Running, Want: repack.Running, Weight: 1, Memory: 40}
	in := &repack.Instance{
		Nodes: make([]repack.Node, 3), VMs: []repack.VM{vm, vm}, Network: &repack.Network{NIC: []int64{10, 10, 10}},
	}
	in.VMs[1].Memory, in.VMs[1].Dirty = 60, 1
	plan := &repack.Plan{Actions: []repack.Action{
		{Kind: repack.Migrate, VM: 0, From: 0, To: 1, End: 4}, {Kind: repack.Migrate, VM: 1, From: 0, To: 2, End: 7},
	}}
	completion, makespan := execute(t, in, plan)
	// until 8 each has 5; then 60-8*4 are left, at 10-1
	if want := 8 + 28.0/9; math.Abs(makespan-want) > 1e-6 || math.Abs(completion-8-want) > 1e-6 {
		t.Errorf("completion %f, makespan %f", completion, makespan)
	}
}
