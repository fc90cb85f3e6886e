package exact

import (
	"slices"

	"vjob/repack/internal/problem"
)

// ending is a final placement.
type ending struct {
	at      []int8 // the nodes of the VMs that run at the end, in the order of Wanted
	penalty int64  // of the soft rules that guards count
}

// How many final placements are few, and how many partial ones are looked at.
const (
	maxEndings = 96
	maxPartial = 20_000
)

// findEndings lists the final placements that keep all rules, fit, and may cost less than the limit, if
// they are few.
func (e *search) findEndings() {
	x := e.begin()
	e.endings = []ending{}
	if x == nil {
		return
	}
	f := &finder{search: e, left: maxPartial, at: make([]int8, len(e.Wanted)), rest: make([]int64, len(e.Wanted)+1)}
	for k := len(e.Wanted) - 1; k >= 0; k-- {
		least := int64(problem.Never)
		for _, n := range e.OpenNodes {
			least = min(least, e.bound.cost[e.Wanted[k]*len(e.In.Nodes)+n])
		}
		f.rest[k] = f.rest[k+1] + least
	}
	e.Record()
	f.place(0, 0)
	e.RollBack(0)
	e.Recording = false
	if f.left < 0 || len(e.endings) > maxEndings {
		e.endings = nil
	}
}

// finder places one VM after the other.
type finder struct {
	*search
	left int
	at   []int8
	rest []int64 // least cost of the VMs from each one on
}

func (f *finder) place(k int, cost int64) {
	f.left--
	if f.left < 0 || len(f.endings) > maxEndings || cost+f.rest[k]+f.floor >= f.limit {
		return
	}
	if k == len(f.Wanted) {
		if cost+f.Penalty+f.floor < f.limit {
			f.endings = append(f.endings, ending{slices.Clone(f.at), f.Penalty})
		}
		return
	}
	vm := f.Wanted[k]
	for _, n := range f.OpenNodes {
		c := f.bound.cost[vm*len(f.In.Nodes)+n]
		if c >= problem.Never {
			continue
		}
		mark := len(f.Moves)
		f.Move(vm, n)
		if !f.broken(k+1 == len(f.Wanted)) && !f.Overloaded(n) {
			f.at[k] = int8(n)
			f.place(k+1, cost+c)
		}
		f.RollBack(mark)
	}
}

// broken reports whether a placement breaks a hard rule, and if it is not whole, whether it does so however
// the other VMs are placed.
func (f *finder) broken(whole bool) bool {
	if whole || f.Breaches == 0 {
		return f.Breaches > 0
	}
	for i := range f.Guards {
		if _, mendable := f.Guards[i].Rule.(problem.Mendable); !mendable && f.Guards[i].Penalty == 0 && f.BreachesOf[i] > 0 {
			return true
		}
	}
	return false
}
