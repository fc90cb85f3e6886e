package solve

import (
	"math/rand/v2"
	"slices"

	"vjob/repack"
)

// state is a placement in the making: where each VM ends. All sums are kept
// incrementally, so a move costs as little as its two nodes and its rules.
type state struct {
	*model
	at   []int   // final node of each VM; Nowhere
	here [][]int // VMs that end on each node
	slot []int   // position of each VM in here
	load []int64 // what ends on each node
	rush []int64 // what is there at first, and all that comes, at once
	// leave are the VMs that are on a node at first and do not end there.
	leave [][]int

	lag     []repack.Ticks // estimated wait of each VM's action
	waits   int64          // of all, weighted
	jam     *jam           // nil: there is no network
	scratch []int
	queues  queues
	trail   []step // moves that can be undone; nil: none are noted
	noted   bool

	held  []int      // VMs that are not to be taken away now
	shun  step       // a VM and the node where it shall not be for now
	clan  []int      // which dedicated nodes each VM belongs on; nil: there are none
	owner []int      // the clan that each node is dedicated to; 0: none
	noise *rand.Rand // makes choices between equals differ; nil: none

	openings *openings // kept for a trial; nil: there is none

	cost     int64 // of the actions, without waits
	nowhere  int   // VMs that have no place yet
	lost     int64 // how bulky they are
	count    []int // breaches by guard
	breaches int   // of hard rules
	penalty  int64 // of soft ones
}

// newState has nobody anywhere but where VMs are that are not to run on: they
// leave, and count until then.
func newState(m *model) *state {
	s := &state{
		model: m,
		at:    make([]int, len(m.in.VMs)), slot: make([]int, len(m.in.VMs)),
		here: make([][]int, len(m.in.Nodes)), leave: make([][]int, len(m.in.Nodes)),
		load: make([]int64, len(m.room)), rush: make([]int64, len(m.room)),
		lag: make([]repack.Ticks, len(m.in.VMs)), count: make([]int, len(m.guards)), jam: newJam(m), nowhere: len(m.hot), shun: step{repack.Nowhere, repack.Nowhere},
	}
	for _, vm := range m.hot {
		s.lost += s.bulk(vm)
	}
	for vm := range s.at {
		s.at[vm] = repack.Nowhere
		v := &m.in.VMs[vm]
		if v.State == repack.Running {
			s.leave[v.Host] = append(s.leave[v.Host], vm)
			for d := range m.dims {
				s.rush[v.Host*m.dims+d] += m.now[vm*m.dims+d]
			}
		}
	}
	return s
}

// delta is how a move changes the breaches of hard rules and the penalty.
func (s *state) delta(vm, from, to int) (breaches int, penalty int64) {
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

// tell has every guard that the move concerns know of it, and counts.
func (s *state) tell(vm, from, to int) {
	for _, list := range s.concerned(vm, from, to) {
		for _, number := range list {
			g := &s.guards[number]
			if !g.nodes.touches(from, to) {
				continue
			}
			d := g.Delta(vm, from, to)
			s.count[number] += d
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
func (s *state) concerned(vm, from, to int) (lists [4][]int) {
	lists[0], lists[1] = s.ofVM[vm], s.ofAll
	if from != repack.Nowhere {
		lists[2] = s.ofNode[from]
	}
	if to != repack.Nowhere && (from == repack.Nowhere || !slices.Equal(s.ofNode[from], s.ofNode[to])) {
		lists[3] = s.ofNode[to]
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

// step is a move: a VM and where it was.
type step struct{ vm, from int }

// note begins a trail, at whose beginning [state.undo] ends.
func (s *state) note() { s.trail, s.noted = s.trail[:0], true }

// undo takes back all moves since note.
func (s *state) undo() {
	nodes := s.touched()
	s.back(0)
	s.noted = false
	s.refresh(nodes...)
}

// back takes back all moves but the first of the trail. Lags are left as they are.
func (s *state) back(first int) {
	s.noted = false
	for _, step := range slices.Backward(s.trail[first:]) {
		s.move(step.vm, step.from)
	}
	s.trail, s.noted = s.trail[:first], true
}

// touched are the nodes that the trail has changed.
func (s *state) touched() (nodes []int) {
	for _, step := range s.trail {
		if step.from != repack.Nowhere {
			nodes = append(nodes, step.from)
		}
		if at := s.at[step.vm]; at != repack.Nowhere {
			nodes = append(nodes, at)
		}
	}
	slices.Sort(nodes)
	return slices.Compact(nodes)
}

// move gives the VM another final node, or none. Lags are left as they are.
func (s *state) move(vm, to int) {
	from := s.at[vm]
	if from == to {
		return
	}
	if s.noted {
		s.trail = append(s.trail, step{vm, from})
	}
	s.waits -= s.patience(vm) * int64(s.lag[vm])
	s.lag[vm] = 0
	s.tell(vm, from, to)
	if from == repack.Nowhere {
		s.nowhere--
		s.lost -= s.bulk(vm)
	} else {
		s.lift(vm, from)
	}
	s.at[vm] = to
	if to == repack.Nowhere {
		s.nowhere++
		s.lost += s.bulk(vm)
	} else {
		s.put(vm, to)
	}
}

func (s *state) lift(vm, from int) {
	s.cost -= s.model.cost(vm, from)
	s.jam.lift(vm, from)
	last := s.here[from][len(s.here[from])-1]
	s.here[from][s.slot[vm]], s.slot[last] = last, s.slot[vm]
	s.here[from] = s.here[from][:len(s.here[from])-1]
	stays := s.staysAt(vm, from)
	for d := range s.dims {
		need := s.next[vm*s.dims+d]
		s.load[from*s.dims+d] -= need
		if !stays {
			s.rush[from*s.dims+d] -= need
		}
	}
	if stays {
		s.leave[from] = append(s.leave[from], vm)
	}
	s.openings.touch(from)
}

func (s *state) put(vm, to int) {
	s.cost += s.model.cost(vm, to)
	s.jam.put(vm, to)
	s.slot[vm] = len(s.here[to])
	s.here[to] = append(s.here[to], vm)
	stays := s.staysAt(vm, to)
	for d := range s.dims {
		need := s.next[vm*s.dims+d]
		s.load[to*s.dims+d] += need
		if !stays {
			s.rush[to*s.dims+d] += need
		}
	}
	if stays {
		s.leave[to] = without(s.leave[to], vm)
	}
	s.openings.touch(to)
}

// staysAt reports whether the VM runs on the node already.
func (s *state) staysAt(vm, node int) bool {
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
func (s *state) mayEnd(vm, node int) bool {
	return s.allows(vm, node) && (s.owner == nil || s.owner[node] == s.clan[vm]) && s.shun != (step{vm, node})
}

// fits reports whether the VM can be added to what ends on the node.
func (s *state) fits(vm, node int) bool {
	v, n := vm*s.dims, node*s.dims
	for d := range s.dims {
		if need := s.next[v+d]; need > 0 && s.load[n+d]+need > s.room[n+d] {
			return false
		}
	}
	return true
}

// atOnce reports whether the VM, which is not there, could come to the node in
// the first instant, while everybody who leaves is still there and everybody who
// comes has come.
func (s *state) atOnce(vm, node int) bool {
	v, n := vm*s.dims, node*s.dims
	for d := range s.dims {
		if need := s.next[v+d]; need > 0 && s.rush[n+d]+need > s.room[n+d] {
			return false
		}
	}
	return true
}

// over reports whether what ends on the node is too much for it.
func (s *state) over(node int) bool {
	n := node * s.dims
	for d := range s.dims {
		if s.load[n+d] > s.room[n+d] {
			return true
		}
	}
	return false
}

// ousted are the VMs that have lost their places since a mark.
func (s *state) ousted(mark int) (list []int) {
	for _, step := range s.trail[mark:] {
		if s.at[step.vm] == repack.Nowhere && !slices.Contains(list, step.vm) {
			list = append(list, step.vm)
		}
	}
	return list
}

// noisy is an amount, changed by up to a half when there is noise.
func (s *state) noisy(x int64) int64 {
	if s.noise == nil {
		return x
	}
	return x/2 + int64(s.noise.Float64()*float64(x))
}

// movable are the VMs of a node that may be taken away from it, with the cost of
// being elsewhere beyond that of being here.
func (s *state) movable(node int) (items []evictee) {
	for _, vm := range s.here[node] {
		if s.rooted[vm] && s.staysAt(vm, node) || slices.Contains(s.held, vm) {
			continue
		}
		items = append(items, evictee{vm, s.far[vm] - s.model.cost(vm, node), s.noisy(s.bulk(vm))})
	}
	return items
}

// relieve takes the cheapest VMs away from a node that has too many.
func (s *state) relieve(node int) (evicted []int, ok bool) {
	n := node * s.dims
	set, _, _, ok := s.cheapest(s.movable(node), s.load[n:n+s.dims], s.room[n:n+s.dims])
	if !ok {
		return nil, false
	}
	for _, vm := range set {
		s.move(vm, repack.Nowhere)
	}
	return set, true
}
