package admission_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"vjob/repack"
	"vjob/repack/admission"
	"vjob/repack/rule"
)

// BenchmarkTake is one pass of a queue: it makes a test and asks it for each vjob of 10 VMs
// in order. The fill is the demand of the scarcest resource, in percent of the cluster; half
// of the vjobs run already as far as there is room.
func BenchmarkTake(b *testing.B) {
	for _, c := range []struct{ nodes, vjobs, fill int }{
		{1000, 1000, 70},
		{1000, 1000, 100},
		{1000, 1000, 300},
		{1000, 100_000, 10_000},
		{20_000, 10_000, 100},
	} {
		for _, rules := range []string{"none", "spread", "mixed"} {
			b.Run(fmt.Sprintf("nodes=%d/vjobs=%d/fill=%d/rules=%s", c.nodes, c.vjobs, c.fill, rules), func(b *testing.B) {
				in, gangs := queued(b, c.nodes, c.vjobs, c.fill, rules)
				taken := 0
				for b.Loop() {
					t, err := admission.New(in, admission.Options{})
					if err != nil {
						b.Fatal(err)
					}
					taken = 0
					for _, gang := range gangs {
						if ok, _ := t.Take(gang); ok {
							taken++
						}
					}
				}
				b.ReportMetric(float64(taken), "taken")
			})
		}
	}
}

// BenchmarkNew is what it takes to begin.
func BenchmarkNew(b *testing.B) {
	for _, nodes := range []int{1000, 20_000} {
		b.Run(fmt.Sprintf("nodes=%d", nodes), func(b *testing.B) {
			in, _ := queued(b, nodes, nodes/2, 100, "spread")
			for b.Loop() {
				if _, err := admission.New(in, admission.Options{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// queued is a cluster with a queue of vjobs of 10 VMs of mixed sizes.
func queued(b *testing.B, nodes, vjobs, fill int, rules string) (in *repack.Instance, gangs [][]int) {
	b.Helper()
	const members = 10
	rng := rand.New(rand.NewPCG(1, uint64(nodes)))
	in = &repack.Instance{Dims: []string{"cpu", "mem"}}
	// VMs need 2.5 cpu and 4.5 mem on average.
	scale := int64(25 * vjobs * members / nodes * 1000 / fill / 10 * 10)
	free := make([][2]int64, nodes)
	for n := range nodes {
		free[n] = [2]int64{scale, scale * 2}
		in.Nodes = append(in.Nodes, repack.Node{Capacity: []int64{scale, scale * 2}})
	}
	for j := range vjobs {
		var gang []int
		used := map[int]bool{}
		for range members {
			need := []int64{int64(1+rng.IntN(4)) * 100, int64(1+rng.IntN(8)) * 100}
			v := repack.VM{Want: repack.Running, Host: repack.Nowhere, Now: need, Next: need, Weight: 1, Takes: repack.Durations{
				Boot: 1, Shutdown: 2, Suspend: 3, ResumeLocal: 2, ResumeRemote: 5, Migrate: 4,
			}}
			if h := rng.IntN(nodes); j < vjobs/2 && !used[h] && need[0] <= free[h][0] && need[1] <= free[h][1] {
				used[h] = true
				v.State, v.Host = repack.Running, h
				free[h][0] -= need[0]
				free[h][1] -= need[1]
			}
			gang = append(gang, len(in.VMs))
			in.VMs = append(in.VMs, v)
		}
		gangs = append(gangs, gang)
	}
	for j, gang := range gangs {
		ruled(b, in, j, gang, rules)
	}
	return in, gangs
}

// ruled gives a vjob its rule.
func ruled(b *testing.B, in *repack.Instance, j int, gang []int, rules string) {
	b.Helper()
	name, values := "spread", map[string]any{"vms": gang}
	kind := 0
	switch rules {
	case "none":
		return
	case "mixed":
		kind = j % 4
	}
	rack := j % 20 * (len(in.Nodes) / 20)
	var nodes []int
	for n := range len(in.Nodes) / 20 {
		nodes = append(nodes, rack+n)
	}
	switch kind {
	case 1:
		name, values["vms"] = "gather", gang[:2]
	case 2:
		name, values["nodes"] = "ban", nodes
	case 3:
		name = "among"
		var racks [][]int
		for r := range 20 {
			var rack []int
			for n := range len(in.Nodes) / 20 {
				rack = append(rack, r*(len(in.Nodes)/20)+n)
			}
			racks = append(racks, rack)
		}
		values["groups"] = racks
	}
	k, err := rule.Find(name)
	if err != nil {
		b.Fatal(err)
	}
	r, err := k.New(rule.Args{Instance: in, Values: values})
	if err != nil {
		b.Fatal(err)
	}
	in.Rules = append(in.Rules, repack.Posted{Rule: r})
}
