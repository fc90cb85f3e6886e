package simulated

import (
	"context"
	"slices"
	"time"

	"vjob/cluster"
	"vjob/energy/power"
)

// Press does with the power of a node what a driver is asked to. A node that is
// switched on answers after the time that it takes to boot; one that is switched off
// loses what it holds. The state is that of [power.Look], else unknown.
func (c *Cluster) Press(now time.Time, node cluster.NodeID, v power.Verb) (power.State, error) {
	c.run(now)
	defer c.settle()
	h, ok := c.hosts[node]
	if !ok {
		return power.Unknown, failed(cluster.ErrNotFound, "node %q", node)
	}
	switch v {
	case power.TurnOff:
		c.troubleNode(h, Fault{Kind: PowerLoss, Node: node})
	case power.TurnOn:
		c.powerOn(h)
	case power.Look:
		if h.up() || c.boots(h) {
			return power.On, nil
		}
		return power.Off, nil
	}
	return power.Unknown, nil
}

// powerOn lets a node boot, unless [BootFails] has been armed for it.
func (c *Cluster) powerOn(h *host) {
	if h.up() || c.boots(h) || c.spoilsBoot(h) {
		return
	}
	t := &h.troubles[PowerLoss]
	t.Version++
	c.plan(c.spread(c.cfg.Boot), event{Kind: evMend, Node: h.ID, Fault: PowerLoss, Version: t.Version})
}

// boots reports whether the power of a node comes back at a time that is set.
func (c *Cluster) boots(h *host) bool {
	return slices.ContainsFunc(c.agenda, func(e event) bool {
		return e.Kind == evMend && e.Node == h.ID && e.Fault == PowerLoss && !c.void(&e)
	})
}

func (c *Cluster) spoilsBoot(h *host) bool {
	i := slices.IndexFunc(c.armed, func(f Fault) bool { return f.Kind == BootFails && (f.Node == "" || f.Node == h.ID) })
	if i < 0 {
		return false
	}
	c.armed = slices.Delete(c.armed, i, i+1)
	return true
}

// Button is the power driver of one node.
func (d *Driver) Button(node cluster.NodeID) power.Driver { return button{d, node} }

type button struct {
	driver *Driver
	node   cluster.NodeID
}

func (b button) On(ctx context.Context) error  { return b.press(ctx, power.TurnOn, nil) }
func (b button) Off(ctx context.Context) error { return b.press(ctx, power.TurnOff, nil) }

func (b button) State(ctx context.Context) (s power.State, err error) {
	err = b.press(ctx, power.Look, &s)
	return s, err
}

func (b button) press(ctx context.Context, v power.Verb, state *power.State) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	d := b.driver
	d.mu.Lock()
	defer d.mu.Unlock()
	defer d.poke()
	s, err := d.cluster.Press(d.virtual(), b.node, v)
	if state != nil {
		*state = s
	}
	return err
}
