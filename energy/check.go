package energy

import (
	"fmt"
	"math"
)

// The tolerances of a check, for rounding.
const (
	Slack     = 1e-6         // of capacities, in their unit
	Tolerance = 1e-6         // of yields
	Excess    = Watts(0.001) // of the budget
)

// Check measures an allocation from first principles and returns its faults. It deliberately
// uses nothing that the search uses.
func (p *Problem) Check(a *Allocation) (m Measures, faults []string) {
	fault := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	if len(a.At) != len(p.Jobs) || len(a.CPU) != len(p.Jobs) {
		fault("%d places and %d CPU shares for %d jobs", len(a.At), len(a.CPU), len(p.Jobs))
		return m, faults
	}
	m.Yield = math.Inf(1)
	guests := make([][]int, len(p.Nodes))
	for j, n := range a.At {
		if n < 0 || n >= len(p.Nodes) {
			fault("job %d: host %d does not exist", j, n)
			return Measures{}, faults
		}
		guests[n] = append(guests[n], j)
		if p.May != nil && !p.May(j, n) {
			fault("job %d: a rule forbids host %d", j, n)
		}
		share, need := a.CPU[j], p.Jobs[j].CPU
		if !(share >= -Slack && share <= need+Slack) {
			fault("job %d: a CPU share of %g, it needs %g", j, share, need)
		}
		m.Yield = min(m.Yield, share/need)
	}
	for n, jobs := range guests {
		node := &p.Nodes[n]
		if len(jobs) == 0 {
			m.Power += node.Power.Standby
			continue
		}
		m.Nodes++
		cpu := 0.0
		for _, j := range jobs {
			cpu += a.CPU[j]
		}
		if cpu > node.CPU+Slack {
			fault("host %d: %g of %g CPU", n, cpu, node.CPU)
		}
		m.Power += node.Power.At(cpu / node.CPU)
		for r, room := range node.Capacity {
			used := 0.0
			for _, j := range jobs {
				used += p.Jobs[j].Need[r]
			}
			if used > room+Slack {
				fault("host %d: %g of %g %s", n, used, room, p.Resources[r])
			}
		}
	}
	if p.Objective == Mixed {
		m.Z = p.z(m.Yield, m.Power)
	}
	return m, append(faults, p.boundFaults(m)...)
}

// boundFaults returns the bounds that an allocation breaks.
func (p *Problem) boundFaults(m Measures) (faults []string) {
	if !(m.Yield > 0) {
		faults = append(faults, fmt.Sprintf("the least yield is %g: every job needs some CPU", m.Yield))
	}
	if m.Yield < p.Floor-Tolerance {
		faults = append(faults, fmt.Sprintf("the least yield is %g, the floor is %g", m.Yield, p.Floor))
	}
	if p.Objective == BoundedPower && m.Power > p.Budget+Excess {
		faults = append(faults, fmt.Sprintf("%.3f W, the budget is %.3f W", float64(m.Power), float64(p.Budget)))
	}
	return faults
}
