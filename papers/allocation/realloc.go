package allocation

import (
	"math"

	"vjob/energy"
)

// reallocate is the heart of EA-RESALLOC (paper §3.2): each job in turn goes to the node
// where its energy-aware yield is largest, if it asks for so much of what it needs. Jobs
// on a node that cannot give all that is asked for share it evenly; strict: such a node
// will not do.
//
// E_ih has two parts, weighed by gamma: what the job adds to the power of the node, and
// the attractiveness of the node, which is what the job would draw there alone, idle power
// included, times the share that the *others* leave: a loaded node is more attractive.
func reallocate(p *energy.Problem, yield, k float64, strict bool) *cluster {
	c := newCluster(p)
	gamma := min(1, float64(len(p.Nodes))/float64(len(p.Jobs)))
	asked := make([]float64, len(p.Nodes))
	for _, j := range byLarger(p) {
		best, most, cost := nowhere, math.Inf(-1), math.Inf(1)
		want := yield * p.Jobs[j].CPU
		for _, n := range c.hosts {
			node := &p.Nodes[n]
			if strict && asked[n]+want > node.CPU+1e-9 || !c.admits(j, n) {
				continue
			}
			share := min(1, node.CPU/(asked[n]+want))
			adds := float64(node.Power.Full-node.Power.Idle) * share * want / node.CPU
			free := 1 - min(1, asked[n]/node.CPU)
			e := max(1e-9, gamma*adds+(1-gamma)*(float64(node.Power.Idle)+adds)*free)
			aware := (1-k)*math.Log(share*yield) - k*math.Log(e)
			if aware > most+1e-12 || aware > most-1e-12 && e < cost {
				best, most, cost = n, aware, e
			}
		}
		if best == nowhere {
			return nil
		}
		c.place(j, best, 0)
		asked[best] += want
	}
	for j, n := range c.at {
		c.share[j] = yield * p.Jobs[j].CPU * min(1, p.Nodes[n].CPU/asked[n])
		c.cpu[n] -= c.share[j]
	}
	return c
}

// reallocYield allocates at the yield that is demanded, with k = 0: among nodes that give
// it, all equal in yield, the one with the least E_ih is taken.
func reallocYield(p *energy.Problem) *energy.Allocation {
	if c := reallocate(p, p.Floor, 0, true); c != nil {
		return c.allocation()
	}
	return nil
}

// halvings are how often a search for k or for a yield is halved.
const halvings = 10

// reallocPower looks for the least k with which the budget is kept.
func reallocPower(p *energy.Problem) *energy.Allocation {
	return leastK(p, 1, false)
}

func leastK(p *energy.Problem, yield float64, strict bool) *energy.Allocation {
	try := func(k float64) *energy.Allocation {
		if c := reallocate(p, yield, k, strict); c != nil && c.power() <= p.Budget {
			return c.allocation()
		}
		return nil
	}
	if a := try(0); a != nil {
		return a
	}
	low, high := 0.0, 1.0
	best := try(high)
	for range halvings {
		k := (low + high) / 2
		if a := try(k); a != nil {
			best, high = a, k
		} else {
			low = k
		}
	}
	return best
}

// reallocNested looks for the largest yield with which some k keeps the budget.
func reallocNested(p *energy.Problem) *energy.Allocation {
	low, high := 0.0, 1.0
	best := leastK(p, high, true)
	if best != nil {
		return best
	}
	for range halvings {
		y := (low + high) / 2
		if a := leastK(p, y, true); a != nil {
			best, low = a, y
		} else {
			high = y
		}
	}
	return best
}

// reallocMixed takes k as it is.
func reallocMixed(p *energy.Problem, k float64) *energy.Allocation {
	if c := reallocate(p, 1, k, false); c != nil {
		return c.allocation()
	}
	return nil
}
