package simulated

import "vjob/hypervisor"

// finishCap changes the cap of a copy, also of one that is paused or has a job.
func (c *Cluster) finishCap(op *operation) *failure {
	m, f := c.nodes.present(op)
	switch {
	case f != nil:
		return f
	case m.State == hypervisor.CopyDead:
		return refuse(op, "domain is not running")
	case m.Cap == op.Call.Cap:
		return nil
	}
	m.accrue(c.clock.now)
	m.Cap = op.Call.Cap
	c.guests.markChanged(m)
	c.guests.mark(m)
	return nil
}
