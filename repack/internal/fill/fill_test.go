package fill_test

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"vjob/repack/internal/fill"
	"vjob/tests/planted"
)

// tiny returns a random problem and a placement of all items.
func tiny(rng *rand.Rand) (p *fill.Problem, at []int) {
	p = &fill.Problem{Dims: 1 + rng.IntN(3)}
	nodes, items := 2+rng.IntN(3), 3+rng.IntN(5)
	p.Room = make([]int64, nodes*p.Dims)
	for n := range nodes {
		p.Nodes = append(p.Nodes, n)
		for d := range p.Dims {
			if rng.IntN(3) == 0 {
				p.Room[n*p.Dims+d] = rng.Int64N(3) // stays free
			}
		}
	}
	for i := range items {
		n := rng.IntN(nodes)
		for d := range p.Dims {
			need := rng.Int64N(6)
			p.Need = append(p.Need, need)
			p.Room[n*p.Dims+d] += need
		}
		home := rng.IntN(nodes+1) - 1
		p.Items, p.Home, p.Cost = append(p.Items, i), append(p.Home, home), append(p.Cost, 1+rng.Int64N(9))
		if at = append(at, n); n == home && rng.IntN(4) == 0 {
			p.Cost[i] = fill.Fixed
		}
	}
	banned := rng.IntN(items)
	p.May = func(item, node int) bool { return item != banned || node == at[item] || node == p.Home[item] }
	p.Wait = func(node int, items []int) (cost int64) {
		for _, i := range items {
			if p.Home[i] != node {
				cost += int64((i+node)%3) * int64(len(items))
			}
		}
		return cost
	}
	return p, at
}

// cost returns what a placement costs; it is not ok if a node is over its room or an item where
// it may not be.
func cost(p *fill.Problem, at []int) (sum int64, ok bool) {
	free, on := slices.Clone(p.Room), map[int][]int{}
	for _, i := range p.Items {
		n := at[i]
		if n != p.Home[i] {
			if !p.May(i, n) {
				return 0, false
			}
			if p.Home[i] != fill.Nowhere {
				sum += p.Cost[i]
			}
		}
		for d := range p.Dims {
			if free[n*p.Dims+d] -= p.Need[i*p.Dims+d]; free[n*p.Dims+d] < 0 {
				return 0, false
			}
		}
		on[n] = append(on[n], i)
	}
	for _, n := range p.Nodes {
		sum += p.Wait(n, on[n])
	}
	return sum, sum < fill.Fixed
}

// cheapest returns the least cost of all placements.
func cheapest(p *fill.Problem) int64 {
	best, at := int64(fill.Fixed), make([]int, len(p.Items))
	var try func(i int)
	try = func(i int) {
		if i == len(at) {
			if c, ok := cost(p, at); ok {
				best = min(best, c)
			}
			return
		}
		for _, at[i] = range p.Nodes {
			try(i + 1)
		}
	}
	try(0)
	return best
}

// apply returns a placement after the items were placed.
func apply(at []int, placed []fill.Placed) []int {
	at = slices.Clone(at)
	for _, x := range placed {
		at[x.Item] = x.Node
	}
	return at
}

// On tiny problems the placement of Repack is the cheapest of all.
func TestRepackIsCheapest(t *testing.T) {
	better := 0
	for seed := range uint64(3000) {
		p, at := tiny(rand.New(rand.NewPCG(seed, 7)))
		before, _ := cost(p, at)
		placed := fill.Repack(p, at, p.Nodes, 0, rand.New(rand.NewPCG(seed, 8)), 1<<40)
		if placed == nil {
			t.Fatalf("seed %d: no placement, not even the present one", seed)
		}
		got, ok := cost(p, apply(at, placed))
		if want := cheapest(p); !ok || got != want {
			t.Fatalf("seed %d: placement %v costs %d (valid: %v), the cheapest %d", seed, placed, got, ok, want)
		}
		if got < before {
			better++
		}
	}
	if better < 1000 {
		t.Errorf("only %d placements were improved", better)
	}
}

// Of some nodes only the items on them move.
func TestRepackKeepsOthers(t *testing.T) {
	for seed := range uint64(500) {
		p, at := tiny(rand.New(rand.NewPCG(seed, 9)))
		before, _ := cost(p, at)
		nodes := []int{0, 1}
		placed := fill.Repack(p, at, nodes, 0, rand.New(rand.NewPCG(seed, 10)), 1<<40)
		for _, x := range placed {
			if !slices.Contains(nodes, at[x.Item]) || !slices.Contains(nodes, x.Node) {
				t.Fatalf("seed %d: item %d goes from node %d to %d", seed, x.Item, at[x.Item], x.Node)
			}
		}
		if after, ok := cost(p, apply(at, placed)); !ok || after > before {
			t.Fatalf("seed %d: costs %d instead of %d (valid: %v)", seed, after, before, ok)
		}
	}
}

// Place fills clusters in which nothing is left free and hardly two items are equal.
func TestPlaceFillsCompletely(t *testing.T) {
	for seed := range uint64(4) {
		in := planted.New(planted.Options{Nodes: 40, Fill: 1, Seed: seed})
		p := &fill.Problem{
			Dims: 2, May: func(int, int) bool { return true }, Wait: func(int, []int) int64 { return 0 },
		}
		for n := range in.Nodes {
			p.Nodes, p.Room = append(p.Nodes, n), append(p.Room, in.Nodes[n].Capacity...)
		}
		for vm := range in.VMs {
			v := &in.VMs[vm]
			p.Items, p.Need = append(p.Items, vm), append(p.Need, v.Next...)
			p.Home, p.Cost = append(p.Home, v.Host), append(p.Cost, int64(v.DurationTo(fill.Nowhere)))
		}
		run := func() []fill.Placed { return fill.Place(p, rand.New(rand.NewPCG(seed, 1)), 100_000_000) }
		placed := run()
		if len(placed) != len(p.Items) {
			t.Fatalf("seed %d: %d of %d items placed", seed, len(placed), len(p.Items))
		}
		if _, ok := cost(p, apply(p.Home, placed)); !ok {
			t.Errorf("seed %d: the placement is not valid", seed)
		}
		if again := run(); !reflect.DeepEqual(placed, again) {
			t.Errorf("seed %d: the same numbers give another placement", seed)
		}
	}
}

// A placement is complete and valid, whatever the problem is and how few steps there are.
func FuzzPlace(f *testing.F) {
	f.Add(uint64(1), uint16(100))
	f.Add(uint64(2), uint16(10_000))
	f.Fuzz(func(t *testing.T, seed uint64, steps uint16) {
		p, at := tiny(rand.New(rand.NewPCG(seed, 11)))
		for _, placed := range [][]fill.Placed{
			fill.Place(p, rand.New(rand.NewPCG(seed, 12)), int(steps)),
			fill.Repack(p, at, p.Nodes, 3, rand.New(rand.NewPCG(seed, 13)), int(steps)),
		} {
			if placed == nil {
				continue
			}
			if _, ok := cost(p, apply(slices.Repeat([]int{-1}, len(at)), placed)); !ok || len(placed) != len(at) {
				t.Errorf("placement %v is not valid", placed)
			}
		}
	})
}
