package simulated

import (
	"cmp"
	"fmt"
	"time"

	"vjob/cluster"
)

// SharedPool is the image store of nodes that name none: a file system that all
// of them mount.
const SharedPool = "shared"

// Config is what a cluster is made of. Two clusters with equal configurations
// that are told the same things at the same times do the same things.
type Config struct {
	Nodes   []Node
	Profile Profile // the zero profile is [Thesis]
	Seed    uint64
	Start   time.Time // when virtual time begins; the zero time is 2026-01-01 UTC
	// Locks says that every node has a lock manager (virtlockd): a second copy
	// of a running VM is refused. Paused copies hold no lock (row 18).
	Locks bool
	// Pools gives the size of file systems for images; those not named here
	// are as good as endless.
	Pools  map[string]cluster.MiB
	Faults Rates
	// Overcommits says that nodes take VMs beyond their memory, as Linux does: what
	// does not fit is for callers to know. A VM that is larger than its node is refused.
	Overcommits bool
	// Boot is how long a node takes from being switched on to its first answer; 0 is
	// [DefaultBoot].
	Boot time.Duration
}

// DefaultBoot is how long servers usually take to boot.
const DefaultBoot = 2 * time.Minute

// Node is one simulated host.
type Node struct {
	ID       cluster.NodeID
	Labels   map[string]string
	Capacity cluster.Resources
	// Pool is the file system where the node saves; "" is [SharedPool]. Images
	// in a pool can be read from everywhere while one of its nodes answers.
	Pool string
	// Strangers are machines that are none of ours.
	Strangers []string
	// Left are copies with our mark that were there before: no vjob explains them.
	Left []Left
}

// Left is a copy that an older installation left on a node. It runs.
type Left struct {
	VM       cluster.VMID
	Size     cluster.Resources
	Stubborn bool // it cannot be paused
}

// Validate checks that there are nodes, that their names differ and that each
// can give CPU and memory.
func (c *Config) Validate() error {
	if len(c.Nodes) == 0 {
		return cluster.BadField("nodes", "[]", "at least one node")
	}
	seen := map[cluster.NodeID]bool{}
	for i, n := range c.Nodes {
		field := fmt.Sprintf("nodes[%d]", i)
		switch {
		case n.ID == "" || seen[n.ID]:
			return cluster.BadField(field+".id", string(n.ID), "a name that no other node has")
		case n.Capacity.CPU <= 0:
			return cluster.BadField(field+".cpu", n.Capacity.CPU, "more than 0")
		case n.Capacity.Memory <= 0:
			return cluster.BadField(field+".memory_mib", int64(n.Capacity.Memory), "more than 0")
		}
		seen[n.ID] = true
	}
	return nil
}

// withDefaults fills in what was left out.
func (c Config) withDefaults() Config {
	if c.Profile.Name == "" && c.Profile.Boot == 0 {
		c.Profile = Thesis
	}
	if c.Start.IsZero() {
		c.Start = time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)
	}
	c.Boot = cmp.Or(c.Boot, DefaultBoot)
	return c
}
