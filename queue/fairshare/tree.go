package fairshare

import (
	"maps"
	"math"
	"slices"
	"strings"
	"time"
)

// Tree is the accounts with their shares and their use. It belongs to one goroutine.
type Tree struct {
	settings Settings
	root     account
	epoch    time.Time // use at this instant is stored unscaled
	begun    bool      // epoch is set
}

// account is one node of the tree. Its use includes all nodes below.
type account struct {
	share  float64
	below  map[string]*account
	shares float64 // sum of the shares below
	used   float64 // as of the epoch
}

// New returns the tree of the accounts in Shares; others are added with their first use.
func New(r Settings) (*Tree, error) {
	if err := r.Check(); err != nil {
		return nil, err
	}
	if r.Damping == 0 {
		r.Damping = 1
	}
	t := &Tree{settings: r}
	for _, path := range sorted(r.Shares) {
		t.open(strings.Split(path, "/"))
	}
	return t, nil
}

func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// open returns the accounts on a path, the root first, and adds missing ones.
func (t *Tree) open(p Path) []*account {
	way := []*account{&t.root}
	for i, name := range p {
		a := way[i]
		child, known := a.below[name]
		if !known {
			child = &account{share: t.share(p[:i+1])}
			if a.below == nil {
				a.below = map[string]*account{}
			}
			a.below[name] = child
			a.shares += child.share
		}
		way = append(way, child)
	}
	return way
}

func (t *Tree) share(p Path) float64 {
	if share, named := t.settings.Shares[p.String()]; named {
		return share
	}
	return t.settings.Share
}

// maxAge is how many half-lives the epoch may lie back before it is moved, so that numbers stay within the range
// of float64.
const maxAge = 256

// Charge adds the use of an account up to an instant. The order of charges does not matter except for rounding.
// Negative use and NaN are ignored.
func (t *Tree) Charge(p Path, at time.Time, u Usage) {
	t.add(p, at, t.settings.CPU*u.CPUSec+t.settings.Memory*u.GiBSec)
}

func (t *Tree) add(p Path, at time.Time, amount float64) {
	if len(p) == 0 || !(amount > 0) || math.IsInf(amount, 1) {
		return
	}
	if !t.begun {
		t.epoch, t.begun = at, true
	}
	if t.halves(at) > maxAge {
		t.fade(&t.root, math.Exp2(-t.halves(at)))
		t.epoch = at
	}
	amount *= math.Exp2(t.halves(at))
	for _, a := range t.open(p) {
		a.used += amount
	}
}

// Rename moves the use of a user, in each project and without one, to another name, which has used nothing. The
// use of projects is unchanged.
func (t *Tree) Rename(user, name string) {
	t.rename(&t.root, nil, user, name)
	for project, a := range t.root.below {
		t.rename(a, Path{project}, user, name)
	}
}

// rename moves one account below another, unless it is a project with accounts below it.
func (t *Tree) rename(above *account, path Path, user, name string) {
	old, known := above.below[user]
	if !known || old.below != nil {
		return
	}
	renamed := &account{share: t.share(slices.Concat(path, Path{name})), used: old.used}
	delete(above.below, user)
	above.below[name] = renamed
	above.shares += renamed.share - old.share
	own := slices.Concat(path, Path{user})
	if _, named := t.settings.Shares[own.String()]; named {
		t.open(own) // as it was before anything was used
	}
}

// halves returns how many half-lives an instant lies after the epoch.
func (t *Tree) halves(at time.Time) float64 {
	return at.Sub(t.epoch).Seconds() / t.settings.HalfLife.Seconds()
}

func (t *Tree) fade(a *account, by float64) {
	a.used *= by
	for _, child := range a.below {
		t.fade(child, by)
	}
}

// Factor is 1 for an account without use, ½ for one that has used exactly its share, and tends to 0
// beyond. It is the fair-share factor of Slurm's documentation (schedmd.com, "Classic Fairshare Algorithm"):
//
//	F = 2^(-U/S/d)
//
// where S is the share of the whole tree, the product over the levels of the share among siblings; d
// is the damping; and U is the effective usage as a part of all usage. At the top that is the use
// itself; below, it is
//
//	U = used + (U of the parent - used) · share / shares of all siblings
//
// so that the members of a project share its use. An unknown account is treated as one without use. The
// tree does not change.
func (t *Tree) Factor(p Path) float64 {
	part, usage := 1.0, 0.0
	for i, a := 0, &t.root; i < len(p); i++ {
		share, shares, used := t.share(p[:i+1]), a.all(), 0.0
		child := a.child(p[i])
		if child != nil {
			used = child.used
		} else {
			shares += share
		}
		if share == 0 {
			return 0
		}
		part *= share / shares
		if t.root.used > 0 {
			used /= t.root.used
		}
		if i == 0 {
			usage = used
		} else {
			usage = used + (usage-used)*share/shares
		}
		a = child
	}
	return math.Exp2(-max(0, usage) / part / t.settings.Damping)
}

func (a *account) child(name string) *account {
	if a == nil {
		return nil
	}
	return a.below[name]
}

func (a *account) all() float64 {
	if a == nil {
		return 0
	}
	return a.shares
}

// Used returns the use of an account and all below, weighted and decayed until an instant, in CPU seconds if those
// count 1.
func (t *Tree) Used(p Path, at time.Time) float64 {
	a := &t.root
	for _, name := range p {
		if a = a.child(name); a == nil {
			return 0
		}
	}
	return a.used * math.Exp2(-t.halves(at))
}
