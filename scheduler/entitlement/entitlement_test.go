package entitlement_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"vjob/cluster"
	"vjob/queue/pool"
	"vjob/scheduler/entitlement"
)

// cpuPool is a pool with controls of CPU in thousandths; limit 0 does not bind.
func cpuPool(name string, limit, shares int64) pool.Pool {
	if limit == 0 {
		limit = pool.Unlimited
	}
	return pool.Pool{Name: name, Settings: pool.Settings{
		CPU:    pool.Controls{Limit: limit, Shares: shares},
		Memory: pool.Controls{Limit: pool.Unlimited, Shares: 1000},
	}}
}

func hierarchy(t *testing.T, capacity cluster.Resources, pools ...pool.Pool) *pool.Hierarchy {
	t.Helper()
	h, err := pool.NewHierarchy(capacity, pools)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// vm is a VM of one processor and one GiB.
func vm(i int, in string, node cluster.NodeID, demand cluster.MilliCPU) entitlement.VM {
	return entitlement.VM{
		ID: cluster.VMID{VJob: cluster.VJobID(i)}, Pool: in, Node: node, Size: cluster.Resources{CPU: cluster.CPU, Memory: cluster.GiB},
		Demand: demand, Shares: 1000,
	}
}

// describe writes entitlement, weight and cap of each VM.
func describe(d *entitlement.Division, vms []entitlement.VM) (list []string) {
	for i := range vms {
		e := d.VMs[vms[i].ID]
		list = append(list, fmt.Sprintf("%d %d %d", e.Given.CPU, e.Weight, e.Cap))
	}
	return list
}

func TestDivide(t *testing.T) {
	two := []cluster.MilliCPU{2000}
	high, low := cpuPool("a", 0, 2000), cpuPool("b", 0, 1000)
	limited := cpuPool("a", 1000, 1000)
	own := vm(1, "", "n1", 1000)
	own.Limit = 300
	large := vm(1, "", "n1", 40_000)
	large.Size.CPU = 40_000
	reserved := vm(1, "b", "n1", 1000)
	reserved.Reservation = 900
	keeps := cpuPool("a", 0, 1)
	keeps.CPU.Reservation = 1600
	important := vm(1, "", "n1", 1000)
	important.Shares = 2000
	for _, c := range []struct {
		name  string
		cpu   []cluster.MilliCPU // of nodes n1, n2 …
		pools []pool.Pool
		vms   []entitlement.VM
		want  []string // entitlement, weight and cap
	}{
		{"enough for all: what they demand", two, []pool.Pool{high, low}, []entitlement.VM{vm(1, "a", "n1", 800), vm(2, "b", "n1", 100)}, []string{"800 1000 0", "100 670 0"}},
		{"contention: by shares of the pools", two, []pool.Pool{high, low}, []entitlement.VM{vm(1, "a", "n1", 1000), vm(2, "a", "n1", 1000), vm(3, "b", "n1", 1000)}, []string{"667 670 0", "666 670 0", "667 670 0"}},
		{"contention: an idle VM can wake", two, []pool.Pool{high, low}, []entitlement.VM{vm(1, "b", "n1", 1000), vm(2, "b", "n1", 1000), vm(3, "b", "n1", 0), vm(4, "", "n1", 100)}, []string{"950 950 0", "950 950 0", "0 50 0", "100 100 0"}},
		{"a reservation before shares", []cluster.MilliCPU{1000}, []pool.Pool{high, low}, []entitlement.VM{reserved, vm(2, "a", "n1", 1000)}, []string{"900 900 0", "100 100 0"}},
		{"the limit of a pool binds", []cluster.MilliCPU{8000}, []pool.Pool{limited}, []entitlement.VM{vm(1, "a", "n1", 1000), vm(2, "a", "n1", 1000), vm(3, "", "n1", 1000)}, []string{"500 500 500", "500 500 500", "1000 1000 0"}},
		{"within the limit the idle one leaves its part", []cluster.MilliCPU{8000}, []pool.Pool{limited}, []entitlement.VM{vm(1, "a", "n1", 800), vm(2, "a", "n1", 100)}, []string{"800 800 800", "100 200 200"}},
		{"a limit of its own", two, nil, []entitlement.VM{own, vm(2, "", "n1", 1000)}, []string{"300 300 300", "1000 1000 0"}},
		{"weights of a large VM are scaled", []cluster.MilliCPU{100_000, 1000}, nil, []entitlement.VM{large, vm(2, "", "n1", 1000), vm(3, "", "n2", 1000)}, []string{"40000 10000 0", "1000 250 0", "1000 1000 0"}},
		{"a crowded node in a cluster with room: shares decide there", []cluster.MilliCPU{1000, 3000}, nil, []entitlement.VM{important, vm(2, "", "n1", 1000), vm(3, "", "n2", 1000)}, []string{"1000 670 0", "1000 330 0", "1000 1000 0"}},
		{"a crowded node: shares of pools", []cluster.MilliCPU{1000, 3000}, []pool.Pool{high, low}, []entitlement.VM{vm(1, "a", "n1", 1000), vm(2, "b", "n1", 1000), vm(3, "b", "n1", 1000)}, []string{"1000 670 0", "1000 170 0", "1000 170 0"}},
		{"a crowded node: what is reserved comes first", []cluster.MilliCPU{1000, 3000}, []pool.Pool{high, low}, []entitlement.VM{reserved, vm(2, "a", "n1", 1000)}, []string{"1000 900 0", "1000 100 0"}},
		{"a crowded node: the part of the reservation of a pool", []cluster.MilliCPU{1000, 3000}, []pool.Pool{keeps, low}, []entitlement.VM{vm(1, "a", "n1", 1000), vm(2, "a", "n2", 1000), vm(3, "b", "n1", 1000)}, []string{"1000 800 0", "1000 1000 0", "1000 200 0"}},
	} {
		nodes, sum := map[cluster.NodeID]cluster.Resources{}, cluster.Resources{}
		for i, cpu := range c.cpu {
			nodes[cluster.NodeID(fmt.Sprint("n", i+1))] = cluster.Resources{CPU: cpu, Memory: 8192}
			sum = sum.Plus(cluster.Resources{CPU: cpu, Memory: 8192})
		}
		d := entitlement.Divide(hierarchy(t, sum, c.pools...), nodes, c.vms)
		if got := describe(d, c.vms); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

// Random clusters: nothing is given twice, reservations are honoured as far as there is capacity, no VM gets more
// than it demands, and caps keep the limits.
func TestDivisionsHold(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	for range 2000 {
		nodes, capacity := map[cluster.NodeID]cluster.Resources{}, cluster.Resources{}
		for i := range 3 {
			has := cluster.Resources{CPU: cluster.MilliCPU(300 * (1 + rng.IntN(16))), Memory: cluster.TiB}
			nodes[cluster.NodeID("n"+strconv.Itoa(i))], capacity = has, capacity.Plus(has)
		}
		h, vms := randomCluster(t, rng, capacity)
		d := entitlement.Divide(h, nodes, vms)
		sum, capped := cluster.MilliCPU(0), map[string]cluster.MilliCPU{}
		for i := range vms {
			v, e := &vms[i], d.VMs[vms[i].ID]
			sum += e.Given.CPU
			switch {
			case e.Given.CPU > e.Demand.CPU, e.Given.CPU < min(v.Reservation, v.Size.CPU):
				t.Fatalf("VM %s of %+v: %+v", v.ID, v, e)
			case e.Weight < 1 || e.Weight > entitlement.MaxWeight:
				t.Fatalf("VM %s has weight %d", v.ID, e.Weight)
			case v.Limit > 0 && v.Limit < v.Size.CPU && (e.Cap == 0 || e.Cap > v.Limit):
				t.Fatalf("VM %s has cap %s, its limit is %s", v.ID, e.Cap, v.Limit)
			}
			most := e.Cap
			if most == 0 {
				most = max(v.Size.CPU, v.Demand)
			}
			capped[v.Pool] += most - 10 // the least cap, for which a limit may be exceeded
		}
		if sum > capacity.CPU {
			t.Fatalf("%s given of %s", sum, capacity.CPU)
		}
		for _, p := range d.Pools[1:] {
			if limit := p.CPU.Limit; int64(capped[p.Name]) > limit {
				t.Fatalf("the VMs in pool %s may use %s, its limit is %d", p.Name, capped[p.Name], limit)
			}
		}
	}
}

// randomCluster returns pools and VMs of which the reservations fit.
func randomCluster(t *testing.T, rng *rand.Rand, capacity cluster.Resources) (*pool.Hierarchy, []entitlement.VM) {
	t.Helper()
	pools := make([]pool.Pool, rng.IntN(5))
	for i := range pools {
		pools[i] = cpuPool("p"+strconv.Itoa(i), int64(rng.IntN(2)*(500+rng.IntN(4000))), 1+rng.Int64N(3000))
		if i > 0 && rng.IntN(2) == 0 {
			pools[i].Parent = "p" + strconv.Itoa(rng.IntN(i))
		}
	}
	h := hierarchy(t, capacity, pools...)
	ledger := h.Ledger()
	var vms []entitlement.VM
	for i := range rng.IntN(20) {
		v := vm(i+1, "", cluster.NodeID("n"+strconv.Itoa(rng.IntN(3))), cluster.MilliCPU(rng.IntN(1500)))
		if len(pools) > 0 && rng.IntN(4) > 0 {
			v.Pool = pools[rng.IntN(len(pools))].Name
		}
		v.Shares, v.Limit = 1+rng.Int64N(3000), cluster.MilliCPU(rng.IntN(2)*(100+rng.IntN(1500)))
		reserves := cluster.Resources{CPU: cluster.MilliCPU(rng.IntN(800))}
		if v.Limit > 0 {
			reserves.CPU = min(reserves.CPU, v.Limit)
		}
		if rng.IntN(2) == 0 && ledger.Refuses(v.Pool, reserves) == "" {
			ledger.Count(v.Pool, reserves)
			v.Reservation = reserves.CPU
		}
		vms = append(vms, v)
	}
	return h, vms
}

// A division of 10,000 VMs in 100 pools.
func BenchmarkDivide(b *testing.B) {
	pools, vms := make([]pool.Pool, 100), make([]entitlement.VM, 10_000)
	for i := range pools {
		pools[i] = cpuPool("p"+strconv.Itoa(i), 0, int64(1+i))
		if i > 10 {
			pools[i].Parent = "p" + strconv.Itoa(i/10)
		}
	}
	for i := range vms {
		vms[i] = vm(i+1, pools[i%len(pools)].Name, cluster.NodeID("n"+strconv.Itoa(i%500)), cluster.MilliCPU(i%1000))
	}
	nodes := map[cluster.NodeID]cluster.Resources{}
	for i := range 500 { // half of them are crowded
		nodes[cluster.NodeID("n"+strconv.Itoa(i))] = cluster.Resources{CPU: cluster.MilliCPU(5000 + i%2*10_000), Memory: cluster.TiB}
	}
	h, err := pool.NewHierarchy(cluster.Resources{CPU: 5_000_000, Memory: 500 * cluster.TiB}, pools)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		entitlement.Divide(h, nodes, vms)
	}
}
