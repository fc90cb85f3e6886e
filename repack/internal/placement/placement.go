// Package placement holds a placement under construction: where each VM ends, with all sums
// kept incrementally, so that a move costs as little as its two nodes and its rules.
//
// It estimates how long actions wait a thousand times faster than a schedule does, for room
// (delay.go) and on links (congestion.go).
package placement

import (
	"math/rand/v2"
	"slices"

	"vjob/internal/sparse"
	"vjob/repack"
	"vjob/repack/internal/problem"
)

// State is a placement under construction: where each VM ends. All sums are kept
// incrementally, so a move costs as little as its two nodes and its rules.
type State struct {
	*problem.Problem
	hosting
	waits
	score
	guidance
	history

	Free *FreeIndex // kept for admission tests; may be nil
}

// hosting is which VMs end on which nodes, and the load of these.
type hosting struct {
	NodeOf   []int             // final node of each VM; Nowhere
	VMsOn    sparse.Lists[int] // VMs that end on each node
	indexOf  []int             // position of each VM in VMsOn
	Leaving  sparse.Lists[int] // VMs that are on a node at first and do not end there
	EndLoad  []int64           // load of each node at the end
	PeakLoad []int64           // load of each node if all arrivals come before any departure
}

// waits are the estimated waiting times of actions.
type waits struct {
	Delays       []repack.Ticks // of each VM's action
	delayCost    int64          // of all VMs, weighted
	Congestion   *congestion    // nil if there is no network
	scratch      []int
	delayBuffers queues
}

// score is how good a placement is.
type score struct {
	cost         int64 // of the actions, without waits
	Unplaced     int   // number of VMs without a place
	unplacedBulk int64 // their size
	BreachesOf   []int // by guard
	Breaches     int   // of hard rules
	Penalty      int64 // of soft ones
}

// guidance limits the moves that a search makes for now.
type guidance struct {
	Kept    []int      // VMs that must not be evicted now
	Avoid   Move       // a VM and the node that it must not use for now
	GroupOf []int      // the dedicated nodes of each VM, by group; may be nil
	OwnerOf []int      // the group that each node is dedicated to, or 0
	Noise   *rand.Rand // varies choices between equals; nil for none
}

// history has the moves that can be undone.
type history struct {
	Moves     []Move
	Recording bool
}

// New returns a placement without any VM. VMs that run and must not run at the end count until
// they leave.
func New(m *problem.Problem) *State {
	nodes, vms := len(m.In.Nodes), len(m.In.VMs)
	s := &State{
		Problem: m,
		hosting: hosting{
			NodeOf: make([]int, vms), indexOf: make([]int, vms), VMsOn: sparse.New[int](nodes), Leaving: sparse.New[int](nodes),
			EndLoad: make([]int64, len(m.Room)), PeakLoad: make([]int64, len(m.Room)),
		},
		waits:    waits{Delays: make([]repack.Ticks, vms), Congestion: newCongestion(m)},
		score:    score{BreachesOf: make([]int, len(m.Guards)), Unplaced: len(m.Wanted)},
		guidance: guidance{Avoid: Move{repack.Nowhere, repack.Nowhere}},
	}
	for _, vm := range m.Wanted {
		s.unplacedBulk += s.Bulk[vm]
	}
	for vm := range s.NodeOf {
		s.NodeOf[vm] = repack.Nowhere
		v := &m.In.VMs[vm]
		if v.State == repack.Running {
			s.Leaving.Add(v.Host, vm)
			for d := range m.Dims {
				s.PeakLoad[v.Host*m.Dims+d] += m.Now[vm*m.Dims+d]
			}
		}
	}
	return s
}

// Delta returns how a move changes the breaches of hard rules and the penalty.
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
			d := g.Delta(vm, from, to)
			if g.Penalty == 0 {
				breaches += d
			} else {
				penalty += int64(d) * g.Penalty
			}
		}
	}
	return breaches, penalty
}

// applyGuards tells the guards about a move and counts breaches and penalties.
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

// Concerned returns the guards that a move concerns, each once.
func (s *State) Concerned(vm, from, to int) (lists [4][]int) {
	lists[0], lists[1] = s.GuardsOfVM[vm], s.GlobalGuards
	if from != repack.Nowhere {
		lists[2] = s.GuardsOfNode.At(from)
	}
	if to != repack.Nowhere && (from == repack.Nowhere || !slices.Equal(s.GuardsOfNode.At(from), s.GuardsOfNode.At(to))) {
		lists[3] = s.GuardsOfNode.At(to)
		for _, number := range lists[2] {
			if slices.Contains(lists[3], number) {
				lists[3] = minus(lists[3], lists[2])
				break
			}
		}
	}
	return lists
}

// minus returns the elements of the first list that are not in the second.
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

// Record starts to record moves, for [State.Undo] and [State.RollBack].
func (s *State) Record() { s.Moves, s.Recording = s.Moves[:0], true }

// Undo takes back all recorded moves.
func (s *State) Undo() {
	nodes := s.TouchedNodes()
	s.RollBack(0)
	s.Recording = false
	s.RefreshDelays(nodes...)
}

// RollBack takes back all recorded moves but the first. Delays stay as they are.
func (s *State) RollBack(first int) {
	s.Recording = false
	for _, step := range slices.Backward(s.Moves[first:]) {
		s.Move(step.VM, step.From)
	}
	s.Moves, s.Recording = s.Moves[:first], true
}

// TouchedNodes returns the nodes that the recorded moves have changed.
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

// Move gives a VM another final node, or Nowhere. Delays stay as they are.
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
	here := s.VMsOn.Ref(from)
	last := (*here)[len(*here)-1]
	(*here)[s.indexOf[vm]], s.indexOf[last] = last, s.indexOf[vm]
	*here = (*here)[:len(*here)-1]
	stays := s.StaysAt(vm, from)
	for d := range s.Dims {
		need := s.Next[vm*s.Dims+d]
		s.EndLoad[from*s.Dims+d] -= need
		if !stays {
			s.PeakLoad[from*s.Dims+d] -= need
		}
	}
	if stays {
		s.Leaving.Add(from, vm)
	}
	s.Free.touch(from)
}

func (s *State) add(vm, to int) {
	s.cost += s.PlaceCost(vm, to)
	s.Congestion.put(vm, to)
	here := s.VMsOn.Ref(to)
	s.indexOf[vm], *here = len(*here), append(*here, vm)
	stays := s.StaysAt(vm, to)
	for d := range s.Dims {
		need := s.Next[vm*s.Dims+d]
		s.EndLoad[to*s.Dims+d] += need
		if !stays {
			s.PeakLoad[to*s.Dims+d] += need
		}
	}
	if stays {
		leaving := s.Leaving.Ref(to)
		*leaving = Without(*leaving, vm)
	}
	s.Free.touch(to)
}

// StaysAt reports whether the VM already runs on the node.
func (s *State) StaysAt(vm, node int) bool {
	return s.Home[vm] == node && s.In.VMs[vm].State == repack.Running
}

// Without removes a VM from a short list and keeps the order.
func Without(list []int, vm int) []int {
	for i, x := range list {
		if x == vm {
			return append(list[:i], list[i+1:]...)
		}
	}
	return list
}

// MayEnd reports whether the VM may end on the node, as far as rules on the VM alone say.
func (s *State) MayEnd(vm, node int) bool {
	return s.Allows(vm, node) && (s.OwnerOf == nil || s.OwnerOf[node] == s.GroupOf[vm]) && s.Avoid != (Move{vm, node})
}

// Fits reports whether the node has room for one more VM at the end.
func (s *State) Fits(vm, node int) bool {
	v, n := vm*s.Dims, node*s.Dims
	for d := range s.Dims {
		if need := s.Next[v+d]; need > 0 && s.EndLoad[n+d]+need > s.Room[n+d] {
			return false
		}
	}
	return true
}

// FitsAtPeak reports whether a VM that is not on the node could come in the first instant,
// before any departure and after all other arrivals.
func (s *State) FitsAtPeak(vm, node int) bool {
	v, n := vm*s.Dims, node*s.Dims
	for d := range s.Dims {
		if need := s.Next[v+d]; need > 0 && s.PeakLoad[n+d]+need > s.Room[n+d] {
			return false
		}
	}
	return true
}

// Overloaded reports whether the node lacks capacity for the VMs that end on it.
func (s *State) Overloaded(node int) bool {
	n := node * s.Dims
	for d := range s.Dims {
		if s.EndLoad[n+d] > s.Room[n+d] {
			return true
		}
	}
	return false
}

// Displaced returns the VMs that have lost their places since a mark in Moves.
func (s *State) Displaced(mark int) (list []int) {
	for _, step := range s.Moves[mark:] {
		if s.NodeOf[step.VM] == repack.Nowhere && !slices.Contains(list, step.VM) {
			list = append(list, step.VM)
		}
	}
	return list
}

// Perturb changes an amount by up to a half if there is noise.
func (s *State) Perturb(x int64) int64 {
	if s.Noise == nil {
		return x
	}
	return x/2 + int64(s.Noise.Float64()*float64(x))
}

// Evictable returns the VMs that may leave a node, with the extra cost of being elsewhere.
func (s *State) Evictable(node int) (items []problem.Evictable) {
	for _, vm := range s.VMsOn.At(node) {
		if s.Rooted[vm] && s.StaysAt(vm, node) || slices.Contains(s.Kept, vm) {
			continue
		}
		items = append(items, problem.Evictable{VM: vm, Cost: s.AwayCost[vm] - s.PlaceCost(vm, node), Bulk: s.Perturb(s.Bulk[vm])})
	}
	return items
}

// Evict removes the cheapest VMs from an overloaded node.
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
