package planner_test

import (
	"vjob/repack"
	"vjob/repack/format"
)

// serverBound is the lower bound that the checker of the bench computes: each VM
// that must act does so in its shortest way, and of each node on which those who
// would like to stay are too many the cheapest go. It is simpler than the planner's:
// of rules it knows bans and fences alone.
func serverBound(p *format.Problem) (sum int64) {
	in := p.Instance
	barred := bars(p)
	stay := make([][]int, len(in.Nodes))
	for vm := range in.VMs {
		v := &in.VMs[vm]
		home := v.Host != repack.Nowhere && in.Nodes[v.Host].Want == repack.Online && !barred[[2]int{vm, v.Host}]
		switch {
		case v.Keeps() && home:
			stay[v.Host] = append(stay[v.Host], vm)
		case v.Keeps():
			sum += int64(v.Takes.Migrate)
		case v.Comes() && v.State == repack.Sleeping && home:
			sum += int64(v.Takes.ResumeLocal)
		case v.Comes():
			sum += int64(v.On(repack.Nowhere))
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

// bars are the VMs and nodes that bans and fences keep apart.
func bars(p *format.Problem) map[[2]int]bool {
	barred := map[[2]int]bool{}
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
					barred[[2]int{vm, n}] = true
				}
			}
		}
	}
	return barred
}

// cheapest is what the cheapest of the VMs cost without which the others fit, by
// looking at all of their sets.
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
