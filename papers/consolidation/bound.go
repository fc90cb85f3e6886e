package consolidation

import (
	"cmp"
	"slices"
)

// volume is a number of nodes that no packing has less than: in each dimension by
// itself, the roomiest nodes must be enough for all.
func (m *model) volume() (most int) {
	most = m.forced
	for d := range m.dims {
		most = max(most, m.forced+m.volumeOf(d))
	}
	return most
}

func (m *model) volumeOf(d int) (nodes int) {
	need := int64(0)
	for k := range m.kinds {
		need += m.kinds[k].need[d] * int64(len(m.kinds[k].items))
	}
	var rooms []int64
	for s := range m.homeClasses {
		site := m.classOf(s)
		for range m.homeClasses[s].nodes {
			if site.busy {
				need -= site.room[d]
			} else {
				rooms = append(rooms, site.room[d])
			}
		}
	}
	slices.Sort(rooms)
	for need > 0 {
		if len(rooms) == 0 {
			return m.nodes + 1
		}
		need -= rooms[len(rooms)-1]
		rooms = rooms[:len(rooms)-1]
		nodes++
	}
	return nodes
}

// keepable is what can be saved at most on so many open nodes, each looked at by
// itself: of its items at home it keeps the most valuable that fit, and only those
// nodes stay open that keep the most.
func (m *model) keepable(open int) (sum int64) {
	var each []int64
	for s := range m.homeClasses {
		keeps := m.keeps(&m.homeClasses[s])
		for range m.homeClasses[s].nodes {
			if m.classOf(s).busy {
				sum += keeps
			} else {
				each = append(each, keeps)
			}
		}
	}
	slices.SortFunc(each, func(a, b int64) int { return cmp.Compare(b, a) })
	for _, keeps := range each[:min(open, len(each))] {
		sum += keeps
	}
	return sum
}

// keepSteps bounds the search on one node.
const keepSteps = 10_000

// keeps is what the items at home on a node are worth at most.
func (m *model) keeps(s *homeClass) int64 {
	_, worth := m.keep(s)
	return worth
}

// keep has the items at home on a node that are worth the most together.
func (m *model) keep(s *homeClass) (of []share, most int64) {
	value, left := make([]int64, len(m.kinds)), make([]int, len(m.kinds))
	for _, h := range s.homes {
		value[h.kind], left[h.kind] = m.kinds[h.kind].gain, h.n
	}
	f := newFiller(m, s.class, value, left, false)
	of, most, _ = f.fill(nil, nil, 0, keepSteps)
	return of, most
}
