package cpushare

import (
	"slices"

	"vjob/energy"
)

// slack is the tolerance of sums of watts.
const slack = 1e-6

// Ledger sums the draw of jobs by node and by limit.
type Ledger struct {
	nodes  []Node
	limits []Limit
	load   []float64
	watts  []energy.Watts // by node
	sums   []energy.Watts // by limit
	in     [][]int        // limits that count a node
}

// Ledger returns one without jobs.
func (p *Problem) Ledger() *Ledger {
	l := &Ledger{
		nodes: p.Nodes, limits: p.Limits, load: make([]float64, len(p.Nodes)), watts: make([]energy.Watts, len(p.Nodes)),
		sums: make([]energy.Watts, len(p.Limits)), in: make([][]int, len(p.Nodes)),
	}
	for i, limit := range p.Limits {
		for _, n := range limit.Nodes {
			l.in[n] = append(l.in[n], i)
		}
	}
	for n := range p.Nodes {
		l.put(n, 0)
	}
	return l
}

// Clone returns an independent copy.
func (l *Ledger) Clone() *Ledger {
	c := *l
	c.load, c.watts, c.sums = slices.Clone(l.load), slices.Clone(l.watts), slices.Clone(l.sums)
	return &c
}

// Refusal is why a job does not run: its floor would exceed a limit.
type Refusal struct {
	Limit int
	Short energy.Watts
}

// Take adds a job with its floor unless that exceeds a limit.
func (l *Ledger) Take(j *Job) (r Refusal, ok bool) {
	l.Count(j)
	r, broken := l.breach(j)
	if broken {
		l.Drop(j)
	}
	return r, !broken
}

// Count adds a job with its floor, whatever the limits.
func (l *Ledger) Count(j *Job) { l.add(j, j.Floor) }

// Drop removes a job.
func (l *Ledger) Drop(j *Job) { l.add(j, -j.Floor) }

// add raises the yield of a job.
func (l *Ledger) add(j *Job, yield float64) {
	for _, vm := range j.VMs {
		l.put(vm.Node, yield*vm.CPU)
	}
}

// put adds load to a node.
func (l *Ledger) put(n int, load float64) {
	l.load[n] += load
	now := l.nodes[n].Draws(l.load[n])
	for _, i := range l.in[n] {
		l.sums[i] += now - l.watts[n]
	}
	l.watts[n] = now
}

// breach returns the limit that the nodes of a job exceed most. It returns false if they keep
// all limits.
func (l *Ledger) breach(j *Job) (r Refusal, broken bool) {
	for _, vm := range j.VMs {
		for _, i := range l.in[vm.Node] {
			if over := l.sums[i] - l.limits[i].Watts; vm.CPU > 0 && over > slack && over > r.Short {
				r, broken = Refusal{i, over}, true
			}
		}
	}
	return r, broken
}
