package consolidate

import (
	"fmt"
	"slices"

	"vjob/energy"
	"vjob/energy/solve"
)

// Answer is where VMs should be.
type Answer struct {
	To     []int // the node of each VM
	Moves  []int // the VMs that go elsewhere
	Dark   []int // the nodes that go off, since nothing runs there any more
	Before energy.Watts
	After  energy.Watts // less: what the nodes draw that these VMs leave or come to
	Nodes  int          // that were looked at
	Turns  int          // looks until all are
}

// maxSteps bound a look: some milliseconds.
const maxSteps = 24

// Look looks for better places in the piece of the cluster whose turn it is. Where there
// are none nobody moves. The error is a problem that makes no sense.
func (p *Problem) Look(turn int) (*Answer, error) {
	guests := p.vmsByNode()
	loads := p.loads(guests)
	a := &Answer{To: make([]int, len(p.VMs))}
	for i := range p.VMs {
		a.To[i] = p.VMs[i].Node
	}
	var nodes []int
	nodes, a.Turns = p.subset(turn, guests, loads)
	a.Nodes = len(nodes)
	q := p.subproblem(nodes, guests, loads)
	if !slices.ContainsFunc(q.vms, func(vm int) bool { return vm >= 0 }) || len(nodes) < 2 {
		return a, nil
	}
	s, err := solve.Relocate(&q.Problem, q.start, solve.Options{Seed: p.Seed, Steps: maxSteps})
	if err != nil {
		return nil, fmt.Errorf("where VMs would draw less: %w", err)
	}
	for j, n := range s.At {
		if vm := q.vms[j]; vm >= 0 && nodes[n] != a.To[vm] {
			a.To[vm] = nodes[n]
			a.Moves = append(a.Moves, vm)
		}
	}
	slices.Sort(a.Moves)
	p.measure(a, loads)
	return a, nil
}

// subproblem is a piece of the cluster as the solver is asked: what stays on a node is one
// job, which may be nowhere else.
type subproblem struct {
	energy.Problem
	start solve.Start
	vms   []int // by job; -1: what stays
}

func (p *Problem) subproblem(nodes []int, guests [][]int, loads []float64) *subproblem {
	q := &subproblem{Problem: energy.Problem{Objective: energy.BoundedYield, Floor: 1, Resources: p.Resources}}
	for i, n := range nodes {
		node := &p.Nodes[n]
		power, stays, room := node.Power, energy.Job{Need: make([]float64, len(p.Resources))}, slices.Clone(node.Room)
		if power.Standby = power.Idle; node.Spare {
			power.Standby = min(power.Idle, node.Power.Standby+energy.Watts(p.switchCost(n)))
		}
		used := make([]float64, len(room))
		for _, vm := range guests[n] {
			for r, need := range p.VMs[vm].Need {
				used[r] += need
			}
			if p.movable(vm) {
				q.add(i, vm, energy.Job{CPU: loads[vm], Need: p.VMs[vm].Need}, energy.Watts(p.moveCost(vm)))
				continue
			}
			stays.CPU += loads[vm]
			for r, need := range p.VMs[vm].Need {
				stays.Need[r] += need
			}
		}
		for r := range room {
			room[r] = max(room[r], used[r]) // nobody has to leave for want of room
		}
		if slices.ContainsFunc(guests[n], func(vm int) bool { return !p.movable(vm) }) {
			q.add(i, -1, stays, 0)
		}
		q.Nodes = append(q.Nodes, energy.Node{CPU: node.CPU, Room: room, Power: power})
	}
	q.May = func(job, node int) bool {
		vm := q.vms[job]
		if vm < 0 || node == q.start.At[job] {
			return node == q.start.At[job]
		}
		return p.May == nil || p.May(vm, nodes[node])
	}
	return q
}

// minLoad is a load that is hardly one.
const minLoad = 1e-6

func (q *subproblem) add(node, vm int, job energy.Job, leave energy.Watts) {
	job.CPU = max(job.CPU, minLoad)
	q.Jobs, q.vms = append(q.Jobs, job), append(q.vms, vm)
	q.start.At, q.start.MoveCost = append(q.start.At, node), append(q.start.MoveCost, leave)
}
