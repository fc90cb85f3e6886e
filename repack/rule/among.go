package rule

import "vjob/repack"

var _ = register(Kind{
	Name: "among", Doc: "all of the VMs inside one of the groups of nodes",
	Params: []Param{{Name: "vms", Type: VMs}, {Name: "groups", Type: NodeSets}},
	Modes:  Discrete | Continuous,
	make: func(b base) repack.Rule {
		return &among{base: b, vms: b.args.vms(), groups: b.args.sets("groups")}
	},
})

// among in its continuous form has VMs that are in one group at first stay in it. If
// they are not, they may still come together.
type among struct {
	base
	vms    []int
	groups [][]int
}

// Check reports each VM that does not end in the group where most of the others do.
func (a *among) Check(t *repack.Timeline) (list []repack.Breach) {
	group := groupOf(a.groups)
	list = scattered(t, a.vms, group)
	if a.args.Continuous {
		list = append(list, partings(t, a.vms, group)...)
	}
	return list
}

// groupOf finds the group of a node, or Nowhere.
func groupOf(groups [][]int) func(node int) int {
	of := map[int]int{}
	for g, list := range groups {
		for _, n := range list {
			of[n] = g
		}
	}
	return func(node int) int {
		if g, ok := of[node]; ok {
			return g
		}
		return repack.Nowhere
	}
}

// grouped returns the visits of the VMs of one party.
func grouped(t *repack.Timeline, vms []int, party int, group func(node int) int) (all []visit) {
	for _, vm := range vms {
		all = append(all, visits(t, vm, party, group)...)
	}
	return all
}

// Post counts the VMs outside the group with most of them.
func (a *among) Post(b repack.ConstraintStore) {
	in := b.Instance()
	area := newAreas(len(in.Nodes), a.groups)
	scope := repack.Scope{VMs: a.vms}
	b.Guard(&amongGuard{area, newHuddle(len(a.vms))}, scope)
	if a.args.Continuous {
		b.Watch(&amongWatch{area, newHerd(in, a.vms, area.area)}, scope)
	}
}

type amongGuard struct {
	areas
	huddle
}

func (g *amongGuard) Delta(_, from, to int) int {
	return g.stray(to) - g.stray(from) + g.delta(g.area(from), g.area(to))
}

func (g *amongGuard) Move(_, from, to int) { g.move(g.area(from), g.area(to)) }

type amongWatch struct {
	areas
	herd
}

func (w *amongWatch) Admits(vm, node int) bool { return w.admits(vm, node, w.area(node)) }
func (w *amongWatch) Come(vm, node int)        { w.count(vm, node, w.area(node), 1) }
func (w *amongWatch) Go(vm, node int)          { w.count(vm, node, w.area(node), -1) }
