package solve_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"vjob/repack"
	"vjob/repack/format"
	"vjob/repack/rule"
	"vjob/repack/solve"
	"vjob/tests/golden"
)

// load reads an instance file.
func load(t *testing.T, path string) *repack.Instance {
	t.Helper()
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	p, err := format.ReadInstance(bytes.NewReader(file), path)
	if err != nil {
		t.Fatal(err)
	}
	return p.Instance
}

// The plans, or the reasons why there is no plan, of small cases made by hand:
// testdata/NAME.json has the case, NAME.golden the result.
func TestGolden(t *testing.T) {
	cases, err := filepath.Glob("testdata/*.json")
	if err != nil || len(cases) == 0 {
		t.Fatalf("%d cases, %v", len(cases), err)
	}
	for _, path := range cases {
		name := strings.TrimSuffix(path, ".json")
		t.Run(filepath.Base(name), func(t *testing.T) {
			r := solved(t, seed(1), load(t, path), solve.Options{Iterations: 1000, Seed: 1, Explain: true})
			golden.Same(t, name+".golden", resultText(r))
		})
	}
}

// resultText is what comes of a search, for people.
func resultText(r *solve.Result) string {
	if r.Plan == nil {
		return fmt.Sprintf("%s\n%s\n", [...]string{"solved", "impossible", "out of time", "exhausted"}[r.Verdict], strings.Join(r.Why, "\n"))
	}
	return fmt.Sprintf("objective %d, makespan %d, bound %d, proved %v\n%s",
		r.Figures.Objective, r.Figures.Makespan, r.Bound, r.Proved, planText(r.Plan))
}

// Figure 1 of the paper: VM 1 grows and has to go to node 2. There would be room
// beside VM 2, but spread has it wait until VM 2 is on node 3.
func TestFigure1(t *testing.T) {
	figure := func(names ...string) *repack.Instance {
		in := bare(4, 10, 4)
		in.VMs = []repack.VM{running(0, 3, 6), running(1, 3, 3)}
		for _, name := range names {
			in.Rules = append(in.Rules, postedGuard(t, in, name, true, map[string]any{"vms": []int{0, 1}}))
		}
		return in
	}
	free := solved(t, seed(1), figure(), solve.Options{Iterations: 100})
	if got := planText(free.Plan); got != " 0  0-3 migrate VM 0 from node 0 to node 1\n" {
		t.Errorf("without spread:\n%s", got)
	}
	spread := solved(t, seed(1), figure("spread"), solve.Options{Iterations: 100})
	if got := planText(spread.Plan); got != ""+
		" 0  0-3 migrate VM 1 from node 1 to node 2\n"+
		" 1  3-6 migrate VM 0 from node 0 to node 1 after [0]\n" {
		t.Errorf("with spread:\n%s", got)
	}
}

// bare has nodes with so much of one resource, and no VMs.
func bare(capacities ...int64) *repack.Instance {
	in := &repack.Instance{Dims: []string{"mem"}, NodeOff: 1, NodeOn: 1}
	for _, c := range capacities {
		in.Nodes = append(in.Nodes, repack.Node{Capacity: []int64{c}})
	}
	return in
}

// running is a VM that runs and is to run on.
func running(host int, now, next int64) repack.VM {
	return repack.VM{
		State: repack.Running, Want: repack.Running, Host: host, Now: []int64{now}, Next: []int64{next}, Weight: 1,
		Takes: repack.Durations{Boot: 1, Shutdown: 2, Suspend: 4, ResumeLocal: 5, ResumeRemote: 6, Migrate: 3},
	}
}

// ready is a VM that is to be booted.
func ready(need int64) repack.VM {
	v := running(repack.Nowhere, need, need)
	v.State = repack.Ready
	return v
}

// postedGuard is a hard rule.
func postedGuard(t *testing.T, in *repack.Instance, name string, continuous bool, values map[string]any) repack.Posted {
	t.Helper()
	k, err := rule.Find(name)
	if err != nil {
		t.Fatal(err)
	}
	r, err := k.New(rule.Args{Instance: in, Continuous: continuous, Values: values})
	if err != nil {
		t.Fatal(err)
	}
	return repack.Posted{Rule: r}
}
