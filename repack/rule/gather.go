package rule

import (
	"fmt"

	"vjob/repack"
)

var _ = register(Kind{
	Name: "gather", Doc: "all of the VMs on one node",
	Params: []Param{{Name: "vms", Type: VMs}},
	Modes:  Discrete | Continuous,
	make: func(b base) repack.Rule {
		return &gather{base: b, vms: b.args.vms()}
	},
})

// gather in its continuous form has VMs that are together stay where they are: one
// on its way is on two nodes. If they are apart at first, they may still gather.
type gather struct {
	base
	vms []int
}

// Check reports each VM that does not end where most of the others do.
func (g *gather) Check(t *repack.Timeline) (list []repack.Breach) {
	list = scattered(t, g.vms, itself)
	if g.args.Continuous {
		list = append(list, partings(t, g.vms, itself)...)
	}
	return list
}

// scattered reports the VMs that do not end at the place where most of them do.
func scattered(t *repack.Timeline, vms []int, place func(node int) int) (list []repack.Breach) {
	in, count, crowd := t.Instance, map[int]int{}, repack.Nowhere
	for _, vm := range vms {
		if n, runs := t.Runs(vm); runs && place(n) != repack.Nowhere {
			if count[place(n)]++; crowd == repack.Nowhere || count[place(n)] > count[crowd] {
				crowd = place(n)
			}
		}
	}
	for _, vm := range vms {
		if n, runs := t.Runs(vm); runs && place(n) != crowd || runs && crowd == repack.Nowhere {
			list = append(list, repack.Breach{
				Text: fmt.Sprintf("%s ends on %s, away from the others", in.VMName(vm), in.NodeName(n)), At: repack.Forever,
			})
		}
	}
	return list
}

// Post counts the VMs that are not where most are.
func (g *gather) Post(b repack.ConstraintStore) {
	scope := repack.Scope{VMs: g.vms}
	b.Guard(&gatherGuard{newHuddle(len(g.vms))}, scope)
	if g.args.Continuous {
		b.Watch(&gatherWatch{newHerd(b.Instance(), g.vms, func(node int) int { return node })}, scope)
	}
}

type gatherGuard struct{ huddle }

func (g *gatherGuard) Delta(_, from, to int) int { return g.delta(from, to) }
func (g *gatherGuard) Move(_, from, to int)      { g.move(from, to) }

type gatherWatch struct{ herd }

func (w *gatherWatch) Admits(vm, node int) bool { return w.admits(vm, node, node) }
func (w *gatherWatch) Come(vm, node int)        { w.count(vm, node, node, 1) }
func (w *gatherWatch) Go(vm, node int)          { w.count(vm, node, node, -1) }
