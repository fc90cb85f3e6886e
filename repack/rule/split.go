package rule

import (
	"fmt"
	"slices"

	"vjob/repack"
)

var _ = register(Kind{
	Name: "split", Doc: "no node hosts VMs of two of the sets",
	Params: []Param{{Name: "sets", Type: VMSets}},
	Modes:  Discrete | Continuous,
	make: func(b base) repack.Rule {
		return &split{base: b, sets: b.args.sets("sets")}
	},
})

type split struct {
	base
	sets [][]int
}

// Check reports each set that ends on a node where an earlier one does.
func (s *split) Check(t *repack.Timeline) (list []repack.Breach) {
	list = sharing(t, s.sets, itself, t.Instance.NodeName)
	if !s.args.Continuous {
		return list
	}
	var all []visit
	for i, set := range s.sets {
		all = append(all, grouped(t, set, i, itself)...)
	}
	return append(list, meetings(t, all)...)
}

// sharing reports the sets that end at a place where an earlier one does.
func sharing(t *repack.Timeline, sets [][]int, place func(node int) int, name func(place int) string) (list []repack.Breach) {
	in, host := t.Instance, map[int][]int{} // the first VM of each set at a place
	for i, set := range sets {
		came := map[int]bool{}
		for _, vm := range set {
			n, runs := t.Runs(vm)
			if !runs || place(n) == repack.Nowhere || came[place(n)] {
				continue
			}
			p := place(n)
			came[p] = true
			if len(host[p]) > 0 {
				list = append(list, repack.Breach{
					Text: fmt.Sprintf("%s of set %d and %s of another end on %s", in.VMName(vm), i+1, in.VMName(host[p][0]), name(p)),
					At:   repack.Forever,
				})
			}
			host[p] = append(host[p], vm)
		}
	}
	return list
}

// Post counts the sets on each node.
func (s *split) Post(b repack.ConstraintStore) {
	scope := repack.Scope{VMs: slices.Concat(s.sets...)}
	b.Guard(&splitGuard{newMix(s.sets)}, scope)
	if s.args.Continuous {
		b.Watch(&splitWatch{newMix(s.sets)}, scope)
	}
}

// mix counts the VMs of each set at each place.
type mix struct {
	set  partition
	sets int
	of   tally // by place and set
	all  tally // by place: VMs
	kind tally // by place: sets
}

func newMix(sets [][]int) mix {
	sum := 0
	for _, set := range sets {
		sum += len(set)
	}
	return mix{newPartition(sets), len(sets), newTally(sum), newTally(sum), newTally(sum)}
}

// add notes that a VM of a set has come to a place, or left it.
func (m *mix) add(place, set, d int) {
	if place == repack.Nowhere {
		return
	}
	m.all.add(place, d)
	switch n := m.of.add(place*m.sets+set, d); {
	case n == 0:
		m.kind.add(place, -1)
	case n == 1 && d == 1:
		m.kind.add(place, 1)
	}
}

// delta counts a breach for each set beyond the first at a place.
func (m *mix) delta(set, from, to int) (d int) {
	if from == to {
		return 0
	}
	if from != repack.Nowhere && m.of.get(from*m.sets+set) == 1 && m.kind.get(from) > 1 {
		d--
	}
	if to != repack.Nowhere && m.of.get(to*m.sets+set) == 0 && m.kind.get(to) > 0 {
		d++
	}
	return d
}

// alone reports whether no VM of another set is at the place.
func (m *mix) alone(place, set int) bool { return m.all.get(place) == m.of.get(place*m.sets+set) }

type splitGuard struct{ mix }

func (g *splitGuard) Delta(vm, from, to int) int { return g.delta(g.set.part(vm), from, to) }

func (g *splitGuard) Move(vm, from, to int) {
	set := g.set.part(vm)
	g.add(from, set, -1)
	g.add(to, set, 1)
}

type splitWatch struct{ mix }

func (w *splitWatch) Admits(vm, node int) bool { return w.alone(node, w.set.part(vm)) }
func (w *splitWatch) Come(vm, node int)        { w.add(node, w.set.part(vm), 1) }
func (w *splitWatch) Go(vm, node int)          { w.add(node, w.set.part(vm), -1) }
