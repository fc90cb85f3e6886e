package tiny_test

import (
	"fmt"
	"os"
	"strconv"
	"testing"

	"vjob/repack"
	"vjob/repack/solve"
	"vjob/tests/brute"
	"vjob/tests/tiny"
)

func TestDump(t *testing.T) {
	f, _ := strconv.Atoi(os.Getenv("FAM"))
	seed, _ := strconv.Atoi(os.Getenv("SEED"))
	in := tiny.New(tiny.Options{Family: tiny.Family(f), Seed: uint64(seed), Nodes: *nodes, VMs: *vms})
	for n := range in.Nodes {
		fmt.Printf("node %d %+v\n", n, in.Nodes[n])
	}
	for n := range in.VMs {
		fmt.Printf("vm %d %+v\n", n, in.VMs[n])
	}
	for n := range in.Rules {
		fmt.Printf("rule %v pen %d\n", in.Rules[n], in.Rules[n].Penalty)
	}
	r, _ := solve.Solve(in, solve.Options{Seed: 1, Iterations: 1024})
	show := func(p *repack.Plan) {
		if p == nil {
			return
		}
		for _, a := range p.Actions {
			fmt.Printf("  %v\n", a)
		}
		rep, _ := repack.Check(in, p)
		fmt.Println(rep.Figures.Objective, rep.Figures.Penalty, rep.Faults, rep.Broken)
	}
	fmt.Println(r.Verdict, r.Proved, r.Bound, r.Why)
	show(r.Plan)
	a := brute.Cheapest(in, brute.NoLimit, *states)
	fmt.Println(a.Cost, a.Done)
	show(a.Plan)
}
