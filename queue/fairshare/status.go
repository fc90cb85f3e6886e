package fairshare

import (
	"slices"
	"time"
)

// Status is the state of one account.
type Status struct {
	Path     Path
	Share    float64 // relative to its siblings
	Fraction float64 // share of the whole tree, from 0 to 1
	Used     float64 // of it and all below, weighted and decayed, in CPU seconds if those count 1
	Taken    float64 // share of all use, from 0 to 1
	Factor   float64
	Group    bool // it has accounts below
}

// Statuses returns the state of all accounts at an instant, parents first.
func (t *Tree) Statuses(at time.Time) (list []Status) {
	var walk func(p Path, a *account, part float64)
	walk = func(p Path, a *account, part float64) {
		for _, name := range sorted(a.below) {
			child, path := a.below[name], append(slices.Clone(p), name)
			s := Status{
				Path: path, Share: child.share, Used: t.Used(path, at), Factor: t.Factor(path), Group: len(child.below) > 0,
			}
			if a.shares > 0 {
				s.Fraction = part * child.share / a.shares
			}
			if t.root.used > 0 {
				s.Taken = child.used / t.root.used
			}
			list = append(list, s)
			walk(path, child, s.Fraction)
		}
	}
	walk(nil, &t.root, 1)
	return list
}
