package simulated

import "vjob/hypervisor"

// finishCap gives a copy another cap. It may be paused, or have a job under way.
func (c *Cluster) finishCap(op *operation) *failure {
	m, f := c.present(op)
	switch {
	case f != nil:
		return f
	case m.State == hypervisor.CopyDead:
		return refuse(op, "domain is not running")
	case m.Cap == op.Call.Cap:
		return nil
	}
	c.accrue(m)
	m.Cap = op.Call.Cap
	c.unsettle(m)
	c.touch(m)
	return nil
}
