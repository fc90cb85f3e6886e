package rule

import (
	"fmt"

	"vjob/repack"
)

var _ = register(Kind{
	Name: "seq", Doc: "the VMs change state one after the other, in this order",
	Params: []Param{{Name: "vms", Type: VMs}},
	Modes:  Continuous,
	make: func(b base) repack.Rule {
		return &seq{base: b, vms: b.args.vms()}
	},
})

// seq does not look at migrations.
type seq struct {
	base
	vms []int
}

// Check reports each VM that starts to change before an earlier one has changed.
func (s *seq) Check(t *repack.Timeline) (list []repack.Breach) {
	var last repack.Ticks
	before := repack.Nowhere
	for _, vm := range s.vms {
		until, late := last, before
		for _, i := range t.ByVM[vm] {
			a := &t.Plan.Actions[i]
			if a.Kind == repack.Migrate {
				continue
			}
			if a.Start < last {
				in := t.Instance
				list = append(list, repack.Breach{
					Text: fmt.Sprintf("%s of %s starts before that of %s has ended", a.Kind, in.VMName(vm), in.VMName(before)), At: a.Start,
				})
			}
			if a.End >= until {
				until, late = a.End, vm
			}
		}
		last, before = until, late
	}
	return list
}

// Post holds back the VMs that are not next.
func (s *seq) Post(b repack.ConstraintStore) {
	g := &seqGate{in: b.Instance(), vms: s.vms, doing: make([]doing, len(s.vms))}
	g.Begin(nil)
	b.Gate(g, s.vms)
}

// seqGate follows the state of each VM. One that is to be as it is may still be
// suspended for a while.
type seqGate struct {
	in    *repack.Instance
	vms   []int
	doing []doing // in the order of the set
}

type doing struct {
	state repack.VMState
	busy  bool
	did   int // how many times it has begun to change
}

// Begin has every VM as it is at first.
func (g *seqGate) Begin([]int) {
	for i, vm := range g.vms {
		g.doing[i] = doing{state: g.in.VMs[vm].State}
	}
}

// May reports whether all before the VM are as they shall be, and none after it has
// begun to change.
func (g *seqGate) May(vm int, kind repack.Kind, _ repack.Ticks) bool {
	if !changes(kind) {
		return true
	}
	behind := false
	for i, other := range g.vms {
		d := &g.doing[i]
		switch {
		case other == vm:
			behind = true
		case d.busy, behind && d.did > 0, !behind && d.state != g.in.VMs[other].Want:
			return false
		}
	}
	return true
}

// changes reports whether the action changes the state of its VM.
func changes(kind repack.Kind) bool {
	return kind == repack.Boot || kind == repack.Shutdown || kind == repack.Suspend || kind == repack.Resume
}

// Started notes that the VM is changing.
func (g *seqGate) Started(vm int, kind repack.Kind, _ repack.Ticks) {
	if d := g.find(vm); d != nil && changes(kind) {
		d.busy = true
		d.did++
	}
}

// Undo notes that the VM has not begun.
func (g *seqGate) Undo(vm int, kind repack.Kind) {
	if d := g.find(vm); d != nil && changes(kind) {
		d.busy = false
		d.did--
	}
}

// Ended notes what the VM has become.
func (g *seqGate) Ended(vm int, kind repack.Kind, _ repack.Ticks) {
	d := g.find(vm)
	if d == nil || !changes(kind) {
		return
	}
	d.busy = false
	switch kind {
	case repack.Boot, repack.Resume:
		d.state = repack.Running
	case repack.Suspend:
		d.state = repack.Sleeping
	default:
		d.state = repack.Ready
		if g.in.VMs[vm].Want == repack.Killed {
			d.state = repack.Killed
		}
	}
}

func (g *seqGate) find(vm int) *doing {
	for i := range g.vms {
		if g.vms[i] == vm {
			return &g.doing[i]
		}
	}
	return nil
}
