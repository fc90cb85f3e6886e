package scheduler

// SnapshotWith returns the snapshot after an order that does not concern nodes.
func (c *Core) SnapshotWith(nodes []NodeStatus) *Snapshot { return c.snapshotWith(nodes) }
