package solve

import (
	"cmp"
	"slices"

	"vjob/energy"
)

// Where nodes differ in size it matters more which of them are on than how many. Annealing
// hardly finds that out: a node that leaves takes half of its jobs with it, and whatever is
// closed costs more on the way. So sets of nodes are tried one after another, those near
// the best one that are worth it even with divisible jobs; for each, a short run says
// whether the jobs fit.

// fleet is a set of nodes that may have all jobs.
type fleet struct {
	on    []int // in order
	bound float64
}

// So many neighbours of the best set are looked at, and so many of them tried.
const (
	fleetLooks = 4096
	fleetTries = 96
)

// explore tries sets of nodes near the best one, each for so many steps, until the effort
// is spent.
func (s *search) explore(steps, effort int) {
	until := s.left - effort
	p := s.proof()
	for s.left > until && !s.stopped {
		value := s.value
		for _, f := range s.near(p) {
			if s.left <= until || s.stopped {
				return
			}
			key := name(f.on)
			if s.visited[key] >= steps {
				continue
			}
			s.visited[key] = steps
			s.visit(f, steps)
			if s.value != value {
				break
			}
		}
		if s.value == value {
			return
		}
	}
}

// visit looks for a better allocation on a set of nodes.
func (s *search) visit(f fleet, steps int) {
	c := &course{count: len(f.on), on: f.on, yield: max(s.Floor, leastYield), bound: f.bound, spread: firstSpread}
	if s.Objective != energy.BoundedYield {
		m, _ := s.Check(s.best)
		c.climbs, c.yield = true, min(max(c.yield, m.Yield*(1+leastSpread)), s.whole.Most())
	}
	s.sail(c, steps)
}

// near are the sets that differ from the best one by few nodes, the most promising first.
func (s *search) near(p *proof) (list []fleet) {
	on, off := s.busy()
	known := map[string]bool{name(on): true}
	try := func(leave, come []int) {
		if len(known) > fleetLooks {
			return
		}
		set := slices.DeleteFunc(slices.Clone(on), func(n int) bool { return slices.Contains(leave, n) })
		set = append(set, come...)
		slices.Sort(set)
		key := name(set)
		if len(set) == 0 || known[key] {
			return
		}
		known[key] = true
		p.pick(set)
		if bound, ok := p.bound(0); ok && p.better(bound) && s.carries(set) {
			list = append(list, fleet{set, bound})
		}
	}
	for _, leave := range few(on) {
		for _, come := range few(off) {
			try(leave, come)
		}
	}
	s.sortFleets(list)
	return list[:min(len(list), fleetTries)]
}

// sortFleets puts those first that promise most.
func (s *search) sortFleets(list []fleet) {
	slices.SortStableFunc(list, func(a, b fleet) int {
		if s.Objective == energy.BoundedYield {
			return cmp.Compare(a.bound, b.bound)
		}
		return cmp.Compare(b.bound, a.bound)
	})
}

// few are all ways to take none, one or two of a list.
func few(list []int) (sets [][]int) {
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

// busy are the nodes that the best allocation uses, and the others.
func (s *search) busy() (on, off []int) {
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

// name tells sets of nodes apart.
func name(set []int) string {
	text := make([]byte, 0, 2*len(set))
	for _, n := range set {
		text = append(text, byte(n>>8), byte(n))
	}
	return string(text)
}

// carries reports whether the rigid needs of the jobs may fit on a set of nodes: those that
// need more than some nodes have must fit on the others.
func (s *search) carries(set []int) bool {
	for d := range s.dims {
		if !s.tiers(d, set) {
			return false
		}
	}
	return true
}

func (s *search) tiers(d int, set []int) bool {
	rooms := make([]float64, len(set))
	for i, n := range set {
		rooms[i] = s.room[n*s.dims+d]
	}
	slices.SortFunc(rooms, func(a, b float64) int { return cmp.Compare(b, a) })
	free, next := 0.0, 0
	for _, room := range append(rooms, -1) { // what needs more than this one has
		for ; next < s.none && s.need[s.byNeed[d][next]*s.dims+d] > room+energy.Slack; next++ {
			free -= s.need[s.byNeed[d][next]*s.dims+d]
		}
		if free < -energy.Slack*float64(len(set)) {
			return false
		}
		free += room
	}
	return true
}
