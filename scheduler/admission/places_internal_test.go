package admission

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"vjob/cluster"
	"vjob/tests/pace"
)

func somewhere(random *rand.Rand, n int, most cluster.Resources) (list []cluster.Resources) {
	for range n {
		list = append(list, cluster.Resources{
			CPU: cluster.MilliCPU(random.IntN(int(most.CPU) + 1)), Memory: 1 + cluster.MiB(random.IntN(int(most.Memory))),
		})
	}
	return list
}

func jobOf(sizes []cluster.Resources) *cluster.VJob {
	job := &cluster.VJob{ID: 1, Name: "j", Owner: "u", Terms: &cluster.Terms{}}
	for rank, size := range sizes {
		job.VMs = append(job.VMs, cluster.VM{ID: cluster.VMID{VJob: 1, Rank: rank}, Reserved: size})
	}
	return job
}

func nodesOf(sizes []cluster.Resources) (nodes []cluster.Node) {
	for i, size := range sizes {
		size.CPU++
		nodes = append(nodes, cluster.Node{ID: cluster.NodeID(fmt.Sprintf("n%d", i)), Capacity: size})
	}
	return nodes
}

// The verdict and its words are those of the planner, which was asked about each vjob before.
func TestHopelessSaysWhatThePlannerSays(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	filled, hopelessOnes := 0, 0
	for range 400 / pace.Slower {
		nodes := nodesOf(somewhere(random, 1+random.IntN(6), cluster.Resources{CPU: 8, Memory: 8}))
		sizes := somewhere(random, 1+random.IntN(3), cluster.Resources{CPU: 4, Memory: 5})
		var vms []cluster.Resources
		for range 1 + random.IntN(10) {
			vms = append(vms, sizes[random.IntN(len(sizes))])
		}
		job := jobOf(vms)
		got, want := hopeless(job.VMs, "", nodes), planned(job.VMs, "", nodes)
		if got != want {
			t.Fatalf("VMs %v on nodes %v: %q, the planner says %q", vms, nodes, got, want)
		}
		if fill(job.VMs, nodes) {
			filled++
		}
		if want != "" {
			hopelessOnes++
		}
	}
	if filled < 100/pace.Slower || hopelessOnes < 50/pace.Slower {
		t.Errorf("%d fill the nodes, %d are hopeless", filled, hopelessOnes)
	}
}

// A submission of usual VMs touches as many nodes as it needs: it allocates as much with 10,000 nodes as with 10.
func TestHopelessTouchesFewNodes(t *testing.T) {
	job := jobOf([]cluster.Resources{{CPU: 1000, Memory: 512}, {CPU: 1000, Memory: 512}, {CPU: 4000, Memory: 512}})
	allocations := func(n int) float64 {
		nodes := make([]cluster.Node, n)
		for i := range nodes {
			nodes[i] = cluster.Node{ID: cluster.NodeID(fmt.Sprintf("n%d", i)), Capacity: cluster.Resources{CPU: 4000, Memory: 4096}}
		}
		return testing.AllocsPerRun(10, func() {
			if why := hopeless(job.VMs, "", nodes); why != "" {
				t.Error(why)
			}
		})
	}
	if few, many := allocations(10), allocations(10_000); many > few {
		t.Errorf("%g allocations with 10 nodes, %g with 10,000", few, many)
	}
}

// What one check costs, with and without the planner.
func BenchmarkHopeless(b *testing.B) {
	for _, n := range []int{8, 1000, 10_000} {
		nodes := make([]cluster.Node, n)
		for i := range nodes {
			nodes[i] = cluster.Node{ID: cluster.NodeID(fmt.Sprintf("n%d", i)), Capacity: cluster.Resources{CPU: 8000, Memory: 65536}}
		}
		sizes := make([]cluster.Resources, 9)
		for i := range sizes {
			sizes[i] = cluster.Resources{CPU: 1000, Memory: 512}
		}
		job := jobOf(sizes)
		for name, check := range map[string]func([]cluster.VM, string, []cluster.Node) string{"planner": planned, "now": hopeless} {
			b.Run(fmt.Sprintf("%s/nodes=%d", name, n), func(b *testing.B) {
				for b.Loop() {
					check(job.VMs, "", nodes)
				}
			})
		}
	}
}
