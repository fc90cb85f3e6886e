package consolidate_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"vjob/energy"
	"vjob/energy/consolidate"
)

// some draws a cluster of a few nodes with VMs on them.
func some(seed uint64, nodes, vms int) *consolidate.Problem {
	rng := rand.New(rand.NewPCG(seed, 5))
	p := &consolidate.Problem{Resources: []string{"cpu", "memory"}, Criteria: consolidate.Default, Seed: seed}
	for range nodes {
		idle := energy.Watts(50 + rng.IntN(100))
		p.Nodes = append(p.Nodes, consolidate.Node{
			CPU: 4000, Capacity: []float64{4000, 8192}, MayTurnOff: rng.IntN(2) == 0,
			Power: energy.Power{Idle: idle, Full: idle + energy.Watts(60+rng.IntN(200)), Standby: 5, On: energy.Switch{Energy: 5000}},
		})
	}
	for range vms {
		cpu := 500 * (1 + rng.IntN(3))
		vm := consolidate.VM{
			Node: rng.IntN(nodes), Load: float64(rng.IntN(cpu)), Need: []float64{float64(cpu), float64(512 * (1 + rng.IntN(4)))},
			Fixed: rng.IntN(6) == 0, MoveEnergy: energy.Joules(200 + rng.IntN(3000)), Remaining: time.Duration(1+rng.IntN(180)) * time.Minute,
		}
		if used(p, vm.Node)[0]+vm.Need[0] <= 4000 && used(p, vm.Node)[1]+vm.Need[1] <= 8192 {
			p.VMs = append(p.VMs, vm)
		}
	}
	p.May = func(vm, node int) bool { return (vm+node)%5 != 0 }
	return p
}

func used(p *consolidate.Problem, node int) [2]float64 {
	sum := [2]float64{}
	for _, vm := range p.VMs {
		if vm.Node == node {
			sum[0], sum[1] = sum[0]+vm.Need[0], sum[1]+vm.Need[1]
		}
	}
	return sum
}

// value is the power of a placement, with the costs of moves and of switching nodes; false if it
// is not allowed.
func value(p *consolidate.Problem, to []int) (watts float64, ok bool) {
	load, need, count := make([]float64, len(p.Nodes)), make([][2]float64, len(p.Nodes)), make([]int, len(p.Nodes))
	was := make([]int, len(p.Nodes))
	for i, vm := range p.VMs {
		was[vm.Node]++
		n := to[i]
		load[n], count[n] = load[n]+max(vm.Load, 1e-6), count[n]+1
		need[n][0], need[n][1] = need[n][0]+vm.Need[0], need[n][1]+vm.Need[1]
		if n == vm.Node {
			continue
		}
		if vm.Fixed || vm.Remaining <= 2*time.Minute || !p.May(i, n) {
			return 0, false
		}
		watts += 0.1 + p.Factor*float64(vm.MoveEnergy)/min(p.Horizon, vm.Remaining).Seconds()
	}
	for n := range p.Nodes {
		node := &p.Nodes[n]
		if load[n] > node.CPU+1e-6 || need[n][0] > node.Capacity[0] || need[n][1] > node.Capacity[1] {
			return 0, false
		}
		switch {
		case count[n] > 0 || !node.MayTurnOff:
			watts += float64(node.Power.At(load[n] / node.CPU))
		default:
			dark := p.Factor * float64(node.Power.On.Energy+node.Power.Off.Energy) / p.Horizon.Seconds()
			watts += min(float64(node.Power.Idle), float64(node.Power.Standby)+dark)
		}
	}
	return watts, true
}

// On small clusters the search finds the best of all placements that are allowed.
func TestLookAgainstAllPlaces(t *testing.T) {
	const problems = 200
	missed := 0
	for seed := range uint64(problems) {
		p := some(seed, 3, 7)
		a, err := p.Search(0)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		found, ok := value(p, a.To)
		if !ok {
			t.Fatalf("seed %d: %v is not allowed", seed, a.To)
		}
		best, to := math.Inf(1), make([]int, len(p.VMs))
		for next := true; next; next = count(to, len(p.Nodes)) {
			if v, ok := value(p, to); ok {
				best = min(best, v)
			}
		}
		if found > best+1e-3 {
			missed++
			t.Logf("seed %d: %.2f W, the best is %.2f W", seed, found, best)
		}
	}
	if missed > problems/50 {
		t.Errorf("%d of %d are not the best", missed, problems)
	}
}

// count advances to the next placement; false after the last one.
func count(to []int, nodes int) bool {
	for i := range to {
		to[i]++
		if to[i] < nodes {
			return true
		}
		to[i] = 0
	}
	return false
}

// Saves equals a simulation second by second.
func TestSavesSecondBySecond(t *testing.T) {
	for seed := range uint64(60) {
		p := some(seed, 4, 9)
		a, err := p.Search(0)
		if err != nil {
			t.Fatal(err)
		}
		const after = 40 * time.Second
		draws := func(to func(vm int) int, at time.Duration) (watts energy.Watts) {
			load, on := make([]float64, len(p.Nodes)), make([]bool, len(p.Nodes))
			for i, vm := range p.VMs {
				if vm.Remaining > at {
					load[to(i)] += vm.Load
					on[to(i)] = true
				}
			}
			for n := range p.Nodes {
				if node := &p.Nodes[n]; on[n] || !node.MayTurnOff {
					watts += node.Power.At(load[n] / node.CPU)
				} else {
					watts += node.Power.Standby
				}
			}
			return watts
		}
		want := energy.Joules(0)
		for at := after; at < p.Horizon; at += time.Second {
			before := draws(func(vm int) int { return p.VMs[vm].Node }, at)
			want += (before - draws(func(vm int) int { return a.To[vm] }, at)).Over(time.Second)
		}
		if got := p.Saves(a, after); math.Abs(float64(got-want)) > 1 {
			t.Errorf("seed %d: %.1f J are saved, second by second %.1f J", seed, got, want)
		}
	}
}

// A large cluster is searched subset by subset, and each node that could save power is in one.
func TestEveryNodeHasItsTurn(t *testing.T) {
	p := some(3, 200, 500)
	p.May = nil
	moved := map[int]bool{}
	for turn, turns := 0, 1; turn < turns; turn++ {
		a, err := p.Search(turn)
		if err != nil {
			t.Fatal(err)
		}
		turns = a.Subsets
		if a.Nodes > 32 {
			t.Fatalf("%d nodes at once", a.Nodes)
		}
		for _, vm := range a.Moves {
			moved[p.VMs[vm].Node] = true
		}
	}
	if len(moved) < 100 {
		t.Errorf("VMs leave %d nodes in all turns together", len(moved))
	}
}

// No VM moves without a saving, and VMs that end soon stay.
func TestNoMoveWithoutSaving(t *testing.T) {
	same := energy.Power{Idle: 100, Full: 200, Standby: 5}
	p := &consolidate.Problem{Resources: []string{"memory"}, Criteria: consolidate.Default}
	for n := range 6 {
		p.Nodes = append(p.Nodes, consolidate.Node{CPU: 4, Capacity: []float64{8}, Power: same})
		p.VMs = append(p.VMs, consolidate.VM{Node: n, Load: 1, Need: []float64{1}, MoveEnergy: 10, Remaining: time.Hour})
	}
	if a, err := p.Search(0); err != nil || len(a.Moves) > 0 {
		t.Errorf("nodes that stay on: %v, %v", a.Moves, err)
	}
	for n := range p.Nodes {
		p.Nodes[n].MayTurnOff, p.VMs[n].Remaining = true, time.Minute
	}
	if a, err := p.Search(0); err != nil || len(a.Moves) > 0 {
		t.Errorf("VMs that end: %v, %v", a.Moves, err)
	}
	for n := range p.Nodes {
		p.VMs[n].Remaining = time.Hour
	}
	a, err := p.Search(0)
	if err != nil || len(a.Emptied) != 4 || !slices.Equal(a.Emptied, slices.Compact(slices.Sorted(slices.Values(a.Emptied)))) {
		t.Errorf("six nodes with a quarter each: %v go off, %v", a.Emptied, err)
	}
	if a.Before-a.After != 4*95 {
		t.Errorf("%s, then %s", a.Before, a.After)
	}
}

// Searches of a large cluster, and of one the size of a subset.
func BenchmarkLook(b *testing.B) {
	for _, size := range []struct {
		name       string
		nodes, vms int
	}{{"nodes=32", 32, 128}, {"nodes=1000", 1000, 5000}, {"nodes=10000", 10000, 50000}} {
		b.Run(size.name, func(b *testing.B) {
			p := some(1, size.nodes, size.vms/4)
			for i := 0; len(p.VMs) < size.vms; i++ {
				p.VMs = append(p.VMs, consolidate.VM{Node: i % size.nodes, Load: 300, Need: []float64{300, 600}, MoveEnergy: 500, Remaining: time.Hour})
			}
			for n := range p.Nodes {
				p.Nodes[n].Capacity = []float64{1e5, 1e5}
			}
			for b.Loop() {
				if _, err := p.Search(0); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// Idle VMs fit beside VMs that use all CPU of a node, or more than that.
func TestIdleVMsNeedNoCPU(t *testing.T) {
	for _, busy := range []float64{800, 900} { // 5 of them on 4 processors
		p := &consolidate.Problem{Resources: []string{"memory"}, Criteria: consolidate.Default}
		for range 3 {
			p.Nodes = append(p.Nodes, consolidate.Node{CPU: 4000, Capacity: []float64{64}, MayTurnOff: true, Power: energy.Power{Idle: 1000, Full: 1000}})
		}
		vm := func(node int, load float64) {
			p.VMs = append(p.VMs, consolidate.VM{Node: node, Load: load, Need: []float64{1}, Remaining: time.Hour})
		}
		for range 5 {
			vm(0, busy)
			vm(0, 0)
		}
		vm(1, 0)
		vm(2, 0)
		a, err := p.Search(0)
		if err != nil {
			t.Fatal(err)
		}
		if len(a.Emptied) != 2 {
			t.Errorf("busy VMs of %g: nodes %d are emptied, want both that have an idle VM", busy, a.Emptied)
		}
	}
}
