package failover_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"vjob/cluster"
	"vjob/scheduler/failover"
)

// size is so many CPU and GiB.
func size(cpus, gib int) cluster.Resources {
	return cluster.Resources{CPU: cluster.MilliCPU(cpus) * cluster.CPU, Memory: cluster.MiB(gib) * 1024}
}

// nodes reads "8/16: 2/4 1/2; …": what a node has, and its VMs.
func nodes(tb testing.TB, text string) (list []failover.Node) {
	tb.Helper()
	read := func(word string) cluster.Resources {
		var cpus, gib int
		if _, err := fmt.Sscanf(word, "%d/%d", &cpus, &gib); err != nil {
			tb.Fatalf("%s: %v", word, err)
		}
		return size(cpus, gib)
	}
	for i, part := range strings.Split(text, ";") {
		has, vms, _ := strings.Cut(part, ":")
		n := failover.Node{ID: cluster.NodeID(fmt.Sprintf("n%d", i+1)), Free: read(strings.TrimSpace(has))}
		for word := range strings.FieldsSeq(vms) {
			n.VMs = append(n.VMs, read(word))
			n.Free = n.Free.Minus(read(word))
		}
		list = append(list, n)
	}
	return list
}

func TestCheck(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, nodes string
		lost        int
		holds       bool
		why         string
		spare       cluster.Resources
	}{
		{"nothing may be lost", "4/8: 4/8", 0, true, "", size(0, 0)},
		{"no VMs", "4/8; 4/8", 1, true, "", size(4, 8)},
		{"an only node", "4/8: 1/1", 1, false, "1 CPU and 1 GiB short", size(-1, -1)},
		{"room for either", "4/8: 2/4; 4/8: 2/4", 1, true, "", size(0, 0)},
		{"too little CPU", "4/8: 3/4; 4/8: 3/4", 1, false, "2 CPU short", size(-2, 0)},
		{"too little memory", "4/8: 1/6; 4/8: 1/6", 1, false, "4 GiB short", size(2, -4)},
		{"the largest node decides", "8/8: 2/2 2/2; 4/8: 2/2; 4/8: 2/2", 1, true, "", size(0, 8)},
		{"the largest node is too large", "16/8: 5/4; 4/8: 2/2; 4/8: 2/2", 1, false, "1 CPU short", size(-1, 8)},
		{"pieces", "4/8: 4/4; 4/8: 2/2; 4/8: 2/2", 1, false, "no place for a VM of 4 CPU and 4 GiB of n1", size(0, 8)},
		{"small pieces", "4/8: 2/2 2/2; 4/8: 2/2; 4/8: 2/2", 1, true, "", size(0, 8)},
		{"two nodes", "4/8: 2/2; 4/8: 2/2; 4/8: 2/2; 4/8", 2, true, "", size(2, 10)},
		{"two nodes and three halves", "4/8: 2/2; 4/8: 2/2; 4/8: 2/2; 4/8: 3/2", 2, false, "1 CPU short", size(-1, 8)},
		{"a node over its capacity offers nothing", "4/8: 3/1 3/1; 4/8; 4/8", 1, true, "", size(2, 14)},
		{"sizes that differ in shape", "4/8: 3/1 1/3; 4/8: 3/1 1/3; 4/8: 1/1; 4/8: 1/1", 1, true, "", size(2, 14)},
	} {
		r := failover.Check(nodes(t, c.nodes), c.lost)
		if r.Holds != c.holds || r.Why() != c.why || r.Spare != c.spare {
			t.Errorf("%s: %t, %q, spare %s; want %t, %q, %s", c.name, r.Holds, r.Why(), r.Spare, c.holds, c.why, c.spare)
		}
		if !c.holds && len(r.Lost) != min(c.lost, strings.Count(c.nodes, ";")+1) {
			t.Errorf("%s: lost %v", c.name, r.Lost)
		}
	}
}

// Needs says what a start does to the sums.
func TestNeeds(t *testing.T) {
	t.Parallel()
	r := failover.Check(nodes(t, "8/16: 2/4; 8/16: 2/4"), 1)
	for _, c := range []struct {
		sum cluster.Resources
		why string
	}{{size(4, 8), ""}, {size(5, 8), "1 CPU short"}, {size(6, 10), "2 CPU and 2 GiB short"}} {
		after := r.Needs(c.sum)
		if after.Why() != c.why || after.Holds != (c.why == "") {
			t.Errorf("%s: %q, want %q", c.sum, after.Why(), c.why)
		}
	}
	if failover.Of(1) != "the loss of a node" || failover.Of(3) != "the loss of 3 nodes" {
		t.Error(failover.Of(1), failover.Of(3))
	}
}

// fits reports whether VMs find places, by trying all.
func fits(free, vms []cluster.Resources) bool {
	if len(vms) == 0 {
		return true
	}
	for i := range free {
		if vms[0].Fits(free[i]) {
			free[i] = free[i].Minus(vms[0])
			ok := fits(free, vms[1:])
			free[i] = free[i].Plus(vms[0])
			if ok {
				return true
			}
		}
	}
	return false
}

// survives reports whether all sets of nodes can be lost, by trying all places.
func survives(list []failover.Node, n int) bool {
	for set := range 1 << len(list) {
		var free, vms []cluster.Resources
		lost := 0
		for i := range list {
			if set>>i&1 == 1 {
				lost++
				vms = append(vms, list[i].VMs...)
			} else {
				free = append(free, cluster.Resources{CPU: max(0, list[i].Free.CPU), Memory: max(0, list[i].Free.Memory)})
			}
		}
		if lost == min(n, len(list)) && !fits(free, vms) {
			return false
		}
	}
	return true
}

// draw makes up a cluster.
func draw(rng *rand.Rand) (list []failover.Node) {
	for i := range 2 + rng.IntN(5) {
		n := failover.Node{ID: cluster.NodeID(fmt.Sprintf("n%d", i)), Free: size(4+rng.IntN(9), 4+rng.IntN(9))}
		for range rng.IntN(4) {
			vm := size(rng.IntN(5), 1+rng.IntN(4))
			if vm.Fits(n.Free) || rng.IntN(10) == 0 {
				n.Free, n.VMs = n.Free.Minus(vm), append(n.VMs, vm)
			}
		}
		if rng.IntN(8) == 0 {
			n.Free = cluster.Resources{} // it takes no VMs
		}
		list = append(list, n)
	}
	return list
}

// What is said to hold does, as trying all places shows; and it is rarely denied where it holds.
func TestCheckAgainstAllPlaces(t *testing.T) {
	t.Parallel()
	held, denied := 0, 0
	for seed := range uint64(4000) {
		rng := rand.New(rand.NewPCG(seed, 7))
		list, n := draw(rng), 1+rng.IntN(2)
		before := fmt.Sprint(list)
		r, truth := failover.Check(list, n), survives(list, n)
		switch {
		case r.Holds && !truth:
			t.Fatalf("seed %d: the loss of %d of %v leaves VMs without places", seed, n, list)
		case truth:
			held++
			if !r.Holds {
				denied++
			}
		case r.Why() == "" || len(r.Lost) != n:
			t.Fatalf("seed %d: %+v", seed, r)
		}
		if fmt.Sprint(list) != before {
			t.Fatalf("seed %d: the input has changed", seed)
		}
		slices.Reverse(list)
		if failover.Check(list, n).Spare != r.Spare {
			t.Fatalf("seed %d: the order of nodes matters", seed)
		}
	}
	if held < 500 || denied*50 > held {
		t.Errorf("%d of %d clusters are denied", denied, held)
	}
}

// Many sets of nodes are judged by size classes alone, and rightly.
func TestClassesAgainstAllPlaces(t *testing.T) {
	t.Parallel()
	held := 0
	for seed := range uint64(3000) {
		rng := rand.New(rand.NewPCG(seed, 8))
		list, n := draw(rng), 1+rng.IntN(3)
		if !failover.SizeClasses(list, min(n, len(list))) {
			continue
		}
		held++
		if !survives(list, n) {
			t.Fatalf("seed %d: the loss of %d of %v leaves VMs without places", seed, n, list)
		}
	}
	if held < 300 {
		t.Errorf("only %d clusters hold", held)
	}
}

// A large cluster that the size classes do not settle: VMs of many shapes, and little to spare.
func BenchmarkCheck(b *testing.B) {
	for _, c := range []struct {
		name string
		full float64
		lost int
	}{{"half", 0.5, 1}, {"tight", 0.93, 1}, {"half-two", 0.5, 2}} {
		b.Run(c.name, func(b *testing.B) {
			rng := rand.New(rand.NewPCG(1, 1))
			var list []failover.Node
			vms := 0
			for i := range 500 {
				n := failover.Node{ID: cluster.NodeID(fmt.Sprintf("n%d", i)), Free: size(64, 256)}
				for n.Free.CPU > cluster.MilliCPU(float64(64000)*(1-c.full)) {
					vm := size(1+rng.IntN(4), 1+rng.IntN(16))
					n.Free, n.VMs = n.Free.Minus(vm), append(n.VMs, vm)
				}
				vms += len(n.VMs)
				list = append(list, n)
			}
			for b.Loop() {
				failover.Check(list, c.lost)
			}
			b.ReportMetric(float64(vms), "VMs")
		})
	}
}
