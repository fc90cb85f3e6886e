package scheduler_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/queue"
	"vjob/queue/pool"
	"vjob/scheduler"
	"vjob/scheduler/admission"
	"vjob/scheduler/balance"
	"vjob/scheduler/decide"
	"vjob/scheduler/improve"
)

// withMemory is a pool that reserves at most so much memory.
func withMemory(name, limit string) pool.PoolStatement {
	return pool.PoolStatement{Name: name, Statement: pool.Statement{Memory: pool.Stated{Limit: limit}}}
}

// pooledHour are two nodes of four processors with a vjob of two VMs each, in pools a and b, for an hour. Vjob 3, in pool
// a, waits since pool a may reserve 3 GiB.
func pooledHour(t *testing.T) *rig {
	t.Helper()
	_, l := pooled(t)
	for _, job := range l.VJobs {
		job.Walltime = time.Hour
	}
	r := mount(t, settings(), l)
	r.set(withMemory("a", "3GiB"))
	r.set(withMemory("b", ""))
	r.drain()
	return r
}

// A vjob that its pool has no reservation for waits in the forecast and in what-ifs until the pool has.
func TestPoolsCountInForecasts(t *testing.T) {
	r := pooledHour(t)
	answer, err := r.core.Forecast(r.now)
	if err != nil {
		t.Fatal(err)
	}
	f := answer()
	if e := f.Estimates[2]; f.VJobs[2].ID != 3 || !e.Start.Equal(f.Estimates[0].End) || !strings.HasSuffix(e.Why(), "it is within the limit of pool a, 3 GiB") {
		t.Errorf("vjob 3 starts at %s: %s; vjob 1 ends at %s", e.Start, e.Why(), f.Estimates[0].End)
	}
	sub := &admission.Submission{Owner: "u", Terms: cluster.Terms{Pool: "a"}, VMs: []cluster.VM{{Reserved: cluster.Resources{CPU: 1000, Memory: 2048}}}}
	w, err := r.suppose(scheduler.WhatIf{Submit: sub})
	if err != nil {
		t.Fatal(err)
	}
	x := w.VJobs[len(w.VJobs)-1]
	if !x.Hypothetical() || x.Then.Target != queue.Wait || !strings.Contains(x.Then.Reason, "pool a: 2 GiB of 3 GiB are reserved") || x.ThenStart.IsZero() {
		t.Errorf("a vjob more than pool a holds: %+v", x)
	}
	none := []pool.PoolStatement{}
	if w, err = r.suppose(scheduler.WhatIf{Submit: sub, Pools: &none}); err == nil {
		t.Errorf("a vjob in a pool that does not exist: %+v", w)
	}
}

// Other pools, nodes and demands are answered with figures before and after.
func TestSupposeChanges(t *testing.T) {
	wide := []pool.PoolStatement{withMemory("a", "4GiB"), withMemory("b", "")}
	for _, c := range []struct {
		name  string
		s     scheduler.WhatIf
		lots  string
		check func(f *scheduler.WhatIfResult) bool
	}{
		{"nothing", scheduler.WhatIf{}, "", func(f *scheduler.WhatIfResult) bool {
			return f.Before.Waiting == 1 && f.After.Waiting == 1 && f.Before.Waits.Known == 1 && f.Before.Waits.Mean == f.After.Waits.Mean &&
				f.Before.Waits.Latest.Equal(f.After.Waits.Latest) && len(f.Before.Pools) == 3
		}},
		{"a wider pool", scheduler.WhatIf{Pools: &wide}, "3 wait run", func(f *scheduler.WhatIfResult) bool {
			return f.After.Running == 3 && f.After.Waits.Known == 0 && f.After.Pools[1].VMs == 4 && len(f.Plan.Actions) == 2
		}},
		{"a node more", scheduler.WhatIf{Add: []decide.NewNode{{Name: "c", Like: "a"}}}, "", func(f *scheduler.WhatIfResult) bool {
			return f.Nodes == 3 && f.After.Capacity.CPU == 12_000 && f.Before.Capacity.CPU == 8000 && f.After.Imbalance.Total > f.Before.Imbalance.Total
		}},
		{"rules for a node more", scheduler.WhatIf{Add: []decide.NewNode{{Name: "c", Like: "a"}}, Rules: new("fence({1.0}, {c});")}, "", func(f *scheduler.WhatIfResult) bool {
			return len(f.Plan.Actions) > 0 && f.Plan.Actions[0].To == "c"
		}},
		{"a node off", scheduler.WhatIf{Off: []cluster.NodeID{"b"}}, "", func(f *scheduler.WhatIfResult) bool {
			return f.Nodes == 1 && len(f.Plan.Actions) == 2 && f.After.Loads[0].Node == "a" && f.After.Loads[0].CPU == 1 && len(f.After.Loads) == 1
		}},
		{"other demand", scheduler.WhatIf{Demand: []decide.DemandChange{{Pool: "a", CPU: 3000}}}, "", func(f *scheduler.WhatIfResult) bool {
			return f.Before.Demand == 4000 && f.After.Demand == 8000 && f.After.Served == 6000 && f.After.Pools[1].Wanted == 6000 && f.After.Pools[0].Wanted == 8000
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := pooledHour(t)
			before := len(r.core.Snapshot().Pools.Pools)
			f, err := r.suppose(c.s)
			if err != nil || lots(f) != c.lots || !c.check(&f) {
				t.Errorf("%v: %s (want %s)\nbefore %+v\nafter %+v\nplan %v", err, lots(f), c.lots, f.Before, f.After, f.Plan.Actions)
			}
			if s := r.core.Snapshot(); len(s.Pools.Pools) != before || len(s.Nodes) != 2 {
				t.Error("the question has changed the cluster")
			}
		})
	}
}

// Nodes that are added are balanced, if the settings balance nodes and nothing else is to be done.
func TestSupposeBalance(t *testing.T) {
	set := settings()
	set.Live = true
	set.Improve = improve.Settings{Balance: &improve.BalanceSettings{Settings: balance.Default, Every: time.Hour}, Placement: improve.Spread}
	_, l := pooled(t)
	l.VJobs, l.Gangs = l.VJobs[:2], l.Gangs[:2]
	for _, job := range l.VJobs {
		job.Pool = ""
	}
	r := mount(t, set, l)
	for _, v := range r.views {
		for i := range v.Copies {
			v.Copies[i].Lock = true
		}
	}
	r.core.Improver.NoteDemand(r.now)
	r.drain()
	f, err := r.suppose(scheduler.WhatIf{Add: []decide.NewNode{{Name: "c", Like: "a"}}})
	if err != nil {
		t.Fatal(err)
	}
	if f.Before.Balancing == nil || f.After.Balancing == nil || f.Before.Pools != nil {
		t.Fatalf("before %+v, after %+v", f.Before, f.After)
	}
	b := f.After.Balancing
	moved := slices.ContainsFunc(b.Moves, func(m decide.BalanceMove) bool { return m.To == "c" })
	if b.Before.Total != f.After.Imbalance.Total || b.After.Total >= b.Before.Total || !moved {
		t.Errorf("balancing starts from %f, the imbalance is %f: %+v", b.Before.Total, f.After.Imbalance.Total, b)
	}
}

func TestSupposeNonsenseOfChanges(t *testing.T) {
	large := []pool.PoolStatement{cpuPool("x", "", "9", "")}
	circle := []pool.PoolStatement{cpuPool("x", "y", "", ""), cpuPool("y", "x", "", "")}
	root := []pool.PoolStatement{cpuPool("cluster", "", "", "")}
	for _, c := range []struct {
		s    scheduler.WhatIf
		want string
	}{
		{scheduler.WhatIf{Pools: &large}, "pools[0].cpu.reservation: 9 CPU would be reserved, the cluster has 8 CPU"},
		{scheduler.WhatIf{Pools: &circle}, "pools[0].parent: \"x\" is in itself"},
		{scheduler.WhatIf{Pools: &root}, "pools[0].name: "},
		{scheduler.WhatIf{Add: []decide.NewNode{{Name: "b", Like: "a"}}}, "add[0].name: "},
		{scheduler.WhatIf{Add: []decide.NewNode{{Like: "z"}}}, "add[0].like: "},
		{scheduler.WhatIf{Demand: []decide.DemandChange{{Pool: "c", CPU: 1}}}, "demand[0].pool: "},
	} {
		r := pooledHour(t)
		if _, err := r.suppose(c.s); err == nil || !strings.HasPrefix(err.Error(), c.want) || !errors.Is(err, cluster.ErrInvalid) {
			t.Errorf("got %v, want %s", err, c.want)
		}
	}
	r := pooledHour(t)
	if _, err := r.suppose(scheduler.WhatIf{Off: []cluster.NodeID{"z"}}); !errors.Is(err, cluster.ErrNotFound) {
		t.Errorf("an unknown node off: %v", err)
	}
	large = append(large[:0], cpuPool("x", "", "9", "")) // with a node more it fits
	if _, err := r.suppose(scheduler.WhatIf{Pools: &large, Add: []decide.NewNode{{Like: "a"}}}); err != nil {
		t.Errorf("9 CPU reserved of 12: %v", err)
	}
}
