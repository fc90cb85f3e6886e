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
// Objects without a time of their own, such as disks, are removed once the last console of their
// vjob has not changed for [hypervisor.SweepAge].
func (c *Cluster) Sweep(now time.Time, live func(cluster.VJobID) bool, keepConsoles time.Duration) {
	c.sweep(now, live, keepConsoles, hypervisor.SweepAge)
}

// sweep is Sweep with the least age of what it removes, in virtual time.
func (c *Cluster) sweep(now time.Time, live func(cluster.VJobID) bool, keepConsoles, least time.Duration) {
	c.advance(now)
	spared := c.inUse()
	for id, k := range c.guests.consoles.byVM {
		if c.clock.now-k.Changed <= least {
			spared[id.VJob] = true
		}
	}
	gone := func(id cluster.VJobID) bool { return !live(id) && !spared[id] }
	removeFrom(c.guests.consoles.byVM, c.touched.consoles, func(id cluster.VMID, k *console) bool {
		return gone(id.VJob) && c.clock.now-k.Changed > keepConsoles
	})
	c.guests.consoles.limit(maxConsoles, gone)
	removeFrom(c.guests.apps, c.touched.apps, func(k appKey, _ *app) bool { return gone(k.VJob) })
	removeFrom(c.guests.epochs, c.touched.disks, func(d Disk, _ int) bool { return gone(d.VM.VJob) })
	removeFrom(c.store.revoked, c.touched.revoked, func(i hypervisor.ImageID, _ int) bool { return gone(i.VM.VJob) })
}

// removeFrom removes the entries that are gone.
func removeFrom[K comparable, V any](from map[K]V, touched keys[K], gone func(K, V) bool) {
	maps.DeleteFunc(from, func(k K, v V) bool {
		if !gone(k, v) {
			return false
		}
		touched.add(k)
		return true
	})
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
	virtual := func(age time.Duration) time.Duration {
		return time.Duration(min(float64(age)*d.clock().speed, math.MaxInt64/2))
	}
	d.cluster.sweep(d.clock().now(), live, virtual(keepConsoles), virtual(hypervisor.SweepAge))
	return nil
}
