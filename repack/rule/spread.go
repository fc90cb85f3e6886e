package rule

import (
	"fmt"

	"vjob/repack"
)

var _ = register(Kind{
	Name: "spread", Doc: "no two of the VMs on one node",
	Params: []Param{{Name: "vms", Type: VMs}},
	Modes:  Discrete | Continuous,
	make: func(b base) repack.Rule {
		return &spread{base: b, vms: b.args.vms()}
	},
})

type spread struct {
	base
	vms []int
}

// Check reports each VM that ends where an earlier one of the set does, and each
// that comes to one in passing.
func (s *spread) Check(t *repack.Timeline) (list []repack.Breach) {
	in, first := t.Instance, map[int]int{}
	for _, vm := range s.vms {
		n, runs := t.Runs(vm)
		if !runs {
			continue
		}
		if other, ok := first[n]; ok {
			list = append(list, repack.Breach{
				Text: fmt.Sprintf("%s and %s end on %s", in.VMName(other), in.VMName(vm), in.NodeName(n)), At: repack.Forever,
			})
			continue
		}
		first[n] = vm
	}
	if !s.args.Continuous {
		return list
	}
	var all []visit
	for _, vm := range s.vms {
		all = append(all, visits(t, vm, vm, itself)...)
	}
	return append(list, meetings(t, all)...)
}

// Post counts the members on each node.
func (s *spread) Post(b repack.ConstraintStore) {
	scope := repack.Scope{VMs: s.vms}
	b.Guard(&spreadGuard{newTally(len(s.vms))}, scope)
	if s.args.Continuous {
		b.Watch(&spreadWatch{newTally(len(s.vms))}, scope)
	}
}

// spreadGuard counts a breach for each member beyond the first on a node.
type spreadGuard struct{ on tally }

func (g *spreadGuard) Delta(_, from, to int) (d int) {
	if from == to {
		return 0
	}
	if from != repack.Nowhere && g.on.get(from) > 1 {
		d--
	}
	if to != repack.Nowhere && g.on.get(to) > 0 {
		d++
	}
	return d
}

func (g *spreadGuard) Move(_, from, to int) { g.on.move(from, to) }

type spreadWatch struct{ on tally }

func (w *spreadWatch) Admits(_, node int) bool { return w.on.get(node) == 0 }
func (w *spreadWatch) Come(_, node int)        { w.on.add(node, 1) }
func (w *spreadWatch) Go(_, node int)          { w.on.add(node, -1) }
