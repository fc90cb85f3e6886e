package consolidation_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"vjob/papers/consolidation"
)

// small draws a problem that can be looked at as a whole.
func small(t *rapid.T) *consolidation.Problem {
	p := &consolidation.Problem{}
	dims := rapid.IntRange(0, 3).Draw(t, "dims")
	vector := func(name string, least, most int64) []int64 {
		return rapid.SliceOfN(rapid.Int64Range(least, most), dims, dims).Draw(t, name)
	}
	rooms := [][]int64{vector("room", 0, 12), vector("other room", 4, 12)}
	needs := [][]int64{vector("need", 0, 6), vector("other need", 0, 6), vector("third need", 1, 7)}
	for range rapid.IntRange(0, 5).Draw(t, "nodes") {
		p.Room = append(p.Room, rapid.SampledFrom(rooms).Draw(t, "room of node"))
	}
	for range rapid.IntRange(0, 7).Draw(t, "items") {
		p.Need = append(p.Need, rapid.SampledFrom(needs).Draw(t, "need of item"))
	}
	if rapid.Bool().Draw(t, "fences") {
		banned := rapid.SliceOfN(rapid.Uint32(), len(p.Need), len(p.Need)).Draw(t, "banned")
		p.May = func(item, node int) bool { return banned[item]>>(node*3)&7 != 0 }
	}
	if len(p.Need) > 1 {
		for range rapid.IntRange(0, 2).Draw(t, "sets") {
			p.Apart = append(p.Apart, rapid.SliceOfNDistinct(rapid.IntRange(0, len(p.Need)-1), 2, -1, rapid.ID).Draw(t, "apart"))
		}
	}
	costs := rapid.SliceOfN(rapid.Int64Range(0, 4), len(p.Need)*len(p.Room), -1).Draw(t, "costs")
	switch rapid.IntRange(0, 2).Draw(t, "kind of cost") {
	case 0: // any, by node
		p.Cost = func(item, node int) int64 { return costs[item*len(p.Room)+node] }
	case 1: // nothing at home
		p.Cost = func(item, node int) int64 {
			if home := costs[item*len(p.Room)]; home == int64(node) {
				return 0
			}
			return 1 + int64(item%3)
		}
	}
	if rapid.IntRange(0, 3).Draw(t, "with a veto") == 0 {
		p.Veto = &turnstile{most: rapid.IntRange(1, 3).Draw(t, "most"), on: make([]int, len(p.Room))}
	}
	return p
}

// turnstile is a veto that lets so many items onto a node.
type turnstile struct {
	most int
	on   []int
}

func (v *turnstile) Admits(_, node int) bool { return v.on[node] < v.most }
func (v *turnstile) Come(_, node int)        { v.on[node]++ }
func (v *turnstile) Go(_, node int)          { v.on[node]-- }

// clear reports whether all items that came have gone.
func (v *turnstile) clear() bool {
	return !slices.ContainsFunc(v.on, func(n int) bool { return n != 0 })
}

// feasible checks a packing against the problem, from its definition.
func feasible(t rapid.TB, p *consolidation.Problem, at []int) {
	if len(at) != len(p.Need) {
		t.Fatalf("%d items are somewhere, of %d", len(at), len(p.Need))
	}
	for n := range p.Room {
		load := make([]int64, len(p.Room[n]))
		items := 0
		for i, home := range at {
			if home != n {
				continue
			}
			items++
			if p.May != nil && !p.May(i, n) {
				t.Fatalf("item %d may not be on node %d", i, n)
			}
			for d := range load {
				if load[d] += p.Need[i][d]; p.Need[i][d] > 0 && load[d] > p.Room[n][d] {
					t.Fatalf("node %d is over its room in dimension %d", n, d)
				}
			}
		}
		if v, ok := p.Veto.(*turnstile); ok && items > v.most {
			t.Fatalf("node %d has %d items, the veto admits %d", n, items, v.most)
		}
	}
	for _, items := range p.Apart {
		seen := map[int]bool{}
		for _, i := range items {
			if seen[at[i]] {
				t.Fatalf("two items of %v are on node %d", items, at[i])
			}
			seen[at[i]] = true
		}
	}
}

// brute looks at all packings: the fewest nodes, and by number of nodes the least
// cost on at most so many; -1 is never.
func brute(p *consolidation.Problem) (fewest int, cheapest []int64) {
	b := bruter{p: p, at: make([]int, len(p.Need)), fewest: -1, cheapest: slices.Repeat([]int64{-1}, len(p.Room)+1)}
	b.load = make([][]int64, len(p.Room))
	for n := range p.Room {
		b.load[n] = make([]int64, len(p.Room[n]))
	}
	b.walk(0, 0)
	for n := 1; n < len(b.cheapest); n++ {
		if c := b.cheapest[n-1]; c >= 0 && (b.cheapest[n] < 0 || c < b.cheapest[n]) {
			b.cheapest[n] = c
		}
	}
	return b.fewest, b.cheapest
}

type bruter struct {
	p        *consolidation.Problem
	at       []int
	load     [][]int64
	fewest   int
	cheapest []int64
}

func (b *bruter) walk(i int, cost int64) {
	if i == len(b.at) {
		used := count(b.at)
		if b.fewest < 0 || used < b.fewest {
			b.fewest = used
		}
		if b.cheapest[used] < 0 || cost < b.cheapest[used] {
			b.cheapest[used] = cost
		}
		return
	}
	for n := range b.p.Room {
		if !b.fits(i, n) {
			continue
		}
		b.at[i] = n
		for d, need := range b.p.Need[i] {
			b.load[n][d] += need
		}
		if b.p.Veto != nil {
			b.p.Veto.Come(i, n)
		}
		more := int64(0)
		if b.p.Cost != nil {
			more = b.p.Cost(i, n)
		}
		b.walk(i+1, cost+more)
		if b.p.Veto != nil {
			b.p.Veto.Go(i, n)
		}
		for d, need := range b.p.Need[i] {
			b.load[n][d] -= need
		}
	}
}

func (b *bruter) fits(i, n int) bool {
	for d, need := range b.p.Need[i] {
		if need > 0 && b.load[n][d]+need > b.p.Room[n][d] {
			return false
		}
	}
	for _, items := range b.p.Apart {
		if !slices.Contains(items, i) {
			continue
		}
		for _, other := range items {
			if other < i && b.at[other] == n {
				return false
			}
		}
	}
	return (b.p.May == nil || b.p.May(i, n)) && (b.p.Veto == nil || b.p.Veto.Admits(i, n))
}

func count(at []int) int {
	seen := map[int]bool{}
	for _, n := range at {
		seen[n] = true
	}
	return len(seen)
}

func dimensions(p *consolidation.Problem) int {
	if len(p.Room) == 0 {
		return 0
	}
	return len(p.Room[0])
}

func price(p *consolidation.Problem, at []int) (sum int64) {
	for i, n := range at {
		if p.Cost != nil {
			sum += p.Cost(i, n)
		}
	}
	return sum
}

// Whatever is said of a small problem is true, and proved unless a veto is in the way.
func TestFewestAgainstAllPackings(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := small(t)
		fewest, _ := brute(p)
		a := consolidation.Fewest(p, consolidation.SearchOptions{Seed: rapid.Uint64().Draw(t, "seed"), Steps: 2_000_000})
		if v, ok := p.Veto.(*turnstile); ok && !v.clear() {
			t.Fatalf("the veto still has items: %v", v.on)
		}
		if a.Proved && a.At == nil && fewest >= 0 {
			t.Fatalf("proved that there is no packing, and there is one on %d nodes", fewest)
		}
		if fewest >= 0 && a.Bound > fewest {
			t.Fatalf("bound %d, and there is a packing on %d nodes", a.Bound, fewest)
		}
		if a.At != nil {
			feasible(t, p, a.At)
			if a.Used != count(a.At) || a.Bound > a.Used {
				t.Fatalf("says %d nodes, bound %d, uses %d", a.Used, a.Bound, count(a.At))
			}
			if a.Proved && a.Used != fewest {
				t.Fatalf("proved %d nodes, and there is a packing on %d", a.Used, fewest)
			}
		}
		if p.Veto == nil && !a.Proved {
			t.Fatalf("not proved: %+v, fewest %d", a, fewest)
		}
	})
}

func TestCheapestAgainstAllPackings(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := small(t)
		_, costs := brute(p)
		used := rapid.IntRange(0, len(p.Room)).Draw(t, "used")
		c := consolidation.Cheapest(p, used, consolidation.SearchOptions{Seed: rapid.Uint64().Draw(t, "seed"), Steps: 1_000_000})
		if v, ok := p.Veto.(*turnstile); ok && !v.clear() {
			t.Fatalf("the veto still has items: %v", v.on)
		}
		if least := costs[used]; least >= 0 {
			if c.Bound > least {
				t.Fatalf("bound %d, and there is a packing that costs %d", c.Bound, least)
			}
			if c.Proved && (c.At == nil || c.Cost != least) {
				t.Fatalf("proved %+v, the best costs %d", c, least)
			}
		}
		if c.At == nil {
			return
		}
		feasible(t, p, c.At)
		sum := price(p, c.At)
		for d := range dimensions(p) {
			if at := consolidation.FirstFit(p, d); at != nil && count(at) <= used && price(p, at) < sum {
				t.Fatalf("costs %d, First Fit %d", sum, price(p, at))
			}
		}
		if c.Cost != sum || c.Used != count(c.At) || c.Used > used || c.Bound > c.Cost {
			t.Fatalf("says %+v, costs %d on %d nodes of %d", c, sum, count(c.At), used)
		}
	})
}

// Small problems in which nothing costs but to leave home are proved.
func TestCheapestProvesHomes(t *testing.T) {
	for seed := range uint64(60) {
		p := thesis(5, 8, eightClasses, seed)
		a := consolidation.Fewest(p, consolidation.SearchOptions{})
		_, costs := brute(p)
		c := consolidation.Cheapest(p, a.Used, consolidation.SearchOptions{}, a.At)
		if !a.Proved || !c.Proved || c.Cost != costs[a.Used] {
			t.Errorf("seed %d: %+v, %+v, the best costs %d", seed, a, c, costs[a.Used])
		}
	}
}

func TestSameBudgetSameAnswer(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	for range 5 {
		p := uniform(60, 100, 400, rng.Uint64())
		p.Cost = func(item, node int) int64 {
			if item%7 == node {
				return 0
			}
			return p.Need[item][0]
		}
		b := consolidation.SearchOptions{Seed: 3, Steps: 3_000_000}
		one, two := consolidation.Fewest(p, b), consolidation.Fewest(p, b)
		if !slices.Equal(one.At, two.At) || one.Bound != two.Bound {
			t.Errorf("%+v and %+v", one, two)
		}
		first, second := consolidation.Cheapest(p, one.Used, b, one.At), consolidation.Cheapest(p, one.Used, b, one.At)
		if !slices.Equal(first.At, second.At) || first.Bound != second.Bound {
			t.Errorf("%+v and %+v", first, second)
		}
	}
}

// A search that is stopped returns what it has, with a valid bound.
func TestStop(t *testing.T) {
	p := uniform(200, 100, 400, 5)
	asked := 0
	a := consolidation.Fewest(p, consolidation.SearchOptions{Stop: func() bool { asked++; return true }})
	if asked == 0 || a.At == nil || a.Proved || a.Bound < 45 {
		t.Errorf("asked %d times, %d nodes, bound %d, proved %v", asked, a.Used, a.Bound, a.Proved)
	}
	feasible(t, p, a.At)
}
