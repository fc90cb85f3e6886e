package simulated

import (
	"context"
	"maps"
	"math"
	"time"

	"vjob/cluster"
	"vjob/hypervisor"
)

// Sweep forgets what is kept for VMs of vjobs that are not live; see
// [hypervisor.Driver]. What has no time of its own, such as a disk, goes with the
// last console of its vjob.
func (c *Cluster) Sweep(now time.Time, live func(cluster.VJobID) bool, keepConsoles time.Duration) {
	c.run(now)
	spared := c.held()
	for id, k := range c.consoles {
		if age := c.now - k.Changed; !live(id.VJob) && !spared[id.VJob] && age > max(keepConsoles, hypervisor.SweepAge) {
			delete(c.consoles, id)
		}
	}
	for id := range c.consoles {
		spared[id.VJob] = true
	}
	gone := func(id cluster.VJobID) bool { return !live(id) && !spared[id] }
	maps.DeleteFunc(c.apps, func(k appKey, _ *app) bool { return gone(k.VJob) })
	maps.DeleteFunc(c.epochs, func(d Disk, _ int) bool { return gone(d.VM.VJob) })
	maps.DeleteFunc(c.revoked, func(i hypervisor.ImageID, _ int) bool { return gone(i.VM.VJob) })
}

// held are the vjobs of which there is a copy, an image or a call under way.
func (c *Cluster) held() map[cluster.VJobID]bool {
	ids := map[cluster.VJobID]bool{}
	for vm := range c.where {
		ids[vm.VJob] = true
	}
	for image := range c.images {
		ids[image.VM.VJob] = true
	}
	for _, op := range c.ops {
		ids[op.Call.VM.VJob], ids[op.Call.Image.VM.VJob] = true, true
	}
	return ids
}

// Sweep forgets what is kept for vjobs that are not live. Times are real ones.
func (d *Driver) Sweep(_ context.Context, live func(cluster.VJobID) bool, keepConsoles time.Duration) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	defer d.poke()
	virtual := min(float64(max(keepConsoles, hypervisor.SweepAge))*d.speed, math.MaxInt64/2)
	d.cluster.Sweep(d.virtual(), live, time.Duration(virtual))
	return nil
}
