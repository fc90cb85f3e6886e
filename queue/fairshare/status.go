package fairshare

import (
	"slices"
	"time"
)

// Standing is how one account stands.
type Standing struct {
	Path   Path
	Share  float64 // beside its siblings
	Part   float64 // of the whole that is its own, from 0 to 1
	Used   float64 // by it and all below, weighted and faded, in seconds of a processor if those count 1
	Taken  float64 // of all that was used, from 0 to 1
	Factor float64
	Group  bool // others are below it
}

// Standings are those of all accounts at an instant, each before those below it.
func (t *Tree) Standings(at time.Time) (list []Standing) {
	var walk func(p Path, a *account, part float64)
	walk = func(p Path, a *account, part float64) {
		for _, name := range sorted(a.below) {
			child, path := a.below[name], append(slices.Clone(p), name)
			s := Standing{
				Path: path, Share: child.share, Used: t.Used(path, at), Factor: t.Factor(path), Group: len(child.below) > 0,
			}
			if a.shares > 0 {
				s.Part = part * child.share / a.shares
			}
			if t.root.used > 0 {
				s.Taken = child.used / t.root.used
			}
			list = append(list, s)
			walk(path, child, s.Part)
		}
	}
	walk(nil, &t.root, 1)
	return list
}
