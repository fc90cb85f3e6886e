package admission_test

import (
	"math/rand/v2"
	"testing"

	"vjob/repack"
	"vjob/repack/admission"
)

// packed returns a problem of VMs of five sizes that fill all nodes but for gaps in which nothing fits, in gangs of four.
func packed(nodes int, seed uint64) (in *repack.Instance, gangs [][]int) {
	rng := rand.New(rand.NewPCG(seed, 0))
	sizes := [][]int64{{0, 1843}, {1, 1536}, {1, 1024}, {0, 1024}, {1, 512}}
	in = &repack.Instance{Dims: []string{"cpu", "mem"}}
	for range nodes {
		in.Nodes = append(in.Nodes, repack.Node{Capacity: []int64{2, 3686}})
		var held [][]int64
		for full := false; !full; {
			used := [2]int64{}
			held = nil
			for range 12 {
				if need := sizes[rng.IntN(len(sizes))]; used[0]+need[0] <= 2 && used[1]+need[1] <= 3686 {
					used[0], used[1], held = used[0]+need[0], used[1]+need[1], append(held, need)
				}
			}
			full = used[1] > 3686-110
		}
		for _, need := range held {
			in.VMs = append(in.VMs, repack.VM{
				Want: repack.Running, Host: repack.Nowhere, Now: need, Next: need, Weight: 1,
				Takes: repack.Durations{Boot: 1, Shutdown: 1, Suspend: 2, ResumeLocal: 2, ResumeRemote: 4, Migrate: 3},
			})
		}
	}
	order := rng.Perm(len(in.VMs))
	for len(order) > 0 {
		n := min(4, len(order))
		gangs, order = append(gangs, order[:n]), order[n:]
	}
	return in, gangs
}

// Gangs of VMs of a few sizes are all taken if they fit: where moving some finds no places, patterns do.
func TestTakeByPatterns(t *testing.T) {
	for seed := range uint64(40) {
		in, gangs := packed(10+int(seed), seed)
		test, refused, why := taken(t, in, gangs, admission.DefaultEffort)
		if refused >= 0 {
			t.Errorf("seed %d: gang %d of %d on %d nodes is refused: %s", seed, refused, len(gangs), len(in.Nodes), why)
		}
		load := make([][2]int64, len(in.Nodes))
		for vm := range in.VMs {
			if n := test.At(vm); n >= 0 {
				load[n][0], load[n][1] = load[n][0]+in.VMs[vm].Next[0], load[n][1]+in.VMs[vm].Next[1]
			}
		}
		for n, l := range load {
			if l[0] > 2 || l[1] > 3686 {
				t.Errorf("seed %d: node %d has %v of 2 and 3686", seed, n, l)
			}
		}
	}
}

// taken returns a test that has taken gangs until one was refused, which is -1 if none was.
func taken(t *testing.T, in *repack.Instance, gangs [][]int, effort int) (test *admission.Test, refused int, why admission.Refusal) {
	t.Helper()
	test, err := admission.New(in, admission.Options{Effort: effort})
	if err != nil {
		t.Fatal(err)
	}
	for i, gang := range gangs {
		if ok, why := test.Take(gang); !ok {
			return test, i, why
		}
	}
	return test, -1, admission.Refusal{}
}

// Patterns are made only if the effort that is left covers them: with 100,000 VMs they take seconds.
func TestPatternsWithinEffort(t *testing.T) {
	const seed = 9
	in, gangs := packed(10+seed, seed)
	for effort, wanted := range map[int]bool{64 + len(in.VMs)/8 - 2: false, 64 + len(in.VMs)/8: true} {
		if _, refused, _ := taken(t, in, gangs, effort); (refused < 0) != wanted {
			t.Errorf("with effort %d gang %d of %d is refused; all are to be taken: %v", effort, refused, len(gangs), wanted)
		}
	}
}
