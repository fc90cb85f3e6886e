package simulated

import (
	"context"
	"maps"
	"math"
	"time"

	"vjob/cluster"
	"vjob/hypervisor"
)

// Sweep removes what is stored for VMs of vjobs that are not live; see [hypervisor.Driver].
// Objects without a time of their own, such as disks, are removed with the last console of
// their vjob.
func (c *Cluster) Sweep(now time.Time, live func(cluster.VJobID) bool, keepConsoles time.Duration) {
	c.advance(now)
	spared := c.inUse()
	for id, k := range c.guests.consoles.byVM {
		if age := c.clock.now - k.Changed; !live(id.VJob) && !spared[id.VJob] && age > max(keepConsoles, hypervisor.SweepAge) {
			delete(c.guests.consoles.byVM, id)
		}
	}
	for id := range c.guests.consoles.byVM {
		spared[id.VJob] = true
	}
	gone := func(id cluster.VJobID) bool { return !live(id) && !spared[id] }
	maps.DeleteFunc(c.guests.apps, func(k appKey, _ *app) bool { return gone(k.VJob) })
	maps.DeleteFunc(c.guests.epochs, func(d Disk, _ int) bool { return gone(d.VM.VJob) })
	maps.DeleteFunc(c.store.revoked, func(i hypervisor.ImageID, _ int) bool { return gone(i.VM.VJob) })
}

// inUse returns the vjobs with a copy, an image or a call in progress.
func (c *Cluster) inUse() map[cluster.VJobID]bool {
	ids := map[cluster.VJobID]bool{}
	for vm := range c.nodes.copies {
		ids[vm.VJob] = true
	}
	for image := range c.store.images {
		ids[image.VM.VJob] = true
	}
	for _, op := range c.ops.byID {
		ids[op.Call.VM.VJob], ids[op.Call.Image.VM.VJob] = true, true
	}
	return ids
}

// Sweep removes what is stored for vjobs that are not live. Durations are real time.
func (d *Driver) Sweep(_ context.Context, live func(cluster.VJobID) bool, keepConsoles time.Duration) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	defer d.wakeEngine()
	virtual := min(float64(max(keepConsoles, hypervisor.SweepAge))*d.clock().speed, math.MaxInt64/2)
	d.cluster.Sweep(d.clock().now(), live, time.Duration(virtual))
	return nil
}
