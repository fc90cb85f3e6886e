package scheduler

import (
	"context"
	"fmt"

	"vjob/cluster"
	"vjob/power"
	"vjob/power/cycle"
)

// press asks the power driver of a node for what the core wants, which is written
// down by then.
func (l *Loop) press(ctx context.Context, ask power.Ask) {
	state, err := power.Unknown, fmt.Errorf("node %s: the settings name no power driver for it any more", ask.Node)
	if driver := l.fleet[ask.Node]; driver != nil {
		ctx, cancel := context.WithTimeout(ctx, l.settings.Switching.Reply)
		defer cancel()
		l.at("before power " + ask.Verb.String())
		state, err = power.Do(ctx, driver, ask.Verb)
		l.at("after power " + ask.Verb.String())
	}
	l.post(func(c *Core) error { c.Pressed(l.now(), ask, state, err); return nil })
}

// SetPower switches a node off or on, in the name of somebody.
func (l *Loop) SetPower(ctx context.Context, node cluster.NodeID, want cycle.Want, by string) error {
	return l.ask(ctx, func(c *Core) error { return c.SetPower(l.now(), node, want, by) })
}
