package rule

import (
	"cmp"
	"fmt"
	"slices"

	"vjob/repack"
)

var _ = register(Kind{
	Name: "serialize", Doc: "no two of the VMs migrate at one time",
	Params: []Param{{Name: "vms", Type: VMs}},
	Modes:  Continuous,
	make: func(b base) repack.Rule {
		return &serialize{base: b, vms: b.args.vms()}
	},
})

type serialize struct {
	base
	vms []int
}

// Check reports each migration that starts before another has ended.
func (s *serialize) Check(t *repack.Timeline) (list []repack.Breach) {
	all := migrations(t, s.vms)
	slices.SortStableFunc(all, func(a, b *repack.Action) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.End, b.End))
	})
	var busy *repack.Action
	for _, a := range all {
		if busy != nil && a.Start < busy.End {
			list = append(list, repack.Breach{
				Text: fmt.Sprintf("%s and %s migrate together", t.Instance.VMName(busy.VM), t.Instance.VMName(a.VM)), At: a.Start,
			})
		}
		if busy == nil || a.End > busy.End {
			busy = a
		}
	}
	return list
}

// Post lets one go at a time.
func (s *serialize) Post(b repack.ConstraintStore) { b.Gate(&serializeGate{}, s.vms) }

type serializeGate struct{ busy int }

// Begin begins without any migration.
func (g *serializeGate) Begin([]int) { g.busy = 0 }

// May reports whether no VM migrates.
func (g *serializeGate) May(_ int, kind repack.Kind, _ repack.Ticks) bool {
	return kind != repack.Migrate || g.busy == 0
}

// Started notes a migration.
func (g *serializeGate) Started(_ int, kind repack.Kind, _ repack.Ticks) {
	if kind == repack.Migrate {
		g.busy++
	}
}

// Undo takes a migration back.
func (g *serializeGate) Undo(vm int, kind repack.Kind) { g.Ended(vm, kind, 0) }

// Ended notes the end of one.
func (g *serializeGate) Ended(_ int, kind repack.Kind, _ repack.Ticks) {
	if kind == repack.Migrate {
		g.busy--
	}
}
