package solve_test

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"vjob/repack"
	"vjob/repack/solve"
)

// packs reports whether the VMs from the i-th on have places, by trying all.
func packs(in *repack.Instance, room [][]int64, i int) bool {
	if i == len(in.VMs) {
		return true
	}
	v := &in.VMs[i]
	for n := range room {
		if v.Stays && v.Host != n {
			continue
		}
		fits := true
		for d, need := range v.Next {
			room[n][d] -= need
			fits = fits && room[n][d] >= 0
		}
		if fits && packs(in, room, i+1) {
			return true
		}
		for d, need := range v.Next {
			room[n][d] += need
		}
	}
	return false
}

// full is a random instance that is nearly full: some VMs stay where they are, the others
// are of a few sizes and are to be booted.
func full(rng *rand.Rand) *repack.Instance {
	in := &repack.Instance{Dims: []string{"cpu", "mem"}}
	room := [][]int64{}
	for n := range 3 + rng.IntN(2) {
		size := []int64{20 + rng.Int64N(3), 30 + rng.Int64N(6)}
		in.Nodes = append(in.Nodes, repack.Node{Capacity: size})
		room = append(room, []int64{size[0], size[1]})
		if rng.IntN(2) == 0 {
			need := []int64{rng.Int64N(8), 1 + rng.Int64N(8)}
			in.VMs = append(in.VMs, repack.VM{State: repack.Running, Want: repack.Running, Host: n, Weight: 1, Now: need, Next: need, Stays: true})
			room[n][0], room[n][1] = room[n][0]-need[0], room[n][1]-need[1]
		}
	}
	sizes := make([][]int64, 2+rng.IntN(2))
	for k := range sizes {
		sizes[k] = []int64{rng.Int64N(9), 6 + rng.Int64N(12)}
	}
	var left int64
	for n := range room {
		left += room[n][1]
	}
	for {
		need := sizes[rng.IntN(len(sizes))]
		if left -= need[1]; left < 0 || len(in.VMs) == 11 {
			return in
		}
		in.VMs = append(in.VMs, repack.VM{State: repack.Ready, Want: repack.Running, Host: repack.Nowhere, Weight: 1, Now: need, Next: need})
	}
}

// Most problems without places for all VMs, although there is room in all, are proved
// infeasible at once; and no feasible one is.
func TestVMsWithoutPlaces(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 1))
	told, missed := 0, 0
	for range 400 {
		in := full(rng)
		room := make([][]int64, len(in.Nodes))
		for n := range room {
			room[n] = append([]int64{}, in.Nodes[n].Capacity...)
		}
		there := packs(in, room, 0)
		r, err := solve.Solve(in, solve.Options{Iterations: -1})
		if err != nil {
			t.Fatal(err)
		}
		why := strings.Join(r.Why, " ")
		switch {
		case there && r.Verdict == solve.Impossible:
			t.Fatalf("there are places, and it says %q: %+v", r.Why, in)
		case strings.Contains(why, "no places together"):
			told++
		case !there && !strings.Contains(why, "are missing"): // a search was needed
			missed++
		}
	}
	t.Logf("told %d, missed %d", told, missed)
	if told < 20 || missed > told/4 {
		t.Errorf("told %d times, missed %d times", told, missed)
	}
}
