package solve_test

import (
	"math/rand/v2"
	"testing"

	"vjob/repack"
	"vjob/repack/solve"
)

// fewSizes returns a problem with VMs of seven sizes that have places together, as a log of parallel jobs has it: nodes have
// two processors, and room for two of the largest VMs. A part of the VMs runs, each anywhere.
func fewSizes(nodes int, seed uint64) *repack.Instance {
	rng := rand.New(rand.NewPCG(seed, uint64(nodes)))
	sizes := [][]int64{{0, 1843}, {0, 1843}, {0, 1843}, {0, 1536}, {0, 1024}, {0, 512}, {1000, 1536}, {1000, 1024}, {1000, 512}}
	room := []int64{2000, 3686}
	in := &repack.Instance{Dims: []string{"cpu", "mem"}, NodeOn: 1, NodeOff: 1}
	for range nodes {
		in.Nodes = append(in.Nodes, repack.Node{Capacity: room})
	}
	used := make([][2]int64, nodes)
	fits := func(n int, need []int64) bool { return used[n][0]+need[0] <= room[0] && used[n][1]+need[1] <= room[1] }
	add := func(n int, need []int64) { used[n][0], used[n][1] = used[n][0]+need[0], used[n][1]+need[1] }
	for n := range nodes {
		var held [][]int64
		for room[1]-used[n][1] > 110 {
			used[n], held = [2]int64{}, nil
			for range 12 {
				if need := sizes[rng.IntN(len(sizes))]; fits(n, need) {
					add(n, need)
					held = append(held, need)
				}
			}
		}
		for _, need := range held {
			takes := repack.Durations{Boot: 6, Shutdown: 25, Suspend: repack.Ticks(need[1] / 20), Migrate: repack.Ticks(need[1] / 85)}
			takes.ResumeLocal, takes.ResumeRemote = takes.Suspend, 3*takes.Suspend
			in.VMs = append(in.VMs, repack.VM{State: repack.Ready, Want: repack.Running, Host: repack.Nowhere, Now: need, Next: need, Takes: takes, Weight: 1, Sleepable: true})
		}
	}
	clear(used)
	rng.Shuffle(len(in.VMs), func(i, j int) { in.VMs[i], in.VMs[j] = in.VMs[j], in.VMs[i] })
	for i := range in.VMs {
		v := &in.VMs[i]
		if n := rng.IntN(nodes); v.Next[1] < 1800 && fits(n, v.Next) {
			add(n, v.Next)
			v.State, v.Host = repack.Running, n
		}
	}
	return in
}

// VMs of a few sizes that fill all nodes get places by patterns, where a search that places one VM after the other gives up.
func TestFewSizes(t *testing.T) {
	for seed := range uint64(100) {
		in := fewSizes(10+int(seed%4)*20, seed)
		r, err := solve.Solve(in, solve.Options{Seed: seed, Iterations: 32, Despair: 32})
		if err != nil {
			t.Fatal(err)
		}
		if r.Verdict != solve.Solved {
			t.Errorf("seed %d: %d VMs on %d nodes: %v: %v", seed, len(in.VMs), len(in.Nodes), r.Verdict, r.Why)
			continue
		}
		if report, err := repack.Check(in, r.Plan); err != nil || !report.Valid() {
			t.Errorf("seed %d: the plan is wrong: %v", seed, err)
		}
	}
}
