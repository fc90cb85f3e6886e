package pool_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"vjob/cluster"
	"vjob/queue/pool"
	"vjob/tests/pace"
)

// tree returns a tree with demands; those of pools are ignored.
func tree(tb testing.TB, entries []pool.Entry, demands []int64) *pool.Tree {
	tb.Helper()
	p, err := pool.New(entries)
	if err != nil {
		tb.Fatal(err)
	}
	for i, demand := range demands {
		if entries[i].VM {
			p.SetDemand(i, demand)
		}
	}
	return p
}

// The example of the paper (Fig. 2): of 10 GHz the first pool gets 8 and the second 2; its two VMs, with
// equal shares and demands of 3 and 7, get 3 and 5.
func TestPaperExample(t *testing.T) {
	entry := func(parent int, vm bool, shares int64) pool.Entry {
		return pool.Entry{Parent: parent, VM: vm, Controls: pool.Controls{Limit: pool.Unlimited, Shares: shares}}
	}
	p := tree(t, []pool.Entry{
		entry(-1, false, 1000), entry(0, false, 800), entry(0, false, 200),
		entry(1, true, 500), entry(1, true, 500), entry(2, true, 500), entry(2, true, 500),
	}, []int64{0, 0, 0, 3, 7, 3, 3})
	p.Divide(10)
	for i, want := range []int64{10, 8, 2, 3, 5, 1, 1} {
		if got := p.Entitlement(i); got != want {
			t.Errorf("entry %d gets %d, want %d", i, got, want)
		}
	}
}

// perUnit is how many chunks of the reference are a unit.
const perUnit = 16

// chunks is the algorithm of the paper (§2.3): each child gets its reservation, then chunk after chunk goes to
// the child with the least allocation by shares that is below its limit. The results are in chunks.
func chunks(units []pool.Entry, demands []int64, capacity int64) []int64 {
	entries := slices.Clone(units)
	for i := range entries {
		e := &entries[i]
		e.Reservation *= perUnit
		if e.Limit != pool.Unlimited {
			e.Limit *= perUnit
		}
	}
	capacity *= perUnit
	demand, got := make([]int64, len(entries)), make([]int64, len(entries))
	for i := len(entries) - 1; i >= 0; i-- {
		e := &entries[i]
		if e.VM {
			demand[i] = demands[i] * perUnit
		}
		demand[i] = min(max(demand[i], e.Reservation), e.Limit)
		if e.Parent >= 0 {
			demand[e.Parent] += demand[i]
		}
	}
	got[0] = min(capacity, entries[0].Limit)
	for i := range entries {
		var children []int
		left, wanted := got[i], int64(0)
		for k := range entries {
			if entries[k].Parent == i {
				children = append(children, k)
				got[k] = entries[k].Reservation
				left, wanted = left-got[k], wanted+demand[k]
			}
		}
		for ; left > 0; left-- {
			best := -1
			for _, k := range children {
				limit := entries[k].Limit
				if wanted > got[i] {
					limit = demand[k]
				}
				if got[k] < limit && (best < 0 || got[k]*entries[best].Shares < got[best]*entries[k].Shares) {
					best = k
				}
			}
			if best < 0 {
				break
			}
			got[best]++
		}
	}
	return got
}

// draw returns a random tree with reservations that can be met, with demands and a capacity.
func draw(rng *rand.Rand) (entries []pool.Entry, demands []int64, capacity int64) {
	n := 2 + rng.IntN(9)
	entries = append(entries, pool.Entry{Parent: -1, Controls: pool.Controls{Limit: pool.Unlimited, Shares: 1}})
	for i := 1; i < n; i++ {
		e := pool.Entry{Parent: rng.IntN(i), Controls: pool.Controls{Limit: pool.Unlimited, Shares: 1 + rng.Int64N(5)}}
		for entries[e.Parent].VM {
			e.Parent = entries[e.Parent].Parent
		}
		if e.VM = rng.IntN(3) > 0; e.VM && rng.IntN(3) == 0 {
			e.Reservation = rng.Int64N(6)
		}
		if rng.IntN(4) == 0 {
			e.Limit = 20 + rng.Int64N(20)
		}
		entries, demands = append(entries, e), append(demands, 0)
	}
	demands = append(demands, 0)
	for i := len(entries) - 1; i > 0; i-- { // a pool reserves what is reserved below it
		e := &entries[i]
		e.Limit = max(e.Limit, e.Reservation)
		entries[e.Parent].Reservation += e.Reservation
		if e.VM {
			demands[i] = rng.Int64N(20)
		}
	}
	entries[0].Limit = max(entries[0].Limit, entries[0].Reservation)
	return entries, demands, entries[0].Reservation + rng.Int64N(30)
}

// Each child gets within one unit of what small chunks give it, everything is given that may be, and the
// bounds hold; a second division after changes is that of a new tree.
func TestAgreesWithChunks(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	for range trees / pace.Slower {
		entries, demands, capacity := draw(rng)
		p := tree(t, entries, demands)
		p.Divide(capacity)
		check(t, p, entries, demands, capacity)
		for range 2 {
			i := rng.IntN(len(entries))
			if entries[i].VM {
				demands[i] = rng.Int64N(20)
				p.SetDemand(i, demands[i])
			}
		}
		p.Divide(capacity)
		fresh := tree(t, entries, demands)
		fresh.Divide(capacity)
		for i := range entries {
			if p.Entitlement(i) != fresh.Entitlement(i) {
				t.Fatalf("entry %d of %+v, demands %v, capacity %d: %d after a change, %d anew", i, entries, demands, capacity, p.Entitlement(i), fresh.Entitlement(i))
			}
		}
	}
}

const trees = 1_000_000

func check(t *testing.T, p *pool.Tree, entries []pool.Entry, demands []int64, capacity int64) {
	t.Helper()
	fail := func(i int, what string) {
		t.Fatalf("entry %d %s: %+v, demands %v, capacity %d", i, what, entries, demands, capacity)
	}
	sums, mosts := make([]int64, len(entries)), make([]int64, len(entries))
	for i, e := range entries {
		got := p.Entitlement(i)
		if got < min(e.Reservation, capacity) || got > e.Limit {
			fail(i, "breaks its bounds")
		}
		if e.Parent >= 0 {
			sums[e.Parent] += got
			mosts[e.Parent] = min(mosts[e.Parent]+min(e.Limit, 1<<40), 1<<40)
		}
	}
	for i, e := range entries {
		if !e.VM && sums[i] != min(p.Entitlement(i), mosts[i]) {
			fail(i, "does not give all that it may")
		}
	}
	// Below a pool the reference divides another quantity, if that pool differs by a part of a unit. Half a unit
	// is the error of the chunks themselves.
	want := chunks(entries, demands, capacity)
	for i, e := range entries {
		if e.Parent == 0 {
			if diff := p.Entitlement(i)*perUnit - want[i]; diff < -3*perUnit/2 || diff > 3*perUnit/2 {
				fail(i, "differs from the reference")
			}
		}
	}
}

func TestTreesThatAreWrong(t *testing.T) {
	free := pool.Controls{Limit: pool.Unlimited, Shares: 1}
	root := pool.Entry{Parent: -1, Controls: free}
	for field, entries := range map[string][]pool.Entry{
		"entries[0].parent":      {{Parent: 0, Controls: free}},
		"entries[1].parent":      {root, {Parent: 1, Controls: free}},
		"entries[2].parent":      {root, {Parent: 0, VM: true, Controls: free}, {Parent: 1, Controls: free}},
		"entries[1].shares":      {root, {Parent: 0, Controls: pool.Controls{Limit: 1}}},
		"entries[1].reservation": {root, {Parent: 0, Controls: pool.Controls{Reservation: 2, Limit: 1, Shares: 1}}},
		"entries[1].limit":       {root, {Parent: 0, Controls: pool.Controls{Limit: -1, Shares: 1}}},
	} {
		_, err := pool.New(entries)
		if bad, ok := errors.AsType[*cluster.FieldError](err); !ok || bad.Field != field {
			t.Errorf("%v, want the field %s", err, field)
		}
	}
	deep := []pool.Entry{root}
	for i := range 1000 {
		deep = append(deep, pool.Entry{Parent: i, Controls: free})
	}
	if _, err := pool.New(deep); !errors.Is(err, cluster.ErrInvalid) {
		t.Errorf("a thousand levels: %v", err)
	}
}

// Reservations that exceed the capacity, as after the loss of nodes, share it in proportion.
func TestCapacityBelowReservations(t *testing.T) {
	p := tree(t, []pool.Entry{
		{Parent: -1, Controls: pool.Controls{Limit: pool.Unlimited, Shares: 1}},
		{Parent: 0, VM: true, Controls: pool.Controls{Reservation: 30, Limit: 30, Shares: 7}},
		{Parent: 0, VM: true, Controls: pool.Controls{Reservation: 10, Limit: 90, Shares: 1}},
	}, []int64{0, 30, 90})
	p.Divide(20)
	if a, b := p.Entitlement(1), p.Entitlement(2); a != 15 || b != 5 {
		t.Errorf("%d and %d, want 15 and 5", a, b)
	}
}

// A hundred thousand VMs in ten thousand pools, as after every demand has changed.
func BenchmarkDivide(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 0))
	entries := []pool.Entry{{Parent: -1, Controls: pool.Controls{Limit: pool.Unlimited, Shares: 1}}}
	for i := range 10_000 {
		entries = append(entries, pool.Entry{Parent: i / 10, Controls: pool.Controls{Limit: pool.Unlimited, Shares: 1 + rng.Int64N(2000)}})
	}
	first := len(entries)
	for range 100_000 {
		entries = append(entries, pool.Entry{
			Parent: 1 + rng.IntN(10_000), VM: true, Controls: pool.Controls{Reservation: rng.Int64N(100), Limit: 4000, Shares: 500 + rng.Int64N(2000)},
		})
	}
	p := tree(b, entries, nil)
	for b.Loop() {
		for i := first; i < len(entries); i++ {
			p.SetDemand(i, rng.Int64N(4000))
		}
		p.Divide(100_000_000)
	}
}
