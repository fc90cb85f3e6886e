package fairshare

import (
	"slices"
	"time"
)

// State is what a tree has counted, as plain data for a store: after a restart the
// factors are those from before. Shares are not in it: they come from the rules.
type State struct {
	At    time.Time // to which all is faded
	Usage []Usage   // in order of paths
}

// Usage is what one account has used itself, without those below it.
type Usage struct {
	Path   Path
	Amount float64 // weighted by the rules
}

// State is the state at an instant.
func (t *Tree) State(at time.Time) State {
	s := State{At: at}
	var walk func(p Path, a *account)
	walk = func(p Path, a *account) {
		self := t.Used(p, at)
		for _, name := range sorted(a.below) {
			self -= t.Used(append(p, name), at)
		}
		// What is left of sums by rounding is nobody's use.
		if self > 1e-9*t.Used(p, at) && len(p) > 0 {
			s.Usage = append(s.Usage, Usage{Path: slices.Clone(p), Amount: self})
		}
		for _, name := range sorted(a.below) {
			walk(append(p, name), a.below[name])
		}
	}
	walk(nil, &t.root)
	return s
}

// Restore adds a state to what is counted. The half-life and the shares may have changed
// since; weights apply to what is charged from now on.
func (t *Tree) Restore(s State) {
	for _, u := range s.Usage {
		t.add(u.Path, s.At, u.Amount)
	}
}
