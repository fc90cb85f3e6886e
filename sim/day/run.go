package day

import (
	"fmt"
	"math/rand/v2"
	"time"

	"vjob/cluster"
	"vjob/energy"
	"vjob/energy/dpm"
)

// Result is what came of a trace in one way.
type Result struct {
	Way Way
	// VMHours are those of VMs that have had a sample, HappyHours those of the five minutes in which they received 95 %
	// of what they demanded.
	VMHours, HappyHours float64
	// Demand and Delivered are the CPU of all VMs, in processor-hours; Payload is the delivered part of the capacity of all
	// nodes (eq. 7 of the paper), from 0 to 1.
	Demand, Delivered, Payload float64
	Moves                      int
	Returns                    int // moves to a node that the VM had left less than an hour before
	// MeanImbalance and MostImbalance are those of the nodes that are on, at the end of each five minutes.
	MeanImbalance, MostImbalance float64
	Energy                       energy.Joules
	NodesOn, NodesUsed           float64 // means
	Offs, Ons                    int
	CrowdedHours                 float64 // of nodes with more CPU demanded than they have
	MostMemory                   float64 // the largest part of the memory of a node that was in use, with what migrates to it
	Samples                      []Sample
}

// Sample is the cluster in one step.
type Sample struct {
	At        time.Duration
	Happy     float64 // part of the VMs
	Imbalance float64
	Demand    float64 // processors
	On, Used  int     // nodes
	Power     energy.Watts
	Moves     int // begun
}

// host is the state of a node.
type host struct {
	vms     []int
	state   dpm.PowerState
	leaving bool          // it goes off once it is empty
	asked   time.Duration // since when it is to leave
	ready   time.Duration // when a node that comes on answers, or when one that goes off draws its least
	since   time.Duration // when it came on
	moving  int           // migrations from and to it
	coming  cluster.MiB   // the memory of VMs that migrate to it
	// what it gave in the last stride
	stale     bool
	delivered float64 // thousandths of a processor
	watts     energy.Watts
}

// left is a node that a VM has left.
type left struct {
	node int
	at   time.Duration
}

// run is a run in the making.
type run struct {
	*Trace
	Way
	nodes   []Node
	now     time.Duration
	step    int
	hosts   []host
	where   []int
	queue   []transfer // that wait
	flights []transfer // under way
	visits  [][]left
	rates   []float64 // what VMs receive, in thousandths of a processor
	got     []float64 // in this step, in thousandths of a processor, times seconds
	history *dpm.History
	wear    *rand.Rand
	next    time.Duration // when the next search is due
	pack    packing
	seed    uint64
	Result
}

// epoch is the instant at which a run begins, for package dpm.
var epoch = time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)

// Run runs a trace on nodes in one way. It fails with a [cluster.FieldError] if the VMs do not fit.
func Run(t *Trace, nodes []Node, w Way, seed uint64) (*Result, error) {
	where, err := place(t, nodes)
	if err != nil {
		return nil, err
	}
	r := &run{
		Trace: t, Way: w, nodes: nodes, hosts: make([]host, len(nodes)), where: where, visits: make([][]left, len(t.VMs)),
		rates: make([]float64, len(t.VMs)), got: make([]float64, len(t.VMs)), wear: rand.New(rand.NewPCG(seed, 0xda2)), seed: seed,
	}
	if w.Power != nil {
		r.history = dpm.NewHistory(w.Power.RiskWindow)
	}
	r.Result.Way = w
	for vm, at := range where {
		r.hosts[at].vms = append(r.hosts[at].vms, vm)
	}
	for i := range r.hosts {
		r.hosts[i].since = -24 * time.Hour
	}
	for r.step = range t.Steps {
		if err := r.runStep(); err != nil {
			return nil, err
		}
	}
	steps := float64(max(1, t.Steps))
	r.MeanImbalance, r.NodesOn, r.NodesUsed = r.MeanImbalance/steps, r.NodesOn/steps, r.NodesUsed/steps
	r.Payload = r.Delivered / (float64(capacity(nodes).CPU) / 1000 * steps * Step.Hours())
	return &r.Result, nil
}

// runStep runs five minutes in which demands stay as they are.
func (r *run) runStep() error {
	begin, moves := r.now, r.Moves
	for i := range r.hosts {
		r.hosts[i].stale = true
	}
	clear(r.got)
	drawn := energy.Joules(0)
	for r.now < begin+Step {
		r.settle()
		if r.history != nil && r.now%time.Minute == 0 {
			r.note()
		}
		if known := r.now - begin; known == noticed || known > noticed && r.Repeat && r.now >= r.next {
			if err := r.decide(known == noticed); err != nil {
				return fmt.Errorf("at %s: %w", r.now, err)
			}
		}
		r.depart()
		drawn += r.advance()
		r.now += stride
	}
	r.sum(begin, drawn, r.Moves-moves)
	return nil
}

// demand returns what a VM demands in this step, with the least and the most of the last hour.
func (r *run) demand(vm int) (now, least, most cluster.MilliCPU) {
	list := r.VMs[vm].Demand
	now = max(0, list[r.step])
	least, most = now, now
	for k := max(0, r.step-int(time.Hour/Step)); k < r.step; k++ {
		if d := list[k]; d != absent {
			least, most = min(least, d), max(most, d)
		}
	}
	return now, least, most
}

// uses returns the memory that a VM uses in this step.
func (r *run) uses(vm int) cluster.MiB {
	if v := &r.VMs[vm]; v.Used != nil {
		return v.Used[r.step]
	}
	return r.VMs[vm].Memory
}
