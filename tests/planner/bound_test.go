package planner_test

import (
	"vjob/repack"
	"vjob/repack/format"
)

// serverBound returns the lower bound that the checker of the benchmark computes: each VM that
// must act takes its shortest action, and from each overloaded node the cheapest VMs migrate.
// It is simpler than the planner's bound: its only rules are bans and fences.
func serverBound(p *format.Problem) (sum int64) {
	in := p.Instance
	forbidden := forbiddenPairs(p)
	stay := make([][]int, len(in.Nodes))
	for vm := range in.VMs {
		v := &in.VMs[vm]
		home := v.Host != repack.Nowhere && in.Nodes[v.Host].Want == repack.Online && !forbidden[[2]int{vm, v.Host}]
		switch {
		case v.Keeps() && home:
			stay[v.Host] = append(stay[v.Host], vm)
		case v.Keeps():
			sum += int64(v.Takes.Migrate)
		case v.Comes() && v.State == repack.Sleeping && home:
			sum += int64(v.Takes.ResumeLocal)
		case v.Comes():
			sum += int64(v.DurationTo(repack.Nowhere))
		case v.State == repack.Running && v.Want == repack.Sleeping:
			sum += int64(v.Takes.Suspend)
		case v.State == repack.Running:
			sum += int64(v.Takes.Shutdown)
		}
	}
	for n, vms := range stay {
		sum += cheapest(in, n, vms)
	}
	return sum
}

// forbiddenPairs returns the pairs of a VM and a node that bans and fences forbid.
func forbiddenPairs(p *format.Problem) map[[2]int]bool {
	forbidden := map[[2]int]bool{}
	for _, c := range p.Constraints {
		vms, _ := c.Args["vms"].([]int)
		nodes, _ := c.Args["nodes"].([]int)
		named := map[int]bool{}
		for _, n := range nodes {
			named[n] = true
		}
		if c.Type != "ban" && c.Type != "fence" {
			continue
		}
		for _, vm := range vms {
			for n := range p.Instance.Nodes {
				if named[n] == (c.Type == "ban") {
					forbidden[[2]int{vm, n}] = true
				}
			}
		}
	}
	return forbidden
}

// cheapest returns the least cost of VMs to remove so that the others fit on the node. It tries
// all sets.
func cheapest(in *repack.Instance, n int, vms []int) int64 {
	over := make([]int64, len(in.Dims))
	for d := range over {
		over[d] = -in.Nodes[n].Capacity[d]
		for _, vm := range vms {
			over[d] += in.VMs[vm].Next[d]
		}
	}
	best := int64(1) << 40
	var choose func(i int, cost int64)
	choose = func(i int, cost int64) {
		fits := true
		for _, o := range over {
			fits = fits && o <= 0
		}
		if fits {
			best = min(best, cost)
		}
		if fits || i == len(vms) || cost >= best {
			return
		}
		v := &in.VMs[vms[i]]
		for d := range over {
			over[d] -= v.Next[d]
		}
		choose(i+1, cost+int64(v.Takes.Migrate))
		for d := range over {
			over[d] += v.Next[d]
		}
		choose(i+1, cost)
	}
	choose(0, 0)
	return best
}
