package simulated

import (
	"fmt"
	"time"

	"vjob/cluster"
)

// Reconfigure returns a cluster that continues from here with another configuration, as [Restore] does. It takes over the
// notices that are not yet taken. After an error the cluster is as before.
func (c *Cluster) Reconfigure(cfg Config) (*Cluster, error) {
	data, err := c.Snapshot()
	if err != nil {
		return nil, err
	}
	next, err := Restore(cfg, data)
	if err != nil {
		return nil, fmt.Errorf("reconfigure: %w", err)
	}
	next.OnChange = c.OnChange
	next.outbox.notices = append(c.outbox.take(), next.outbox.notices...)
	return next, nil
}

// Reconfigure continues with other settings: nodes, their platforms, the profile, locks and the speed. Calls go on. The
// other settings need another driver. Removing a node that holds copies is ErrConflict; nothing changes then.
func (d *Driver) Reconfigure(s Settings) error {
	if err := s.Validate(); err != nil {
		return err
	}
	if !(s.Speed > 0 && s.Speed <= 1e9) {
		return cluster.BadField("speed", s.Speed, "more than 0 and at most 1e9")
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	defer d.wakeEngine()
	now := d.clock().now()
	d.cluster.advance(now)
	next, err := d.cluster.Reconfigure(s.Config)
	if err != nil {
		return err
	}
	d.cluster = next
	d.time.Store(&scaledClock{speed: s.Speed, real: time.Now(), origin: now})
	return nil
}
