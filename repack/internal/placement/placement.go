// Package placement holds a placement under construction: where each VM ends, with all sums
// kept incrementally, so that a move costs as little as its two nodes and its rules.
//
// It estimates how long actions wait a thousand times faster than a schedule does, for room
// (delay.go) and on links (congestion.go).
package placement

import (
	"math/rand/v2"
	"slices"

	"vjob/repack"
	"vjob/repack/internal/problem"
)

// State is a placement in the making: where each VM ends. All sums are kept
// incrementally, so a move costs as little as its two nodes and its rules.
type State struct {
	*problem.Problem
	NodeOf   []int   // final node of each VM; Nowhere
	VMsOn    [][]int // VMs that end on each node
	indexOf  []int   // position of each VM in here
	EndLoad  []int64 // what ends on each node
	PeakLoad []int64 // what is there at first, and all that comes, at once
	// Leaving are the VMs that are on a node at first and do not end there.
	Leaving [][]int

	Delays       []repack.Ticks // estimated wait of each VM's action
	delayCost    int64          // of all, weighted
	Congestion   *congestion    // nil: there is no network
	scratch      []int
	delayBuffers queues
	Moves        []Move // moves that can be undone; nil: none are noted
	Recording    bool

	Kept    []int      // VMs that are not to be taken away now
	Avoid   Move       // a VM and the node where it shall not be for now
	GroupOf []int      // which dedicated nodes each VM belongs on; nil: there are none
	OwnerOf []int      // the clan that each node is dedicated to; 0: none
	Noise   *rand.Rand // makes choices between equals differ; nil: none

	Free *FreeIndex // kept for a trial; nil: there is none

	cost         int64 // of the actions, without waits
	Unplaced     int   // VMs that have no place yet
	unplacedBulk int64 // how bulky they are
	BreachesOf   []int // breaches by guard
	Breaches     int   // of hard rules
	Penalty      int64 // of soft ones
}

// New has nobody anywhere but where VMs are that are not to run on: they
// leave, and count until then.
func New(m *problem.Problem) *State {
	s := &State{
		Problem: m,
		NodeOf:  make([]int, len(m.In.VMs)), indexOf: make([]int, len(m.In.VMs)),
		VMsOn: make([][]int, len(m.In.Nodes)), Leaving: make([][]int, len(m.In.Nodes)),
		EndLoad: make([]int64, len(m.Room)), PeakLoad: make([]int64, len(m.Room)),
		Delays: make([]repack.Ticks, len(m.In.VMs)), BreachesOf: make([]int, len(m.Guards)), Congestion: newJam(m), Unplaced: len(m.Wanted), Avoid: Move{repack.Nowhere, repack.Nowhere},
	}
	for _, vm := range m.Wanted {
		s.unplacedBulk += s.Bulk[vm]
	}
	for vm := range s.NodeOf {
		s.NodeOf[vm] = repack.Nowhere
		v := &m.In.VMs[vm]
		if v.State == repack.Running {
			s.Leaving[v.Host] = append(s.Leaving[v.Host], vm)
			for d := range m.Dims {
				s.PeakLoad[v.Host*m.Dims+d] += m.Now[vm*m.Dims+d]
			}
		}
	}
	return s
}

// Delta is how a move changes the breaches of hard rules and the penalty.
func (s *State) Delta(vm, from, to int) (breaches int, penalty int64) {
	if len(s.Guards) == 0 {
		return 0, 0
	}
	for _, list := range s.Concerned(vm, from, to) {
		for _, number := range list {
			g := &s.Guards[number]
			if !g.Nodes.Touches(from, to) {
				continue
			}
			if d := g.Delta(vm, from, to); g.Penalty == 0 {
				breaches += d
			} else {
				penalty += int64(d) * g.Penalty
			}
		}
	}
	return breaches, penalty
}

// applyGuards has every guard that the move concerns know of it, and counts.
func (s *State) applyGuards(vm, from, to int) {
	for _, list := range s.Concerned(vm, from, to) {
		for _, number := range list {
			g := &s.Guards[number]
			if !g.Nodes.Touches(from, to) {
				continue
			}
			d := g.Delta(vm, from, to)
			s.BreachesOf[number] += d
			if g.Penalty == 0 {
				s.Breaches += d
			} else {
				s.Penalty += int64(d) * g.Penalty
			}
			g.Move(vm, from, to)
		}
	}
}

// Concerned are the guards that a move concerns, each once.
func (s *State) Concerned(vm, from, to int) (lists [4][]int) {
	lists[0], lists[1] = s.GuardsOfVM[vm], s.GlobalGuards
	if from != repack.Nowhere {
		lists[2] = s.GuardsOfNode[from]
	}
	if to != repack.Nowhere && (from == repack.Nowhere || !slices.Equal(s.GuardsOfNode[from], s.GuardsOfNode[to])) {
		lists[3] = s.GuardsOfNode[to]
		for _, number := range lists[2] {
			if slices.Contains(lists[3], number) {
				lists[3] = minus(lists[3], lists[2])
				break
			}
		}
	}
	return lists
}

// minus is what the first list has and the second has not.
func minus(list, but []int) (rest []int) {
	for _, x := range list {
		if !slices.Contains(but, x) {
			rest = append(rest, x)
		}
	}
	return rest
}

// Move is a move: a VM and where it was.
type Move struct{ VM, From int }

// Record begins a trail, at whose beginning [State.undo] ends.
func (s *State) Record() { s.Moves, s.Recording = s.Moves[:0], true }

// Undo takes back all moves since note.
func (s *State) Undo() {
	nodes := s.TouchedNodes()
	s.RollBack(0)
	s.Recording = false
	s.RefreshDelays(nodes...)
}

// RollBack takes back all moves but the first of the trail. Lags are left as they are.
func (s *State) RollBack(first int) {
	s.Recording = false
	for _, step := range slices.Backward(s.Moves[first:]) {
		s.Move(step.VM, step.From)
	}
	s.Moves, s.Recording = s.Moves[:first], true
}

// TouchedNodes are the nodes that the trail has changed.
func (s *State) TouchedNodes() (nodes []int) {
	for _, step := range s.Moves {
		if step.From != repack.Nowhere {
			nodes = append(nodes, step.From)
		}
		if at := s.NodeOf[step.VM]; at != repack.Nowhere {
			nodes = append(nodes, at)
		}
	}
	slices.Sort(nodes)
	return slices.Compact(nodes)
}

// Move gives the VM another final node, or none. Lags are left as they are.
func (s *State) Move(vm, to int) {
	from := s.NodeOf[vm]
	if from == to {
		return
	}
	if s.Recording {
		s.Moves = append(s.Moves, Move{vm, from})
	}
	s.delayCost -= s.WaitCost(vm) * int64(s.Delays[vm])
	s.Delays[vm] = 0
	s.applyGuards(vm, from, to)
	if from == repack.Nowhere {
		s.Unplaced--
		s.unplacedBulk -= s.Bulk[vm]
	} else {
		s.remove(vm, from)
	}
	s.NodeOf[vm] = to
	if to == repack.Nowhere {
		s.Unplaced++
		s.unplacedBulk += s.Bulk[vm]
	} else {
		s.add(vm, to)
	}
}

func (s *State) remove(vm, from int) {
	s.cost -= s.PlaceCost(vm, from)
	s.Congestion.lift(vm, from)
	last := s.VMsOn[from][len(s.VMsOn[from])-1]
	s.VMsOn[from][s.indexOf[vm]], s.indexOf[last] = last, s.indexOf[vm]
	s.VMsOn[from] = s.VMsOn[from][:len(s.VMsOn[from])-1]
	stays := s.StaysAt(vm, from)
	for d := range s.Dims {
		need := s.Next[vm*s.Dims+d]
		s.EndLoad[from*s.Dims+d] -= need
		if !stays {
			s.PeakLoad[from*s.Dims+d] -= need
		}
	}
	if stays {
		s.Leaving[from] = append(s.Leaving[from], vm)
	}
	s.Free.touch(from)
}

func (s *State) add(vm, to int) {
	s.cost += s.PlaceCost(vm, to)
	s.Congestion.put(vm, to)
	s.indexOf[vm] = len(s.VMsOn[to])
	s.VMsOn[to] = append(s.VMsOn[to], vm)
	stays := s.StaysAt(vm, to)
	for d := range s.Dims {
		need := s.Next[vm*s.Dims+d]
		s.EndLoad[to*s.Dims+d] += need
		if !stays {
			s.PeakLoad[to*s.Dims+d] += need
		}
	}
	if stays {
		s.Leaving[to] = Without(s.Leaving[to], vm)
	}
	s.Free.touch(to)
}

// StaysAt reports whether the VM runs on the node already.
func (s *State) StaysAt(vm, node int) bool {
	return s.Home[vm] == node && s.In.VMs[vm].State == repack.Running
}

// Without removes a VM from a short list; the order is kept.
func Without(list []int, vm int) []int {
	for i, x := range list {
		if x == vm {
			return append(list[:i], list[i+1:]...)
		}
	}
	return list
}

// MayEnd reports whether the VM may end on the node as far as that can be said of
// it alone.
func (s *State) MayEnd(vm, node int) bool {
	return s.Allows(vm, node) && (s.OwnerOf == nil || s.OwnerOf[node] == s.GroupOf[vm]) && s.Avoid != (Move{vm, node})
}

// Fits reports whether the VM can be added to what ends on the node.
func (s *State) Fits(vm, node int) bool {
	v, n := vm*s.Dims, node*s.Dims
	for d := range s.Dims {
		if need := s.Next[v+d]; need > 0 && s.EndLoad[n+d]+need > s.Room[n+d] {
			return false
		}
	}
	return true
}

// FitsAtPeak reports whether the VM, which is not there, could come to the node in
// the first instant, while everybody who leaves is still there and everybody who
// comes has come.
func (s *State) FitsAtPeak(vm, node int) bool {
	v, n := vm*s.Dims, node*s.Dims
	for d := range s.Dims {
		if need := s.Next[v+d]; need > 0 && s.PeakLoad[n+d]+need > s.Room[n+d] {
			return false
		}
	}
	return true
}

// Overloaded reports whether what ends on the node is too much for it.
func (s *State) Overloaded(node int) bool {
	n := node * s.Dims
	for d := range s.Dims {
		if s.EndLoad[n+d] > s.Room[n+d] {
			return true
		}
	}
	return false
}

// Displaced are the VMs that have lost their places since a mark.
func (s *State) Displaced(mark int) (list []int) {
	for _, step := range s.Moves[mark:] {
		if s.NodeOf[step.VM] == repack.Nowhere && !slices.Contains(list, step.VM) {
			list = append(list, step.VM)
		}
	}
	return list
}

// Perturb is an amount, changed by up to a half when there is noise.
func (s *State) Perturb(x int64) int64 {
	if s.Noise == nil {
		return x
	}
	return x/2 + int64(s.Noise.Float64()*float64(x))
}

// Evictable are the VMs of a node that may be taken away from it, with the cost of
// being elsewhere beyond that of being here.
func (s *State) Evictable(node int) (items []problem.Evictable) {
	for _, vm := range s.VMsOn[node] {
		if s.Rooted[vm] && s.StaysAt(vm, node) || slices.Contains(s.Kept, vm) {
			continue
		}
		items = append(items, problem.Evictable{VM: vm, Cost: s.AwayCost[vm] - s.PlaceCost(vm, node), Bulk: s.Perturb(s.Bulk[vm])})
	}
	return items
}

// Evict takes the cheapest VMs away from a node that has too many.
func (s *State) Evict(node int) (evicted []int, ok bool) {
	n := node * s.Dims
	set, _, _, ok := s.CheapestEviction(s.Evictable(node), s.EndLoad[n:n+s.Dims], s.Room[n:n+s.Dims])
	if !ok {
		return nil, false
	}
	for _, vm := range set {
		s.Move(vm, repack.Nowhere)
	}
	return set, true
}
