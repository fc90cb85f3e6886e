package energy

import (
	"fmt"
	"math"

	"vjob/cluster"
)

// Objective is which of the paper's problems is to be solved.
type Objective uint8

// The objectives.
const (
	BoundedYield Objective = iota // the least power at a yield of at least Floor (paper §2.5)
	BoundedPower                  // the most yield with at most Budget (paper §2.4)
	Mixed                         // the most of lambda*Y + (1-lambda)*(1-min(1, E/EMax)) (paper §2.6)
)

// Objectives are the names of the objectives, in the order of the constants.
var Objectives = [...]string{"boundedyield", "boundedpower", "mixed"}

// String returns the name of the objective in files.
func (o Objective) String() string { return Objectives[o] }

// Node is a host that jobs share.
type Node struct {
	CPU      float64   // capacity, in the unit of the jobs' needs, above 0
	Capacity []float64 // of each rigid resource, in the order of Problem.Resources
	Power    Power
}

// Job is one VM.
type Job struct {
	CPU  float64   // what it can use, above 0; it may be more than any node has
	Need []float64 // of each rigid resource
}

// Problem is what is to be allocated, and the objective. Its numbers are finite and not
// negative; see [Problem.Validate].
type Problem struct {
	ID        string
	Objective Objective
	Resources []string // the rigid ones, memory first
	Nodes     []Node
	Jobs      []Job
	Floor     float64 // the least yield of each job, 0..1; BoundedPower demands more than 0 in any case
	Budget    Watts   // of BoundedPower
	Lambda    float64 // weight of the yield in Mixed, 0..1
	EMax      Watts   // of Mixed: the power that counts as 1 (paper §2.6)
	// May reports whether the rules allow the job on the node. Nil allows all.
	May func(job, node int) bool
}

// Validate returns a [cluster.FieldError] for the first invalid field. A job that fits nowhere
// is not an error: see [Problem.Unplaceable].
func (p *Problem) Validate() error {
	switch {
	case len(p.Nodes) == 0:
		return cluster.BadField("hosts", "none", "at least one")
	case len(p.Jobs) == 0:
		return cluster.BadField("jobs", "none", "at least one")
	}
	for n := range p.Nodes {
		if err := p.validNode(n); err != nil {
			return err
		}
	}
	for j := range p.Jobs {
		job := &p.Jobs[j]
		if !(job.CPU > 0) || math.IsInf(job.CPU, 0) {
			return cluster.BadField(fmt.Sprintf("jobs[%d].cpu", j), job.CPU, "more than 0")
		}
		if err := p.validAmounts(fmt.Sprintf("jobs[%d]", j), job.Need); err != nil {
			return err
		}
	}
	return p.validGoal()
}

func (p *Problem) validNode(n int) error {
	node, at := &p.Nodes[n], fmt.Sprintf("hosts[%d]", n)
	if !(node.CPU > 0) || math.IsInf(node.CPU, 0) {
		return cluster.BadField(at+".cpu", node.CPU, "more than 0")
	}
	if field, value, want := node.Power.Fault(); field != "" {
		return cluster.BadField(at+": "+field, value, want)
	}
	return p.validAmounts(at, node.Capacity)
}

func (p *Problem) validAmounts(at string, amounts []float64) error {
	if len(amounts) != len(p.Resources) {
		return cluster.BadField(at, len(amounts), fmt.Sprintf("amounts of %d resources", len(p.Resources)))
	}
	for r, v := range amounts {
		if !(v >= 0) || math.IsInf(v, 0) {
			return cluster.BadField(at+"."+p.Resources[r], v, "0 or more")
		}
	}
	return nil
}

func (p *Problem) validGoal() error {
	fraction := func(x float64) bool { return x >= 0 && x <= 1 }
	switch {
	case !fraction(p.Floor) || p.Objective == BoundedYield && p.Floor == 0:
		return cluster.BadField("the least yield", p.Floor, "more than 0 and at most 1")
	case p.Objective == BoundedPower && !(p.Budget > 0 && p.Budget < Watts(math.Inf(1))):
		return cluster.BadField("the power budget", p.Budget, "more than 0 watts")
	case p.Objective == Mixed && !fraction(p.Lambda):
		return cluster.BadField("lambda", p.Lambda, "between 0 and 1")
	case p.Objective == Mixed && !(p.EMax > 0 && p.EMax < Watts(math.Inf(1))):
		return cluster.BadField("emax", p.EMax, "more than 0 watts")
	}
	return nil
}

// fits reports whether a job alone may run on a node, with its rigid needs and the floor.
func (p *Problem) fits(job, node int) bool {
	j, n := &p.Jobs[job], &p.Nodes[node]
	if p.May != nil && !p.May(job, node) || p.Floor*j.CPU > n.CPU+Slack {
		return false
	}
	for r, need := range j.Need {
		if need > n.Capacity[r]+Slack {
			return false
		}
	}
	return true
}

// Unplaceable says for each job that fits on no node what it lacks on the largest one.
func (p *Problem) Unplaceable() (why []string) {
	for j := range p.Jobs {
		fits := false
		for n := range p.Nodes {
			fits = fits || p.fits(j, n)
		}
		if !fits {
			why = append(why, p.misfit(j))
		}
	}
	return why
}

func (p *Problem) misfit(j int) string {
	job := &p.Jobs[j]
	for r, need := range job.Need {
		most := 0.0
		for n := range p.Nodes {
			most = max(most, p.Nodes[n].Capacity[r])
		}
		if need > most+Slack {
			return fmt.Sprintf("job %d needs %g of %s, the largest host has %g: %.6g too little", j, need, p.Resources[r], most, need-most)
		}
	}
	most := 0.0
	for n := range p.Nodes {
		most = max(most, p.Nodes[n].CPU)
	}
	if want := p.Floor * job.CPU; want > most+Slack {
		return fmt.Sprintf("job %d needs a CPU share of %g for a yield of %g, the largest host has %g: %.6g too little", j, want, p.Floor, most, want-most)
	}
	return fmt.Sprintf("job %d fits on no host that it may be on", j)
}

// Standby is the power of all nodes when they are off.
func (p *Problem) Standby() (sum Watts) {
	for n := range p.Nodes {
		sum += p.Nodes[n].Power.Standby
	}
	return sum
}

// Demand is the CPU that all jobs can use.
func (p *Problem) Demand() (sum float64) {
	for j := range p.Jobs {
		sum += p.Jobs[j].CPU
	}
	return sum
}
