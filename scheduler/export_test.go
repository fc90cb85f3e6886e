package scheduler

import "time"

// SnapshotWith returns the snapshot after an order that does not concern nodes.
func (c *Core) SnapshotWith(nodes []*NodeStatus) *Snapshot { return c.snapshotWith(nodes) }

// FreshNodes returns the status of all nodes from what is known now.
func (c *Core) FreshNodes() []*NodeStatus {
	kept := c.shown
	defer func() { c.shown = kept }()
	c.shown = nodeStatuses{}
	return c.nodesStatus()
}

// NextDecision returns when a decision is taken if nothing more happens; zero: never.
func (c *Core) NextDecision() time.Time {
	wanted, urgent := c.next.wanted(c.now, c.changed())
	if wanted {
		return c.next.rested(urgent)
	}
	return c.next.retryAt
}
