package allocation

import (
	"cmp"
	"slices"

	"vjob/energy"
)

// cluster is an allocation in the making.
type cluster struct {
	*energy.Problem
	hosts []int       // by increasing full power
	cpu   []float64   // what is left, by node
	room  [][]float64 // the same, of the rigid resources
	at    []int       // -1: nowhere yet
	share []float64   // by job
}

const nowhere = -1

func newCluster(p *energy.Problem) *cluster {
	c := &cluster{Problem: p, share: make([]float64, len(p.Jobs)), at: slices.Repeat([]int{nowhere}, len(p.Jobs))}
	for n := range p.Nodes {
		c.hosts = append(c.hosts, n)
		c.cpu = append(c.cpu, p.Nodes[n].CPU)
		c.room = append(c.room, slices.Clone(p.Nodes[n].Capacity))
	}
	slices.SortStableFunc(c.hosts, func(a, b int) int { return cmp.Compare(p.Nodes[a].Power.Full, p.Nodes[b].Power.Full) })
	return c
}

// admits reports whether a node has the rigid resources for a job.
func (c *cluster) admits(j, n int) bool {
	for r, need := range c.Jobs[j].Need {
		if need > c.room[n][r]+1e-9 {
			return false
		}
	}
	return c.May == nil || c.May(j, n)
}

// place gives a job a share of a node.
func (c *cluster) place(j, n int, share float64) {
	c.at[j], c.share[j] = n, share
	c.cpu[n] -= share
	for r, need := range c.Jobs[j].Need {
		c.room[n][r] -= need
	}
}

// complete reports whether all jobs have a place.
func (c *cluster) complete() bool { return !slices.Contains(c.at, nowhere) }

// power is what the nodes draw.
func (c *cluster) power() (sum energy.Watts) {
	busy := make([]bool, len(c.Nodes))
	for _, n := range c.at {
		if n != nowhere {
			busy[n] = true
		}
	}
	for n := range c.Nodes {
		node := &c.Nodes[n]
		if busy[n] {
			sum += node.Power.At((node.CPU - c.cpu[n]) / node.CPU)
		} else {
			sum += node.Power.Standby
		}
	}
	return sum
}

// allocation is the outcome; nil if a job has no place, or what there is does not keep
// the bounds of the problem.
func (c *cluster) allocation() *energy.Allocation {
	if !c.complete() {
		return nil
	}
	a := &energy.Allocation{At: c.at, CPU: c.share}
	if _, faults := c.Check(a); len(faults) > 0 {
		return nil
	}
	return a
}

// jobOrder sorts jobs.
type jobOrder func(p *energy.Problem) []int

func byMemory(p *energy.Problem) []int {
	return sorted(p, func(j *energy.Job) float64 { return j.Need[0] })
}

func byCPU(p *energy.Problem) []int { return sorted(p, func(j *energy.Job) float64 { return j.CPU }) }

// byLarger sorts by the larger of CPU and memory.
func byLarger(p *energy.Problem) []int {
	return sorted(p, func(j *energy.Job) float64 { return max(j.CPU, j.Need[0]) })
}

func sorted(p *energy.Problem, key func(j *energy.Job) float64) []int {
	list := make([]int, len(p.Jobs))
	for j := range list {
		list[j] = j
	}
	slices.SortStableFunc(list, func(a, b int) int { return cmp.Compare(key(&p.Jobs[b]), key(&p.Jobs[a])) })
	return list
}
