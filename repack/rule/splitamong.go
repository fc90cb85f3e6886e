package rule

import (
	"fmt"
	"slices"

	"vjob/repack"
)

var _ = register(Kind{
	Name: "splitAmong", Doc: "each set of VMs inside one of the groups of nodes, and no two sets in the same",
	Params: []Param{{Name: "sets", Type: VMSets}, {Name: "groups", Type: NodeSets}},
	Modes:  Discrete | Continuous,
	make: func(b base) repack.Rule {
		return &splitAmong{base: b, sets: b.args.sets("sets"), groups: b.args.sets("groups")}
	},
})

type splitAmong struct {
	base
	sets, groups [][]int
}

// Check reports what among and split would.
func (s *splitAmong) Check(t *repack.Timeline) (list []repack.Breach) {
	group := groupOf(s.groups)
	var all []visit
	for i, set := range s.sets {
		list = append(list, scattered(t, set, group)...)
		if s.args.Continuous {
			all = append(all, grouped(t, set, i, group)...)
			list = append(list, partings(t, set, group)...)
		}
	}
	list = append(list, sharing(t, s.sets, group, func(g int) string { return fmt.Sprintf("group %d", g+1) })...)
	return append(list, meetings(t, all)...)
}

// Post counts the VMs that are not where most of their set are, and the sets in each group.
func (s *splitAmong) Post(b repack.ConstraintStore) {
	in := b.Instance()
	area := newAreas(len(in.Nodes), s.groups)
	scope := repack.Scope{VMs: slices.Concat(s.sets...)}
	g := &splitAmongGuard{areas: area, mix: newMix(s.sets)}
	w := &splitAmongWatch{areas: area, mix: newMix(s.sets)}
	for _, set := range s.sets {
		g.each = append(g.each, newHuddle(len(set)))
		w.each = append(w.each, newHerd(in, set, area.area))
	}
	b.Guard(g, scope)
	if s.args.Continuous {
		b.Watch(w, scope)
	}
}

type splitAmongGuard struct {
	areas
	mix
	each []huddle // by set
}

func (g *splitAmongGuard) Delta(vm, from, to int) int {
	set, p, q := g.set.part(vm), g.area(from), g.area(to)
	return g.stray(to) - g.stray(from) + g.each[set].delta(p, q) + g.delta(set, p, q)
}

func (g *splitAmongGuard) Move(vm, from, to int) {
	set, p, q := g.set.part(vm), g.area(from), g.area(to)
	g.each[set].move(p, q)
	g.add(p, set, -1)
	g.add(q, set, 1)
}

type splitAmongWatch struct {
	areas
	mix
	each []herd // by set
}

func (w *splitAmongWatch) Admits(vm, node int) bool {
	set, p := w.set.part(vm), w.area(node)
	return w.each[set].admits(vm, node, p) && (p == repack.Nowhere || w.alone(p, set))
}

func (w *splitAmongWatch) Come(vm, node int) { w.note(vm, node, 1) }
func (w *splitAmongWatch) Go(vm, node int)   { w.note(vm, node, -1) }

func (w *splitAmongWatch) note(vm, node, d int) {
	set, p := w.set.part(vm), w.area(node)
	w.each[set].count(vm, node, p, d)
	w.add(p, set, d)
}
