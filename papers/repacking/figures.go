package repacking

import (
	"fmt"

	"vjob/papers/figure"
	"vjob/repack"
	"vjob/repack/rule"
	"vjob/repack/solve"
)

// instances is the number of problems of each set; the paper has 100.
const instances = 5

// tableRow is one line of tables 1 to 3, with the results of the repair mode.
type tableRow struct {
	table, name  string
	nodes, ratio int
	sides        bool // with the side constraints
	solved, sum  int  // published: solved of 100, mean sum of completion times in seconds
}

var sets = []tableRow{
	{"Table 1", "1,000 servers, ratio 2:1", 1000, 2, false, 100, 381},
	{"Table 1", "1,000 servers, ratio 3:1", 1000, 3, false, 100, 749},
	{"Table 1", "1,000 servers, ratio 4:1", 1000, 4, false, 100, 1349},
	{"Table 1", "1,000 servers, ratio 5:1", 1000, 5, false, 100, 2312},
	{"Table 1", "1,000 servers, ratio 6:1", 1000, 6, false, 86, 4092},
	{"Table 2", "500 servers, ratio 5:1", 500, 5, false, 100, 1160},
	{"Table 2", "1,500 servers, ratio 5:1", 1500, 5, false, 99, 3476},
	{"Table 2", "2,000 servers, ratio 5:1", 2000, 5, false, 100, 4635},
	{"Table 3", "1,000 servers, ratio 2:1, side constraints", 1000, 2, true, 100, 381},
	{"Table 3", "1,000 servers, ratio 3:1, side constraints", 1000, 3, true, 100, 751},
	{"Table 3", "1,000 servers, ratio 4:1, side constraints", 1000, 4, true, 100, 1376},
	{"Table 3", "1,000 servers, ratio 5:1, side constraints", 1000, 5, true, 95, 2491},
	{"Table 3", "1,000 servers, ratio 6:1, side constraints", 1000, 6, true, 35, 4512},
	{"Table 3", "500 servers, ratio 5:1, side constraints", 500, 5, true, 97, 1255},
	{"Table 3", "1,500 servers, ratio 5:1, side constraints", 1500, 5, true, 88, 3778},
	{"Table 3", "2,000 servers, ratio 5:1, side constraints", 2000, 5, true, 91, 4980},
}

// Figures compares tables 1 to 3 with the first plan of our planner, as the paper takes the first
// solution of its own.
func Figures() ([]figure.Row, error) {
	var rows []figure.Row
	for i := range sets {
		row, err := sets[i].row()
		if err != nil {
			return nil, err
		}
		rows = append(rows, row)
	}
	return append(rows, figure.Row{
		Where: "Tables 1-3", What: "search nodes, fails and time", Published: "163 to 4,574 nodes, 3.5 to 239 s",
		Command: "the planner has no constraint search; times are in docs/BENCHMARKS.md",
	}), nil
}

func (s *tableRow) row() (figure.Row, error) {
	solved, sum, bound := 0, int64(0), int64(0)
	for seed := range uint64(instances) {
		in, err := Sample(SampleOptions{Nodes: s.nodes, Ratio: s.ratio, Seed: 1 + seed})
		if err != nil {
			return figure.Row{}, err
		}
		if s.sides {
			if err := constrain(in); err != nil {
				return figure.Row{}, err
			}
		}
		r, err := solve.Solve(in, solve.Options{Iterations: -1, Seed: 1})
		if err != nil {
			return figure.Row{}, err
		}
		if r.Verdict == solve.Solved {
			solved, sum, bound = solved+1, sum+r.Figures.Objective, bound+r.Bound
		}
	}
	ours := fmt.Sprintf("%d of %d solved", solved, instances)
	if solved > 0 {
		ours += fmt.Sprintf(", %d s, lower bound %d s", sum/int64(solved), bound/int64(solved))
	}
	return figure.Row{
		Where: s.table, What: s.name + ": solved, mean sum of completion times",
		Published: fmt.Sprintf("%d of 100 solved, %d s", s.solved, s.sum), Ours: ours, Command: "go run ./papers repacking",
	}, nil
}

// constrain adds the side constraints of section 5 to a problem of [Sample]: the VMs of each tier on
// distinct servers at every instant, at most 300 VMs in each rack, no VMs on 0.5 % of the servers,
// and one application with servers of its own.
func constrain(in *repack.Instance) error {
	var failed error
	post := func(name string, continuous bool, values map[string]any) {
		k, err := rule.Find(name)
		if err == nil {
			var r repack.Rule
			if r, err = k.New(rule.Args{Instance: in, Continuous: continuous, Values: values}); err == nil {
				in.Rules = append(in.Rules, repack.Posted{Rule: r})
				return
			}
		}
		failed = fmt.Errorf("%s: %w", name, err)
	}
	for _, tier := range Tiers(in) {
		post("spread", true, map[string]any{"vms": tier})
	}
	racks := map[int][]int{}
	for n := range in.Nodes {
		racks[in.Nodes[n].Rack] = append(racks[in.Nodes[n].Rack], n)
	}
	for r := range len(racks) {
		post("capacity", false, map[string]any{"nodes": racks[r], "max": int64(6 * rack)})
	}
	all := make([]int, len(in.VMs))
	for vm := range all {
		all[vm] = vm
	}
	for n := range len(in.Nodes) / 200 {
		post("ban", false, map[string]any{"vms": all, "nodes": []int{200 * n}})
	}
	post("lonely", false, map[string]any{"vms": all[:members]})
	return failed
}
