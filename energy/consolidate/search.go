package consolidate

import (
	"fmt"
	"slices"

	"vjob/energy"
	"vjob/energy/solve"
)

// Result is the new placement.
type Result struct {
	To      []int // the node of each VM
	Moves   []int // the VMs that move
	Emptied []int // the nodes that become empty and go off
	Before  energy.Watts
	After   energy.Watts // lower: power of the nodes that VMs leave or join
	Nodes   int          // number of nodes searched
	Subsets int          // number of searches that cover all nodes
}

// maxSteps limits a search: some milliseconds.
const maxSteps = 24

// Search searches for a better placement in one subset of the cluster; turn selects the subset.
// Without an improvement no VM moves. It returns an error if the problem is invalid.
func (p *Problem) Search(turn int) (*Result, error) {
	guests := p.vmsByNode()
	loads := p.loads(guests)
	a := &Result{To: make([]int, len(p.VMs))}
	for i := range p.VMs {
		a.To[i] = p.VMs[i].Node
	}
	var nodes []int
	nodes, a.Subsets = p.subset(turn, guests, loads)
	a.Nodes = len(nodes)
	q := p.subproblem(nodes, guests, loads)
	if !slices.ContainsFunc(q.vms, func(vm int) bool { return vm >= 0 }) || len(nodes) < 2 {
		return a, nil
	}
	s, err := solve.Relocate(&q.Problem, q.start, solve.Options{Seed: p.Seed, Steps: maxSteps})
	if err != nil {
		return nil, fmt.Errorf("consolidate: %w", err)
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

// subproblem is a subset of the cluster for the solver: the fixed VMs of a node are one job,
// which may not move.
type subproblem struct {
	energy.Problem
	start solve.Start
	vms   []int // by job; -1: the fixed VMs of a node
}

func (p *Problem) subproblem(nodes []int, guests [][]int, loads []float64) *subproblem {
	q := &subproblem{Problem: energy.Problem{Objective: energy.BoundedYield, Floor: 1, Resources: p.Resources}}
	idle := float64(len(p.VMs)+len(nodes)) * minLoad // idle VMs fit also where all CPU is in use
	for i, n := range nodes {
		node := &p.Nodes[n]
		power, stays, room := node.Power, energy.Job{Need: make([]float64, len(p.Resources))}, slices.Clone(node.Capacity)
		power.Standby = power.Idle
		if node.MayTurnOff {
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
			room[r] = max(room[r], used[r]) // no VM has to leave an overcommitted node
		}
		if slices.ContainsFunc(guests[n], func(vm int) bool { return !p.movable(vm) }) {
			q.add(i, -1, stays, 0)
		}
		q.Nodes = append(q.Nodes, energy.Node{CPU: node.CPU + idle, Capacity: room, Power: power})
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

// minLoad stands for a load of 0: jobs need more than that.
const minLoad = 1e-6

func (q *subproblem) add(node, vm int, job energy.Job, leave energy.Watts) {
	job.CPU = max(job.CPU, minLoad)
	q.Jobs, q.vms = append(q.Jobs, job), append(q.vms, vm)
	q.start.At, q.start.MoveCost = append(q.start.At, node), append(q.start.MoveCost, leave)
}
