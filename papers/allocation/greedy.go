package allocation

import (
	"math"

	"vjob/energy"
)

// fit chooses a node for a job with a share; nowhere if no node fits.
type fit func(c *cluster, j int, share float64) int

// firstFit takes the node with the least full power that has room.
func firstFit(c *cluster, j int, share float64) int {
	for _, n := range c.hosts {
		if share <= c.cpu[n]+1e-9 && c.admits(j, n) {
			return n
		}
	}
	return nowhere
}

// bestFit takes the node that has least left afterwards, of CPU and memory together.
func bestFit(c *cluster, j int, share float64) int {
	best, least := nowhere, math.Inf(1)
	for _, n := range c.hosts {
		if share <= c.cpu[n]+1e-9 && c.admits(j, n) {
			if left := c.cpu[n]/c.Nodes[n].CPU + c.room[n][0]/max(c.Nodes[n].Capacity[0], 1e-12); left < least {
				best, least = n, left
			}
		}
	}
	return best
}

// greedyYield is GREEDY_BOUNDEDYIELD_1 to 4 (paper §3.1): each job in turn is placed at
// the yield that is demanded.
func greedyYield(by jobOrder, fits fit) Algorithm {
	return func(p *energy.Problem) *energy.Allocation {
		c := newCluster(p)
		if !c.fill(by(p), fits, p.Floor) {
			return nil
		}
		return c.allocation()
	}
}

// fill places all jobs at one yield.
func (c *cluster) fill(jobs []int, fits fit, yield float64) bool {
	for _, j := range jobs {
		share := yield * c.Jobs[j].CPU
		n := fits(c, j, share)
		if n == nowhere {
			return false
		}
		c.place(j, n, share)
	}
	return true
}

// hundredths is in how many steps GREEDY_BOUNDEDPOWER_1 to 4 lower the yield of a job from 1.
const hundredths = 100

// greedyAfresh places all jobs anew after each round of decreases.
func greedyAfresh(by jobOrder, fits fit) Algorithm {
	return func(p *energy.Problem) *energy.Allocation {
		jobs := by(p)
		for left := hundredths; left > 0; left-- {
			c := newCluster(p)
			if c.fill(jobs, fits, float64(left)/hundredths) && c.power() <= p.Budget {
				return c.allocation()
			}
		}
		return nil
	}
}

// greedyKept keeps the placements that it found: a decrease frees room for the jobs that
// have none yet.
func greedyKept(by jobOrder, fits fit) Algorithm {
	return func(p *energy.Problem) *energy.Allocation {
		c, jobs := newCluster(p), by(p)
		left := make([]int, len(jobs))
		for j := range left {
			left[j] = hundredths
		}
		c.settle(jobs, fits, left)
		for {
			for _, j := range jobs {
				if c.complete() && c.power() <= p.Budget {
					return c.allocation()
				}
				if left[j]--; left[j] == 0 {
					return nil
				}
				if n := c.at[j]; n != nowhere {
					share := p.Jobs[j].CPU * float64(left[j]) / hundredths
					c.cpu[n] += c.share[j] - share
					c.share[j] = share
				}
			}
			c.settle(jobs, fits, left)
		}
	}
}

// settle places jobs in their order until one finds no room. Were it passed over, small
// jobs would take what the large ones wait for.
func (c *cluster) settle(jobs []int, fits fit, left []int) {
	for _, j := range jobs {
		if c.at[j] != nowhere {
			continue
		}
		share := c.Jobs[j].CPU * float64(left[j]) / hundredths
		n := fits(c, j, share)
		if n == nowhere {
			return
		}
		c.place(j, n, share)
	}
}

// greedyMixed is GREEDY_MIXEDOBJECTIVE_1 and 2: the budget is the full power of as many
// nodes as a share of the demand needs, which the weight of yield or power is.
func greedyMixed(weight func(p *energy.Problem) float64, bounded Algorithm) Algorithm {
	return func(p *energy.Problem) *energy.Allocation {
		hosts := newCluster(p).hosts
		count := max(1, int(math.Ceil(weight(p)*p.Demand())))
		q := *p
		q.Objective, q.Budget = energy.BoundedPower, 0
		for _, n := range hosts[:min(count, len(hosts))] {
			q.Budget += p.Nodes[n].Power.Full
		}
		return bounded(&q)
	}
}

// weightOfYield is the reading that goes with Z, and with the paper's own figures;
// weightOfPower is the letter of §3.1.
func weightOfYield(p *energy.Problem) float64 { return p.Lambda }
func weightOfPower(p *energy.Problem) float64 { return 1 - p.Lambda }
