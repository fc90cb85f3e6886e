// Package fairshare says how much projects and users have used of late beside what
// they have a share in, as a factor from 0 to 1 for the order of the queue.
//
// Accounts form a tree of any depth: projects, their users, and groups of either. What
// was used counts for half as much after each half-life. All of it fades alike, so that
// time alone changes no factor: a use is written down multiplied by what it will have
// been saved from fading, and nothing has to be brought up to date.
//
// It is pure. It refuses to know vjobs, and what is done with the factor.
package fairshare

import (
	"math"
	"slices"
	"strings"
	"time"

	"vjob/cluster"
)

// Path names an account from the top of the tree: {"physics", "ann"}.
type Path []string

// String is the names with slashes between them.
func (p Path) String() string { return strings.Join(p, "/") }

// Use is an amount of what was used.
type Use struct {
	CPUSec float64 // seconds of one processor
	GiBSec float64 // seconds of one GiB of memory
}

// Rules say what counts how much.
type Rules struct {
	HalfLife time.Duration // more than 0
	// CPU and Memory are what a second of a processor and of a GiB count; at least one
	// of them is more than 0.
	CPU, Memory float64
	// Damping is how gently the factor falls, 1 or more; 0 counts as 1.
	Damping float64
	// Share is what accounts have that Shares do not name; it is more than 0.
	Share float64
	// Shares are those of accounts by path ("physics/ann"), 0 or more, each beside its
	// siblings: one of 20 beside one of 10 may use twice as much. With 0 an account comes
	// behind all others.
	Shares map[string]float64
}

// Check says which rule is wrong, if any.
func (r *Rules) Check() error {
	ok := func(f, least float64) bool { return f >= least && !math.IsInf(f, 1) }
	switch {
	case r.HalfLife <= 0:
		return cluster.BadField("half_life", r.HalfLife, `more than 0, such as "7d"`)
	case !ok(r.CPU, 0):
		return cluster.BadField("cpu", r.CPU, "0 or more")
	case !ok(r.Memory, 0):
		return cluster.BadField("memory", r.Memory, "0 or more")
	case r.CPU == 0 && r.Memory == 0:
		return cluster.BadField("cpu", r.CPU, "more than 0, since memory does not count either")
	case r.Damping != 0 && !ok(r.Damping, 1):
		return cluster.BadField("damping", r.Damping, "1 or more")
	case !ok(r.Share, 0) || r.Share == 0:
		return cluster.BadField("share", r.Share, "more than 0")
	}
	for _, path := range sorted(r.Shares) {
		if share := r.Shares[path]; !ok(share, 0) {
			return cluster.BadField("shares."+path, share, "0 or more")
		}
		if slices.Contains(strings.Split(path, "/"), "") {
			return cluster.BadField("shares."+path, path, `a project, or a project and a user: "physics/ann"`)
		}
	}
	return nil
}
