package cpushare

import (
	"slices"

	"vjob/energy"
)

// slack is the tolerance of sums of watts.
const slack = 1e-6

// Draw sums the draw of jobs by node and by limit.
type Draw struct {
	nodes  []Node
	limits []Limit
	load   []float64
	watts  []energy.Watts // by node
	sums   []energy.Watts // by limit
	in     [][]int        // limits that count a node
}

// NewDraw returns one without jobs.
func (p *Problem) NewDraw() *Draw {
	l := &Draw{
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
func (l *Draw) Clone() *Draw {
	c := *l
	c.load, c.watts, c.sums = slices.Clone(l.load), slices.Clone(l.watts), slices.Clone(l.sums)
	return &c
}

// Breach is why a job does not run: its floor would exceed a limit.
type Breach struct {
	Limit    int
	Shortage energy.Watts
}

// TryAdd adds a job with its floor unless that exceeds a limit.
func (l *Draw) TryAdd(j *Job) (r Breach, ok bool) {
	l.Add(j)
	r, broken := l.breach(j)
	if broken {
		l.Remove(j)
	}
	return r, !broken
}

// Add adds a job with its floor, whatever the limits.
func (l *Draw) Add(j *Job) { l.add(j, j.Floor) }

// Remove removes a job.
func (l *Draw) Remove(j *Job) { l.add(j, -j.Floor) }

// add raises the yield of a job.
func (l *Draw) add(j *Job, yield float64) {
	for _, vm := range j.VMs {
		l.put(vm.Node, yield*vm.CPU)
	}
}

// put adds load to a node.
func (l *Draw) put(n int, load float64) {
	l.load[n] += load
	now := l.nodes[n].Draws(l.load[n])
	for _, i := range l.in[n] {
		l.sums[i] += now - l.watts[n]
	}
	l.watts[n] = now
}

// breach returns the limit that the nodes of a job exceed most. It returns false if they keep
// all limits.
func (l *Draw) breach(j *Job) (r Breach, broken bool) {
	for _, vm := range j.VMs {
		for _, i := range l.in[vm.Node] {
			if over := l.sums[i] - l.limits[i].Watts; vm.CPU > 0 && over > slack && over > r.Shortage {
				r, broken = Breach{i, over}, true
			}
		}
	}
	return r, broken
}
