package solve

import (
	"math/rand/v2"
	"slices"

	"vjob/repack"
)

// State is a placement in the making: where each VM ends. All sums are kept
// incrementally, so a move costs as little as its two nodes and its rules.
type State struct {
	*Problem
	nodeOf   []int   // final node of each VM; Nowhere
	vmsOn    [][]int // VMs that end on each node
	indexOf  []int   // position of each VM in here
	endLoad  []int64 // what ends on each node
	peakLoad []int64 // what is there at first, and all that comes, at once
	// leaving are the VMs that are on a node at first and do not end there.
	leaving [][]int

	delays       []repack.Ticks // estimated wait of each VM's action
	delayCost    int64          // of all, weighted
	congestion   *congestion    // nil: there is no network
	scratch      []int
	delayBuffers queues
	moves        []move // moves that can be undone; nil: none are noted
	recording    bool

	kept    []int      // VMs that are not to be taken away now
	avoid   move       // a VM and the node where it shall not be for now
	groupOf []int      // which dedicated nodes each VM belongs on; nil: there are none
	ownerOf []int      // the clan that each node is dedicated to; 0: none
	noise   *rand.Rand // makes choices between equals differ; nil: none

	free *FreeIndex // kept for a trial; nil: there is none

	cost         int64 // of the actions, without waits
	unplaced     int   // VMs that have no place yet
	unplacedBulk int64 // how bulky they are
	breachesOf   []int // breaches by guard
	breaches     int   // of hard rules
	penalty      int64 // of soft ones
}

// New has nobody anywhere but where VMs are that are not to run on: they
// leave, and count until then.
func New(m *Problem) *State {
	s := &State{
		Problem: m,
		nodeOf:  make([]int, len(m.in.VMs)), indexOf: make([]int, len(m.in.VMs)),
		vmsOn: make([][]int, len(m.in.Nodes)), leaving: make([][]int, len(m.in.Nodes)),
		endLoad: make([]int64, len(m.room)), peakLoad: make([]int64, len(m.room)),
		delays: make([]repack.Ticks, len(m.in.VMs)), breachesOf: make([]int, len(m.guards)), congestion: newJam(m), unplaced: len(m.wanted), avoid: move{repack.Nowhere, repack.Nowhere},
	}
	for _, vm := range m.wanted {
		s.unplacedBulk += s.bulk(vm)
	}
	for vm := range s.nodeOf {
		s.nodeOf[vm] = repack.Nowhere
		v := &m.in.VMs[vm]
		if v.State == repack.Running {
			s.leaving[v.Host] = append(s.leaving[v.Host], vm)
			for d := range m.dims {
				s.peakLoad[v.Host*m.dims+d] += m.now[vm*m.dims+d]
			}
		}
	}
	return s
}

// delta is how a move changes the breaches of hard rules and the penalty.
func (s *State) delta(vm, from, to int) (breaches int, penalty int64) {
	if len(s.guards) == 0 {
		return 0, 0
	}
	for _, list := range s.concerned(vm, from, to) {
		for _, number := range list {
			g := &s.guards[number]
			if !g.nodes.touches(from, to) {
				continue
			}
			if d := g.Delta(vm, from, to); g.penalty == 0 {
				breaches += d
			} else {
				penalty += int64(d) * g.penalty
			}
		}
	}
	return breaches, penalty
}

// applyGuards has every guard that the move concerns know of it, and counts.
func (s *State) applyGuards(vm, from, to int) {
	for _, list := range s.concerned(vm, from, to) {
		for _, number := range list {
			g := &s.guards[number]
			if !g.nodes.touches(from, to) {
				continue
			}
			d := g.Delta(vm, from, to)
			s.breachesOf[number] += d
			if g.penalty == 0 {
				s.breaches += d
			} else {
				s.penalty += int64(d) * g.penalty
			}
			g.Move(vm, from, to)
		}
	}
}

// concerned are the guards that a move concerns, each once.
func (s *State) concerned(vm, from, to int) (lists [4][]int) {
	lists[0], lists[1] = s.guardsOfVM[vm], s.globalGuards
	if from != repack.Nowhere {
		lists[2] = s.guardsOfNode[from]
	}
	if to != repack.Nowhere && (from == repack.Nowhere || !slices.Equal(s.guardsOfNode[from], s.guardsOfNode[to])) {
		lists[3] = s.guardsOfNode[to]
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

// move is a move: a VM and where it was.
type move struct{ vm, from int }

// record begins a trail, at whose beginning [State.undo] ends.
func (s *State) record() { s.moves, s.recording = s.moves[:0], true }

// undo takes back all moves since note.
func (s *State) undo() {
	nodes := s.touchedNodes()
	s.rollBack(0)
	s.recording = false
	s.refreshDelays(nodes...)
}

// rollBack takes back all moves but the first of the trail. Lags are left as they are.
func (s *State) rollBack(first int) {
	s.recording = false
	for _, step := range slices.Backward(s.moves[first:]) {
		s.move(step.vm, step.from)
	}
	s.moves, s.recording = s.moves[:first], true
}

// touchedNodes are the nodes that the trail has changed.
func (s *State) touchedNodes() (nodes []int) {
	for _, step := range s.moves {
		if step.from != repack.Nowhere {
			nodes = append(nodes, step.from)
		}
		if at := s.nodeOf[step.vm]; at != repack.Nowhere {
			nodes = append(nodes, at)
		}
	}
	slices.Sort(nodes)
	return slices.Compact(nodes)
}

// move gives the VM another final node, or none. Lags are left as they are.
func (s *State) move(vm, to int) {
	from := s.nodeOf[vm]
	if from == to {
		return
	}
	if s.recording {
		s.moves = append(s.moves, move{vm, from})
	}
	s.delayCost -= s.waitCost(vm) * int64(s.delays[vm])
	s.delays[vm] = 0
	s.applyGuards(vm, from, to)
	if from == repack.Nowhere {
		s.unplaced--
		s.unplacedBulk -= s.bulk(vm)
	} else {
		s.remove(vm, from)
	}
	s.nodeOf[vm] = to
	if to == repack.Nowhere {
		s.unplaced++
		s.unplacedBulk += s.bulk(vm)
	} else {
		s.add(vm, to)
	}
}

func (s *State) remove(vm, from int) {
	s.cost -= s.Problem.placeCost(vm, from)
	s.congestion.lift(vm, from)
	last := s.vmsOn[from][len(s.vmsOn[from])-1]
	s.vmsOn[from][s.indexOf[vm]], s.indexOf[last] = last, s.indexOf[vm]
	s.vmsOn[from] = s.vmsOn[from][:len(s.vmsOn[from])-1]
	stays := s.staysAt(vm, from)
	for d := range s.dims {
		need := s.next[vm*s.dims+d]
		s.endLoad[from*s.dims+d] -= need
		if !stays {
			s.peakLoad[from*s.dims+d] -= need
		}
	}
	if stays {
		s.leaving[from] = append(s.leaving[from], vm)
	}
	s.free.touch(from)
}

func (s *State) add(vm, to int) {
	s.cost += s.Problem.placeCost(vm, to)
	s.congestion.put(vm, to)
	s.indexOf[vm] = len(s.vmsOn[to])
	s.vmsOn[to] = append(s.vmsOn[to], vm)
	stays := s.staysAt(vm, to)
	for d := range s.dims {
		need := s.next[vm*s.dims+d]
		s.endLoad[to*s.dims+d] += need
		if !stays {
			s.peakLoad[to*s.dims+d] += need
		}
	}
	if stays {
		s.leaving[to] = without(s.leaving[to], vm)
	}
	s.free.touch(to)
}

// staysAt reports whether the VM runs on the node already.
func (s *State) staysAt(vm, node int) bool {
	return s.home[vm] == node && s.in.VMs[vm].State == repack.Running
}

// without removes a VM from a short list; the order is kept.
func without(list []int, vm int) []int {
	for i, x := range list {
		if x == vm {
			return append(list[:i], list[i+1:]...)
		}
	}
	return list
}

// mayEnd reports whether the VM may end on the node as far as that can be said of
// it alone.
func (s *State) mayEnd(vm, node int) bool {
	return s.allows(vm, node) && (s.ownerOf == nil || s.ownerOf[node] == s.groupOf[vm]) && s.avoid != (move{vm, node})
}

// fits reports whether the VM can be added to what ends on the node.
func (s *State) fits(vm, node int) bool {
	v, n := vm*s.dims, node*s.dims
	for d := range s.dims {
		if need := s.next[v+d]; need > 0 && s.endLoad[n+d]+need > s.room[n+d] {
			return false
		}
	}
	return true
}

// fitsAtPeak reports whether the VM, which is not there, could come to the node in
// the first instant, while everybody who leaves is still there and everybody who
// comes has come.
func (s *State) fitsAtPeak(vm, node int) bool {
	v, n := vm*s.dims, node*s.dims
	for d := range s.dims {
		if need := s.next[v+d]; need > 0 && s.peakLoad[n+d]+need > s.room[n+d] {
			return false
		}
	}
	return true
}

// overloaded reports whether what ends on the node is too much for it.
func (s *State) overloaded(node int) bool {
	n := node * s.dims
	for d := range s.dims {
		if s.endLoad[n+d] > s.room[n+d] {
			return true
		}
	}
	return false
}

// displaced are the VMs that have lost their places since a mark.
func (s *State) displaced(mark int) (list []int) {
	for _, step := range s.moves[mark:] {
		if s.nodeOf[step.vm] == repack.Nowhere && !slices.Contains(list, step.vm) {
			list = append(list, step.vm)
		}
	}
	return list
}

// perturb is an amount, changed by up to a half when there is noise.
func (s *State) perturb(x int64) int64 {
	if s.noise == nil {
		return x
	}
	return x/2 + int64(s.noise.Float64()*float64(x))
}

// evictable are the VMs of a node that may be taken away from it, with the cost of
// being elsewhere beyond that of being here.
func (s *State) evictable(node int) (items []Evictable) {
	for _, vm := range s.vmsOn[node] {
		if s.rooted[vm] && s.staysAt(vm, node) || slices.Contains(s.kept, vm) {
			continue
		}
		items = append(items, Evictable{vm, s.awayCost[vm] - s.Problem.placeCost(vm, node), s.perturb(s.bulk(vm))})
	}
	return items
}

// evict takes the cheapest VMs away from a node that has too many.
func (s *State) evict(node int) (evicted []int, ok bool) {
	n := node * s.dims
	set, _, _, ok := s.cheapestEviction(s.evictable(node), s.endLoad[n:n+s.dims], s.room[n:n+s.dims])
	if !ok {
		return nil, false
	}
	for _, vm := range set {
		s.move(vm, repack.Nowhere)
	}
	return set, true
}
