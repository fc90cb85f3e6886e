package scheduler

import (
	"cmp"
	"fmt"
	"slices"

	"vjob/cluster"
	"vjob/power/cycle"
)

// shed switches empty nodes off whose idle power vjobs are waiting for: as few as let the
// most run. It is the counterpart of wakeFor and judges by the same picture, so that
// neither undoes what the other has done.
func (c *Core) shed() {
	if len(c.limits) == 0 || len(c.queueing) == 0 {
		return
	}
	p := c.picture()
	var empty []cluster.Node
	for _, n := range p.Nodes() {
		s := c.switches[n.ID]
		if s != nil && s.record.Want == cycle.WantOff && (s.record.Phase == cycle.Emptying || s.record.Phase == cycle.Stopping) {
			p.Darken(n.ID) // others need not go off for what it will soon leave
		}
		if s == nil || s.record.By != "" || s.record.Phase != cycle.On || s.record.Want != cycle.WantOn || n.State != cluster.Online {
			continue
		}
		if _, known := c.settings.Energy.Power[n.ID]; known && c.exec.Holding(n.ID) == "" {
			empty = append(empty, n)
		}
	}
	if len(empty) == 0 {
		return
	}
	idle := func(n cluster.Node) float64 { return float64(c.settings.Energy.Power[n.ID].Idle) }
	slices.SortStableFunc(empty, func(a, b cluster.Node) int {
		return cmp.Or(cmp.Compare(idle(b), idle(a)), cmp.Compare(a.Capacity.CPU, b.Capacity.CPU))
	})
	for _, n := range empty[:p.Dispensable(empty)] {
		c.wish(n.ID, cycle.WantOff, fmt.Sprintf("vjob %s waits for the power that it draws", c.queueing[0]))
	}
}
