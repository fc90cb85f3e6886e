package scheduler

import (
	"fmt"
	"time"

	"vjob/cluster"
)

// SetNodes sets the state of some nodes, of all or none, so that VMs that leave one do not move to
// the next. It fails with ErrConflict if a node that holds VMs, or resources of a container, should be
// offline.
func (c *Core) SetNodes(now time.Time, ids []cluster.NodeID, state cluster.NodeState, by string) error {
	c.now = now
	for _, id := range ids {
		n, ok := c.exec.Node(id)
		switch {
		case !ok:
			return fmt.Errorf("node %s: %w", id, cluster.ErrNotFound)
		case state == cluster.Offline && len(n.VMs) > 0:
			return fmt.Errorf("node %s holds %d VMs, such as %s: drain it first: %w",
				id, len(n.VMs), n.VMs[0], cluster.ErrConflict)
		}
		if job, reserved := c.exec.PowerStates.ContainerOn(id); reserved && state == cluster.Offline {
			return fmt.Errorf("node %s holds resources of container %s: drain it until the container ends, or delete that: %w", id, job, cluster.ErrConflict)
		}
	}
	for _, id := range ids {
		c.setNodeState(id, state, by)
	}
	return nil
}

// setNodeState sets the state of a known node.
func (c *Core) setNodeState(id cluster.NodeID, state cluster.NodeState, by string) {
	n, _ := c.exec.Node(id)
	if n.State == state && n.Maintenance == nil {
		return
	}
	n.State, n.Maintenance = state, nil
	c.declare(n.Node, fmt.Sprintf("node %s is %s: by %s", id, state, by))
}
