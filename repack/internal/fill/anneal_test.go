package fill_test

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"vjob/internal/sparse"
	"vjob/repack/internal/fill"
)

// actions returns when the items of a problem leave and come: each takes as long as it costs.
func actions(p *fill.Problem, late int64) fill.Actions {
	nodes := len(p.Room) / p.Dims
	a := fill.Actions{
		Start: sparse.New[int](nodes), Ready: make([]int64, nodes), Now: p.Need,
		Leave: p.Cost, Key: p.Cost, LateCost: slices.Repeat([]int64{late}, len(p.Items)),
	}
	for _, i := range p.Items {
		if h := p.Home[i]; h != fill.Nowhere {
			a.Start.Add(h, i)
		}
	}
	return a
}

// On tiny problems in which waits cost nothing, the best placement is nearly always the cheapest of all, and always valid.
func TestAnnealingIsCheapest(t *testing.T) {
	missed, better := 0, 0
	const problems = 1000
	for seed := range uint64(problems) {
		p, at := tiny(rand.New(rand.NewPCG(seed, 14)))
		p.Wait = func(int, []int) int64 { return 0 }
		before, _ := cost(p, at)
		a := fill.NewAnnealing(p, actions(p, 0), at, rand.New(rand.NewPCG(seed, 15)), 20_000, 1)
		for !a.Done() {
			a.Improve(1000)
		}
		got, ok := cost(p, a.Best())
		if !ok || got > before {
			t.Fatalf("seed %d: placement %v costs %d instead of %d (valid: %v)", seed, a.Best(), got, before, ok)
		}
		if got > cheapest(p) {
			missed++
		}
		if got < before {
			better++
		}
	}
	if missed > problems/50 || better < problems/4 {
		t.Errorf("%d of %d placements are not the cheapest, %d are better than at first", missed, problems, better)
	}
}

// An item may come to one node only, where one of two others must leave: the one that is gone first
// leaves, although both cost the same.
func TestAnnealingKnowsWaits(t *testing.T) {
	for seed := range uint64(20) {
		p := &fill.Problem{
			Dims: 1, Room: []int64{10, 10, 5}, Need: []int64{5, 5, 5, 10}, Home: []int{0, 0, fill.Nowhere, 1}, Cost: []int64{3, 3, 0, fill.Fixed},
			Items: []int{0, 1, 2, 3}, Nodes: []int{0, 1, 2}, May: func(i, n int) bool { return i != 2 || n == 0 },
		}
		acts := actions(p, 1)
		acts.Leave = []int64{9, 2, 0, 0}
		start := []int{2, 0, 0, 1}
		a := fill.NewAnnealing(p, acts, start, rand.New(rand.NewPCG(seed, 16)), 2000, 1)
		if !a.Improve(2000) || !reflect.DeepEqual(a.Best(), []int{0, 2, 0, 1}) {
			t.Errorf("seed %d: placement %v", seed, a.Best())
		}
	}
}

// From a placement with overloaded nodes the annealing finds one that fits, and the same one again.
func TestAnnealingRelieves(t *testing.T) {
	p := &fill.Problem{Dims: 1, May: func(int, int) bool { return true }}
	for n := range 6 {
		p.Nodes, p.Room = append(p.Nodes, n), append(p.Room, 12)
		for _, need := range []int64{7, 3, 2} {
			i := len(p.Items)
			p.Items, p.Need, p.Home, p.Cost = append(p.Items, i), append(p.Need, need), append(p.Home, fill.Nowhere), append(p.Cost, 0)
		}
	}
	run := func() []int {
		a := fill.NewAnnealing(p, actions(p, 1), make([]int, len(p.Items)), rand.New(rand.NewPCG(3, 17)), 100_000, 1)
		a.Improve(100_000)
		return a.Best()
	}
	at := run()
	if at == nil {
		t.Fatal("no placement fits")
	}
	p.Wait = func(int, []int) int64 { return 0 }
	if _, ok := cost(p, at); !ok {
		t.Errorf("placement %v is not valid", at)
	}
	if again := run(); !slices.Equal(at, again) {
		t.Errorf("the same numbers give %v and %v", at, again)
	}
}
