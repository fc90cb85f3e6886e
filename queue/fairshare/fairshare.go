// Package fairshare computes a factor from 0 to 1 from the recent use of projects and users relative to
// their shares.
//
// Accounts form a tree of any depth: projects, their users, and groups of either. Use counts for half as
// much after each half-life. All use decays alike, so that time alone changes no factor: use is stored
// multiplied by its future decay, and no update is needed.
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

// String joins the names with slashes.
func (p Path) String() string { return strings.Join(p, "/") }

// Usage is an amount of used capacity.
type Usage struct {
	CPUSec float64 // seconds of one processor
	GiBSec float64 // seconds of one GiB of memory
}

// Settings are shares, weights and decay.
type Settings struct {
	HalfLife time.Duration // more than 0
	// CPU and Memory are the weights of a second of a processor and of a GiB; at least one is more than 0.
	CPU, Memory float64
	// Damping is how slowly the factor falls, 1 or more; 0 counts as 1.
	Damping float64
	// Share is the share of accounts without an entry in Shares; more than 0.
	Share float64
	// Shares are the shares of accounts by path ("physics/ann"), 0 or more, relative to their siblings: a share
	// of 20 beside one of 10 is twice as much. An account with 0 comes after all others.
	Shares map[string]float64
}

// Check returns an error that names the first invalid setting.
func (r *Settings) Check() error {
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
