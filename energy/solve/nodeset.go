package solve

import (
	"cmp"
	"slices"

	"vjob/energy"
)

// If nodes differ in size, which nodes are on matters more than how many. Annealing rarely
// finds the right ones, since a half emptied node costs more than a full or an empty one.
// So the search tries sets of nodes near the best one, if their bound with divisible jobs is
// an improvement, and tests with a short run whether the jobs fit.

// nodeSet is a set of nodes that may have jobs.
type nodeSet struct {
	on    []int // sorted
	bound float64
}

// The numbers of neighbours of the best set that are bounded, and tried.
const (
	maxCandidates = 4096
	maxTried      = 96
)

// explore tries sets of nodes near the best one, each for the given number of steps, until it
// has used up effort steps or a round brings no improvement.
func (s *search) explore(steps, effort int) {
	until := s.stepsLeft - effort
	p := s.newBranchAndBound()
	for s.stepsLeft > until && !s.stopped {
		value := s.value
		for _, f := range s.neighbours(p) {
			if s.stepsLeft <= until || s.stopped {
				return
			}
			key := setKey(f.on)
			if s.stepsTried[key] >= steps {
				continue
			}
			s.stepsTried[key] = steps
			s.tryNodes(f, steps)
			if s.value != value {
				break
			}
		}
		if s.value == value {
			return
		}
	}
}

// tryNodes searches for a better allocation on a set of nodes.
func (s *search) tryNodes(f nodeSet, steps int) {
	c := &run{count: len(f.on), nodes: f.on, yield: max(s.Floor, minYield), bound: f.bound, stride: firstStride}
	if s.Objective != energy.BoundedYield {
		m, _ := s.Check(s.best)
		c.raisesYield, c.yield = true, min(max(c.yield, m.Yield*(1+minStride)), s.whole.most())
	}
	s.resume(c, steps)
}

// neighbours returns the sets that differ from the best one by up to two nodes removed and two
// added, the best bound first.
func (s *search) neighbours(p *branchAndBound) (list []nodeSet) {
	on, off := s.usedNodes()
	known := map[string]bool{setKey(on): true}
	try := func(leave, come []int) {
		if len(known) > maxCandidates {
			return
		}
		set := slices.DeleteFunc(slices.Clone(on), func(n int) bool { return slices.Contains(leave, n) })
		set = append(set, come...)
		slices.Sort(set)
		key := setKey(set)
		if len(set) == 0 || known[key] {
			return
		}
		known[key] = true
		p.setNodes(set)
		if bound, ok := p.bound(0); ok && p.better(bound) && s.rigidMayFit(set) {
			list = append(list, nodeSet{set, bound})
		}
	}
	for _, leave := range upToTwo(on) {
		for _, come := range upToTwo(off) {
			try(leave, come)
		}
	}
	s.sortSets(list)
	return list[:min(len(list), maxTried)]
}

// sortSets sorts by bound, the best first.
func (s *search) sortSets(list []nodeSet) {
	slices.SortStableFunc(list, func(a, b nodeSet) int {
		if s.Objective == energy.BoundedYield {
			return cmp.Compare(a.bound, b.bound)
		}
		return cmp.Compare(b.bound, a.bound)
	})
}

// upToTwo returns all subsets of up to two elements.
func upToTwo(list []int) (sets [][]int) {
	sets = append(sets, nil)
	for i, a := range list {
		sets = append(sets, []int{a})
		for _, b := range list[:i] {
			sets = append(sets, []int{b, a})
		}
	}
	slices.SortStableFunc(sets, func(a, b []int) int { return cmp.Compare(len(a), len(b)) })
	return sets
}

// usedNodes returns the nodes that the best allocation uses, and the others.
func (s *search) usedNodes() (on, off []int) {
	used := make([]bool, len(s.Nodes))
	for _, n := range s.best.At {
		used[n] = true
	}
	for n, u := range used {
		if u {
			on = append(on, n)
		} else {
			off = append(off, n)
		}
	}
	return on, off
}

// setKey returns a map key for a set of nodes.
func setKey(set []int) string {
	text := make([]byte, 0, 2*len(set))
	for _, n := range set {
		text = append(text, byte(n>>8), byte(n))
	}
	return string(text)
}

// rigidMayFit is a necessary condition for the rigid needs to fit on a set of nodes: the jobs
// that need more than the smaller nodes have must fit on the larger ones.
func (s *search) rigidMayFit(set []int) bool {
	for d := range s.dims {
		if !s.dimensionMayFit(d, set) {
			return false
		}
	}
	return true
}

// dimensionMayFit is rigidMayFit for one resource.
func (s *search) dimensionMayFit(d int, set []int) bool {
	rooms := make([]float64, len(set))
	for i, n := range set {
		rooms[i] = s.room[n*s.dims+d]
	}
	slices.SortFunc(rooms, func(a, b float64) int { return cmp.Compare(b, a) })
	free, next := 0.0, 0
	for _, room := range append(rooms, -1) { // jobs that need more than this node has
		for ; next < s.noJob && s.need[s.byNeed[d][next]*s.dims+d] > room+energy.Slack; next++ {
			free -= s.need[s.byNeed[d][next]*s.dims+d]
		}
		if free < -energy.Slack*float64(len(set)) {
			return false
		}
		free += room
	}
	return true
}
