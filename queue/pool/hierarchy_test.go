package pool_test

import (
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"vjob/cluster"
	"vjob/queue/pool"
)

// settings returns settings for CPU alone, in processors; limit 0 is none.
func settings(reservation, limit, shares int64) pool.Settings {
	free := pool.Controls{Limit: pool.Unlimited, Shares: 1000}
	s := pool.Settings{CPU: pool.Controls{Reservation: 1000 * reservation, Limit: pool.Unlimited, Shares: shares}, Memory: free}
	if limit > 0 {
		s.CPU.Limit = 1000 * limit
	}
	return s
}

func hierarchy(t *testing.T, cpu cluster.MilliCPU, pools ...pool.Pool) *pool.Hierarchy {
	t.Helper()
	h, err := pool.NewHierarchy(cluster.Resources{CPU: cpu * cluster.CPU, Memory: cluster.TiB}, pools)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// A reservation is taken from that of the pool first. What exceeds it is taken from the pools above, as far
// as their limits go, and then from the cluster. A refused VM changes nothing.
func TestReservationsAreHonoured(t *testing.T) {
	h := hierarchy(t, 10,
		pool.Pool{Name: "inner", Parent: "outer", Settings: settings(2, 0, 1000)},
		pool.Pool{Name: "outer", Settings: settings(3, 6, 1000)},
		pool.Pool{Name: "other", Settings: settings(3, 0, 1000)},
	)
	for _, step := range []struct {
		pool     string
		reserves int64
		want     string // part of the error
	}{
		{"inner", 2, ""}, // covered by the reservation of inner
		{"inner", 1, ""}, // 3, the reservation of outer covers it
		{"inner", 2, ""}, // 5 in outer
		{"outer", 2, "cpu.reservation: 7 CPU would be reserved in pool outer, its limit is 6 CPU"},
		{"outer", 1, ""}, // 6 in outer, 9 in the cluster
		{"other", 5, "cpu.reservation: 11 CPU would be reserved, the cluster has 10 CPU"},
		{"other", 4, ""},
		{"", 1, "cpu.reservation: 11 CPU would be reserved, the cluster has 10 CPU"},
		{"nowhere", 0, `pool: "nowhere" is not the name of a pool`},
	} {
		honoured := h.Honours(step.pool, cluster.Resources{CPU: cluster.MilliCPU(step.reserves) * cluster.CPU})
		before := len(h.Members())
		_, err := h.Add("v", step.pool, settings(step.reserves, 0, 1000))
		switch {
		case step.want == "" && err != nil, step.want != "" && (err == nil || !strings.Contains(err.Error(), step.want)):
			t.Errorf("%d in %q: got %v, want %q", step.reserves, step.pool, err, step.want)
		case (err == nil) != (honoured == nil):
			t.Errorf("%d in %q: Honours says %v, Add %v", step.reserves, step.pool, honoured, err)
		case err != nil && len(h.Members()) != before:
			t.Errorf("%d in %q: a member more after %v", step.reserves, step.pool, err)
		}
	}
	if got := h.Members()[0].Reserved.CPU; got != 10*cluster.CPU {
		t.Errorf("%s reserved in the cluster, want 10", got)
	}
}

// What an idle pool does not use its siblings get, and then the others.
func TestIdleCapacityGoesToSiblings(t *testing.T) {
	h := hierarchy(t, 12,
		pool.Pool{Name: "business", Settings: settings(0, 0, 2000)}, pool.Pool{Name: "testing", Settings: settings(0, 0, 1000)},
		pool.Pool{Name: "it", Parent: "business", Settings: settings(0, 0, 1000)}, pool.Pool{Name: "sales", Parent: "business", Settings: settings(0, 0, 1000)},
	)
	demand := map[int]cluster.Resources{}
	for i, name := range []string{"it", "sales", "testing"} {
		vm, err := h.Add("v"+strconv.Itoa(i), name, settings(0, 0, 1000))
		if err != nil {
			t.Fatal(err)
		}
		demand[vm] = cluster.Resources{CPU: 12 * cluster.CPU}
	}
	given := func() (list []cluster.MilliCPU) {
		for i, e := range h.Divide(func(vm int) cluster.Resources { return demand[vm] }) {
			if h.Members()[i].VM {
				list = append(list, e.Given.CPU)
			}
		}
		return list
	}
	if got := given(); got[0] != 4000 || got[1] != 4000 || got[2] != 4000 {
		t.Errorf("all busy: %v, want 4 each", got)
	}
	sales := len(h.Members()) - 2
	demand[sales] = cluster.Resources{CPU: cluster.CPU}
	if got := given(); got[0] != 7000 || got[1] != 1000 || got[2] != 4000 {
		t.Errorf("sales is idle: %v, want 7, 1 and 4", got)
	}
	demand[sales-1] = cluster.Resources{CPU: cluster.CPU}
	if got := given(); got[0] != 1000 || got[1] != 1000 || got[2] != 10_000 {
		t.Errorf("business is idle: %v, want 1, 1 and 10", got)
	}
}

// Pools in any order give the same tree as parents before children.
func TestOrderOfPoolsDoesNotMatter(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	for range 200 {
		pools := make([]pool.Pool, 1+rng.IntN(12))
		for i := range pools {
			pools[i] = pool.Pool{Name: "p" + strconv.Itoa(i), Settings: settings(rng.Int64N(3), 0, 1+rng.Int64N(3000))}
			if i > 0 && rng.IntN(3) > 0 {
				pools[i].Parent = "p" + strconv.Itoa(rng.IntN(i))
			}
		}
		reserved := func() map[string]cluster.Resources {
			byName := map[string]cluster.Resources{}
			h := hierarchy(t, 100, pools...)
			for _, m := range h.Members() {
				byName[m.Name] = m.Reserved
			}
			return byName
		}
		want := reserved()
		rng.Shuffle(len(pools), func(i, j int) { pools[i], pools[j] = pools[j], pools[i] })
		for name, amount := range reserved() {
			if want[name] != amount {
				t.Fatalf("%s reserves %s, want %s", name, amount, want[name])
			}
		}
	}
}
