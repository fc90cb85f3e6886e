package rule

import (
	"fmt"

	"vjob/repack"
)

var _ = register(Kind{
	Name: "precedence", Doc: "if both VMs migrate, the first has done so before the other starts",
	Params: []Param{{Name: "first", Type: VM}, {Name: "then", Type: VM}},
	Modes:  Continuous,
	make: func(b base) repack.Rule {
		return &precedence{base: b, first: b.args.vm("first"), then: b.args.vm("then")}
	},
})

// precedence of a VM over itself says nothing.
type precedence struct {
	base
	first, then int
}

// Check reports a migration of the other that starts before the first has ended its.
func (p *precedence) Check(t *repack.Timeline) []repack.Breach {
	in := t.Instance
	for _, a := range migrations(t, []int{p.first}) {
		for _, b := range migrations(t, []int{p.then}) {
			if b.Start < a.End && b.VM != a.VM {
				return []repack.Breach{{
					Text: fmt.Sprintf("%s starts to migrate before %s has done", in.VMName(p.then), in.VMName(p.first)), At: b.Start,
				}}
			}
		}
	}
	return nil
}

// Post has the other wait.
func (p *precedence) Post(b repack.ConstraintStore) {
	if p.first != p.then {
		b.Gate(&precedenceGate{precedence: p, in: b.Instance()}, []int{p.first, p.then})
	}
}

// precedenceGate knows from where the first one will end whether it migrates. That
// it may go by a third node it does not know: then it lets it go no further once the
// other has started.
type precedenceGate struct {
	*precedence
	in     *repack.Instance
	waits  bool // the first is still to migrate
	busy   bool // it does now
	passed int  // how many times the other has started
}

// Begin looks at where the first one will be.
func (g *precedenceGate) Begin(to []int) {
	v := &g.in.VMs[g.first]
	g.waits, g.busy, g.passed = v.Keeps() && to[g.first] != v.Host, false, 0
}

// May holds back the other.
func (g *precedenceGate) May(vm int, kind repack.Kind, _ repack.Ticks) bool {
	switch {
	case kind != repack.Migrate:
		return true
	case vm == g.first:
		return g.passed == 0
	default:
		return !g.waits && !g.busy
	}
}

// Started notes which of the two is on its way.
func (g *precedenceGate) Started(vm int, kind repack.Kind, _ repack.Ticks) {
	if kind != repack.Migrate {
		return
	}
	if vm == g.first {
		g.busy = true
	} else {
		g.passed++
	}
}

// Undo notes that one of the two is not on its way.
func (g *precedenceGate) Undo(vm int, kind repack.Kind) {
	switch {
	case kind != repack.Migrate:
	case vm == g.first:
		g.busy = false
	default:
		g.passed--
	}
}

// Ended notes that the first one is there.
func (g *precedenceGate) Ended(vm int, kind repack.Kind, _ repack.Ticks) {
	if kind == repack.Migrate && vm == g.first {
		g.waits, g.busy = false, false
	}
}
