package simulated

import (
	"context"
	"time"

	"vjob/cluster"
	"vjob/energy/power"
)

// SwitchPower carries out a verb on the power of a node. A node that is switched on answers
// after its boot time. One that is switched off loses its copies. Only [power.Query] returns the
// state.
func (c *Cluster) SwitchPower(now time.Time, node cluster.NodeID, v power.Verb) (power.State, error) {
	c.advance(now)
	defer c.propagate()
	n, ok := c.nodes.byID[node]
	if !ok {
		return power.Unknown, newFailure(cluster.ErrNotFound, "node %q", node)
	}
	switch v {
	case power.TurnOff:
		c.injector.beginFault(n, Fault{Kind: PowerLoss, Node: node})
	case power.TurnOn:
		c.injector.powerOn(n)
	case power.Query:
		if n.up() || n.boots(c.clock) {
			return power.On, nil
		}
		return power.Off, nil
	}
	return power.Unknown, nil
}

// PowerDriver is the power driver of one node.
func (d *Driver) PowerDriver(node cluster.NodeID) power.Driver { return powerDriver{d, node} }

type powerDriver struct {
	driver *Driver
	node   cluster.NodeID
}

func (p powerDriver) On(ctx context.Context) error  { return p.do(ctx, power.TurnOn, nil) }
func (p powerDriver) Off(ctx context.Context) error { return p.do(ctx, power.TurnOff, nil) }

func (p powerDriver) State(ctx context.Context) (s power.State, err error) {
	err = p.do(ctx, power.Query, &s)
	return s, err
}

// do switches the power and stores the state, unless it is nil.
func (p powerDriver) do(ctx context.Context, v power.Verb, state *power.State) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	d := p.driver
	d.mu.Lock()
	defer d.mu.Unlock()
	defer d.wakeEngine()
	s, err := d.cluster.SwitchPower(d.clock().now(), p.node, v)
	if state != nil {
		*state = s
	}
	return err
}
