package simulated

import (
	"slices"
	"time"

	"vjob/cluster"
	"vjob/hypervisor"
)

// Look lists what a node holds at a time. For a frozen node it returns ErrTimeout at once: the
// caller has the clock and decides how long it took.
func (c *Cluster) Look(now time.Time, node cluster.NodeID, missing ...hypervisor.Guest) (hypervisor.View, error) {
	c.advance(now)
	n, ok := c.nodes.byID[node]
	if !ok {
		return hypervisor.View{}, newFailure(cluster.ErrNotFound, "node %q", node)
	}
	if f := n.unreachable(); f != nil {
		return hypervisor.View{}, f
	}
	v := hypervisor.View{
		Node:      node,
		Copies:    make([]hypervisor.Copy, 0, len(n.copies)),
		Endings:   slices.Clip(n.endings), // what is in it never changes
		Unmanaged: slices.Clone(n.Unmanaged),
		Platforms: n.Platforms,
	}
	for _, m := range n.sortedCopies() {
		m.accrue(c.clock.now)
		v.Copies = append(v.Copies, hypervisor.Copy{
			VM: m.VM, Stamp: m.Memory.Stamp, State: m.State, Job: n.shownJob(m), Size: m.Memory.Spec.Reserved,
			CPU: m.Demand, CPUTime: m.CPUTime, Memory: m.workingSet(), Traffic: hypervisor.Traffic{Sent: m.Sent}, Cap: m.Cap, Weight: m.weight(), Lock: c.nodes.locks && !m.Unlocked, Hardware: m.Memory.Hardware,
		})
	}
	for _, g := range missing {
		held := n.copies[g.VM] != nil || slices.ContainsFunc(n.endings, func(e hypervisor.Ending) bool {
			return e.VM == g.VM && e.Stamp.Incarnation == g.Incarnation
		})
		if status := c.guests.consoles.told(g); !held && status.Known() {
			v.Endings = append(v.Endings, hypervisor.Ending{
				VM: g.VM, Stamp: hypervisor.Stamp{Incarnation: g.Incarnation}, Cause: hypervisor.CauseShutdown, Exit: status, At: now,
			})
		}
	}
	return v, nil
}

// LookStore lists every image that can be read at a time: those in pools with a node that
// answers.
func (c *Cluster) LookStore(now time.Time) (hypervisor.Store, error) {
	c.advance(now)
	return c.store.look()
}

// Console is the output of a VM's guest since its first boot. Each line begins with the guest's
// own clock, which stops while the guest is paused or saved; only the output of its work is as it was
// printed. It only grows, up to a bound.
func (c *Cluster) Console(now time.Time, vm cluster.VMID) ([]byte, error) {
	c.advance(now)
	k, ok := c.guests.consoles.byVM[vm]
	if !ok {
		return nil, newFailure(cluster.ErrNotFound, "console of %s", vm)
	}
	return slices.Clone(k.Text), nil
}

// Errors is what the work of a VM's guests has written to its standard error, where the payload keeps that apart.
func (c *Cluster) Errors(now time.Time, vm cluster.VMID) ([]byte, error) {
	c.advance(now)
	k, ok := c.guests.consoles.byVM[vm]
	if !ok || len(k.Errors) == 0 {
		return nil, newFailure(cluster.ErrNotFound, "standard error of %s", vm)
	}
	return slices.Clone(k.Errors), nil
}
