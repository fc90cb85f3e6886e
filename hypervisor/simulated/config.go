package simulated

import (
	"cmp"
	"fmt"
	"time"

	"vjob/cluster"
	"vjob/hypervisor"
)

// SharedPool is the default pool: a file system that all nodes mount.
const SharedPool = "shared"

// Config is the configuration of a cluster. Clusters with equal configurations and the same calls
// at the same times behave identically.
type Config struct {
	Nodes   []Node
	Profile Profile // the zero profile is [Thesis]
	Seed    uint64
	Start   time.Time // when virtual time begins; the zero time is 2026-01-01 UTC
	// Locks says that every node has a lock manager (virtlockd): a second copy
	// of a running VM is refused. Paused copies hold no lock (row 18).
	Locks bool
	// Pools are the sizes of file systems for images; others are practically unlimited.
	Pools  map[string]cluster.MiB
	Faults Rates
	// Overcommits says that nodes accept VMs beyond their memory, as Linux does. Only a VM that
	// is larger than its node is refused.
	Overcommits bool
	// Boot is the time from switching on a node to its first answer; 0 is [DefaultBoot].
	Boot time.Duration
}

// DefaultBoot is a typical boot time of servers.
const DefaultBoot = 2 * time.Minute

// Node is the configuration of one simulated node.
type Node struct {
	ID       cluster.NodeID
	Labels   map[string]string
	Capacity cluster.Resources
	// Pool is the file system to which the node saves; "" is [SharedPool]. Images in a pool can
	// be read from every node while one of its nodes answers.
	Pool string
	// Slow is how many times as long as in the profile actions take on the node; 0 is once. A
	// migration is as slow as the slower of its ends.
	Slow float64
	// Unmanaged are the names of unmanaged machines.
	Unmanaged []string
	// Platforms are what VMs can be on the node. VMs boot with the first of them: with all its
	// features and the last of its machine types. Nil: unknown, and every VM runs here.
	Platforms []hypervisor.Platform
	// Leftovers are copies with our mark that exist at the start and belong to no vjob.
	Leftovers []Leftover
}

// Leftover is a running copy that an older installation left on a node.
type Leftover struct {
	VM         cluster.VMID
	Size       cluster.Resources
	Unpausable bool // it cannot be paused
}

// Validate checks that there are nodes with distinct names, CPU and memory.
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
		case !(n.Slow >= 0 && n.Slow <= 1000):
			return cluster.BadField(field+".slow", n.Slow, "from 0 to 1000")
		}
		seen[n.ID] = true
	}
	return nil
}

// withDefaults fills in the defaults.
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
