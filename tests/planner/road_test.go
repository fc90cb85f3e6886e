package planner_test

import (
	"cmp"
	"math"
	"slices"
	"testing"

	"vjob/repack"
)

// road carries a plan out on real links: each action starts when those that it waits
// for have ended, whatever the plan says of times. Transfers share the links max-min
// fairly, as TCP does; those to which the plan gives a rate do not exceed it.
type road struct {
	in     *repack.Instance
	plan   *repack.Plan
	waits  []int   // for how many actions each one waits
	next   [][]int // who waits for each
	active []int
	left   []float64 // of what is to be sent, or of the time that it takes
	speed  []float64 // by how much that becomes less per tick
	free   []float64 // of each link
	users  [][]int   // who crosses each link and has no share yet
}

// drive carries a plan out and returns the weighted sum of completion times and the
// makespan.
func drive(t *testing.T, in *repack.Instance, p *repack.Plan) (completion, makespan float64) {
	t.Helper()
	r := newRoad(in, p)
	for done := 0; done < len(p.Actions); {
		if len(r.active) == 0 {
			t.Fatalf("%d of %d actions are done, and nothing goes on", done, len(p.Actions))
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

func newRoad(in *repack.Instance, p *repack.Plan) *road {
	n, links := len(p.Actions), in.Links()
	r := &road{
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

func (r *road) start(i int) {
	a := &r.plan.Actions[i]
	r.left[i] = float64(a.End - a.Start)
	if t := r.transfer(i); t.Amount > 0 {
		r.left[i] = float64(t.Amount)
	}
	r.active = append(r.active, i)
}

func (r *road) transfer(i int) repack.Transfer {
	a := &r.plan.Actions[i]
	if a.Kind != repack.Migrate && a.Kind != repack.Resume {
		return repack.Transfer{}
	}
	return r.in.Transfer(a.VM, a.Kind, a.From, a.To)
}

func (r *road) crossed(i int) []repack.Link {
	return r.in.AppendCrossed(nil, r.plan.Actions[i].From, r.plan.Actions[i].To)
}

// pass lets time go by and returns what has ended.
func (r *road) pass(step float64) (ended []int) {
	r.active = slices.DeleteFunc(r.active, func(i int) bool {
		if r.left[i] -= step * r.speed[i]; r.left[i] > 1e-6 {
			return false
		}
		ended = append(ended, i)
		return true
	})
	return ended
}

// share gives each transfer its share of the links, and returns when the first
// action ends: again and again the narrowest link divides what it has left among
// those that have no share yet.
func (r *road) share() (step float64) {
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

// divide shares out what a link has: first to those who cannot use as much as there
// is for each, or if there are none to all.
func (r *road) divide(l int) {
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

// most is the rate that a transfer can or may use.
func (r *road) most(i int) float64 {
	if rate := r.plan.Actions[i].Rate; rate > 0 {
		return float64(rate)
	}
	t := r.transfer(i)
	return float64(t.Dirty) + float64(t.Amount)/float64(t.Base)
}

func (r *road) give(i int, rate float64) {
	r.speed[i] = max(1e-9, rate-float64(r.transfer(i).Dirty))
	for _, l := range r.crossed(i) {
		r.free[l] -= rate
		r.users[l] = slices.DeleteFunc(r.users[l], func(k int) bool { return k == i })
	}
}

// Two transfers share a link, and the second one has it for itself when the first is
// done.
func TestDrive(t *testing.T) {
	vm := repack.VM{State: repack.Running, Want: repack.Running, Weight: 1, Memory: 40}
	in := &repack.Instance{
		Nodes: make([]repack.Node, 3), VMs: []repack.VM{vm, vm}, Network: &repack.Network{NIC: []int64{10, 10, 10}},
	}
	in.VMs[1].Memory, in.VMs[1].Dirty = 60, 1
	plan := &repack.Plan{Actions: []repack.Action{
		{Kind: repack.Migrate, VM: 0, From: 0, To: 1, End: 4}, {Kind: repack.Migrate, VM: 1, From: 0, To: 2, End: 7},
	}}
	completion, makespan := drive(t, in, plan)
	// until 8 each has 5; then 60-8*4 are left, at 10-1
	if want := 8 + 28.0/9; math.Abs(makespan-want) > 1e-6 || math.Abs(completion-8-want) > 1e-6 {
		t.Errorf("completion %f, makespan %f", completion, makespan)
	}
}
