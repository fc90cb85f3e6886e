package pool_test

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/queue/pool"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func after(seconds int) time.Time { return noon.Add(time.Duration(seconds) * time.Second) }

// forecastTree is a cluster of 10 CPU and 10 MiB: pool a may reserve 4 CPU, pool b has 3 CPU reserved, b1 is in it.
func forecastTree(t *testing.T) *pool.Hierarchy {
	t.Helper()
	free := pool.Controls{Limit: pool.Unlimited, Shares: 1}
	h, err := pool.NewHierarchy(cluster.Resources{CPU: 10_000, Memory: 10}, []pool.Pool{
		{Name: "a", Settings: pool.Settings{CPU: pool.Controls{Limit: 4000, Shares: 1}, Memory: free}},
		{Name: "b", Settings: pool.Settings{CPU: pool.Controls{Reservation: 3000, Limit: pool.Unlimited, Shares: 1}, Memory: free}},
		{Name: "b1", Parent: "b", Settings: pool.Settings{CPU: free, Memory: free}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func TestForecast(t *testing.T) {
	t.Parallel()
	type taken struct {
		pool     string
		cpu      cluster.MilliCPU
		from, to int
	}
	for _, c := range []struct {
		name  string
		takes []taken
		pool  string
		cpu   cluster.MilliCPU
		want  int // seconds; -1: never
		limit string
	}{
		{"nothing runs", nil, "a", 4000, 0, ""},
		{"after what is in the pool", []taken{{"a", 2000, 0, 100}}, "a", 3000, 100, "the limit of pool a, 4 CPU"},
		{"beside what is in the pool", []taken{{"a", 2000, 0, 100}}, "a", 2000, 0, ""},
		{"more than the limit", nil, "a", 4001, -1, "the limit of pool a, 4 CPU"},
		{"the reservation of an idle pool is not lent", nil, "", 7500, -1, "what the pools leave of the cluster, 10 CPU"},
		{"within an own reservation nothing more is taken", []taken{{"", 7000, 0, 100}}, "b1", 3000, 0, ""},
		{"beyond an own reservation", []taken{{"", 7000, 0, 100}}, "b1", 3001, 100, "what the pools leave of the cluster, 10 CPU"},
		{"beside others in the reservation", []taken{{"", 7000, 0, 100}, {"b", 2000, 0, 50}}, "b1", 3000, 50, "what the pools leave of the cluster, 10 CPU"},
		{"a vjob that begins later", []taken{{"a", 2000, 40, 60}}, "a", 3000, 60, "the limit of pool a, 4 CPU"},
	} {
		f := forecastTree(t).Forecast(noon)
		for _, x := range c.takes {
			f.Need(x.pool, cluster.Resources{CPU: x.cpu}).Take(after(x.from), time.Duration(x.to-x.from)*time.Second, true)
		}
		start, limit, ok := f.Need(c.pool, cluster.Resources{CPU: c.cpu}).Earliest(noon, time.Minute, true)
		if ok != (c.want >= 0) || ok && !start.Equal(after(c.want)) || limit != c.limit {
			t.Errorf("%s: %s, %q, %t", c.name, start, limit, ok)
		}
	}
}

// Compared with ledgers, second by second.
func TestForecastAgainstLedgers(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 2))
	for range 300 {
		h, names := randomPools(rng)
		f := h.Forecast(noon)
		const horizon = 120
		ledgers := make([]*pool.Ledger, horizon)
		for i := range ledgers {
			ledgers[i] = h.Ledger()
		}
		for range 12 {
			name := names[rng.IntN(len(names))]
			need := cluster.Resources{CPU: cluster.MilliCPU(rng.IntN(4)), Memory: cluster.MiB(rng.IntN(4))}
			length, from := 1+rng.IntN(20), rng.IntN(20)
			want := -1
			for at := from; at+length <= horizon && want < 0; at++ {
				want = at
				for s := at; s < at+length; s++ {
					if ledgers[s].Refuses(name, need) != "" {
						want = -1
						break
					}
				}
			}
			n := f.Need(name, need)
			start, _, ok := n.Earliest(after(from), time.Duration(length)*time.Second, true)
			if ok != (want >= 0) || ok && !start.Equal(after(want)) {
				t.Fatalf("%s in %q from %d for %d of %s: %s, %t, want %d", need, name, from, length, describe(h), start.Sub(noon), ok, want)
			}
			if !ok || want+length > horizon/2 {
				continue
			}
			if rng.IntN(4) == 0 { // one that runs whatever the limits
				want = from
			}
			n.Take(after(want), time.Duration(length)*time.Second, true)
			for s := want; s < want+length; s++ {
				ledgers[s].Count(name, need)
			}
		}
	}
}

func randomPools(rng *rand.Rand) (*pool.Hierarchy, []string) {
	for {
		var pools []pool.Pool
		names := []string{""}
		for i := range rng.IntN(6) {
			p := pool.Pool{Name: "p" + strconv.Itoa(i), Parent: names[rng.IntN(len(names))]}
			for _, c := range []*pool.Controls{&p.CPU, &p.Memory} {
				*c = pool.Controls{Limit: pool.Unlimited, Shares: 1}
				if rng.IntN(2) == 0 {
					c.Limit = int64(1 + rng.IntN(8))
				}
				if rng.IntN(2) == 0 {
					c.Reservation = int64(rng.IntN(4))
				}
			}
			pools, names = append(pools, p), append(names, p.Name)
		}
		if h, err := pool.NewHierarchy(cluster.Resources{CPU: 10, Memory: 10}, pools); err == nil {
			return h, names
		}
	}
}

func describe(h *pool.Hierarchy) (text string) {
	for _, m := range h.Members() {
		text += fmt.Sprintf("%s in %d: %+v; ", m.Name, m.Parent, m.Settings)
	}
	return text
}

// A forecast of ten thousand vjobs in a hundred pools, every other one with a reservation of its own.
func BenchmarkForecast(b *testing.B) {
	free := pool.Controls{Limit: pool.Unlimited, Shares: 1}
	var pools []pool.Pool
	for i := range 100 {
		p := pool.Pool{Name: "p" + strconv.Itoa(i), Settings: pool.Settings{CPU: free, Memory: free}}
		p.Memory.Limit = 1000
		if i%2 == 0 {
			p.Memory.Reservation = 100
		}
		pools = append(pools, p)
	}
	h, err := pool.NewHierarchy(cluster.Resources{CPU: 1000, Memory: 50_000}, pools)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		f := h.Forecast(noon)
		for i := range 10_000 {
			n := f.Need(pools[i%len(pools)].Name, cluster.Resources{Memory: cluster.MiB(1 + i%50)})
			start, _, ok := n.Earliest(noon, time.Duration(1+i%97)*time.Minute, true)
			if !ok {
				b.Fatal("no start")
			}
			n.Take(start, time.Duration(1+i%97)*time.Minute, true)
		}
	}
}
