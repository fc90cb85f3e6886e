package scheduler

import (
	"fmt"
	"slices"
	"time"

	"vjob/ctxswitch/journal"
	"vjob/scheduler/failover"
)

// conditions returns what needs an administrator at present, in order.
func (c *Core) conditions() []journal.Condition {
	list := slices.Concat(c.exec.Conditions(), c.quarantine.Conditions(), c.last.conditions())
	for _, r := range c.Power.controller.Stuck() {
		list = append(list, journal.Condition{Kind: journal.AlarmNodeStuck, Node: r.Node, Text: fmt.Sprintf("node %s is left alone: it %s", r.Node, r.Reason)})
	}
	for kind, text := range c.Power.ignored {
		list = append(list, journal.Condition{Kind: kind, Text: text})
	}
	if why := c.Pools.ignored; why != "" {
		list = append(list, journal.Condition{Kind: journal.AlarmPools, Text: "the pools that were stated do not hold beside those of the settings: " + why})
	}
	slices.SortFunc(list, func(a, b journal.Condition) int { return a.Compare(&b) })
	return list
}

// conditions are those of the last decision.
func (l *lastDecision) conditions() (list []journal.Condition) {
	if r := &l.failover; r.Nodes > 0 && !r.Holds {
		list = append(list, journal.Condition{
			Kind: journal.AlarmFailover, Text: fmt.Sprintf("%s cannot be made up for (policy.failover): %s; no further vjob starts", failover.Of(r.Nodes), r.Why()),
		})
	}
	for id := range l.late {
		list = append(list, journal.Condition{
			Kind: journal.AlarmReservation, VJob: id, Text: fmt.Sprintf("vjob %s cannot start at the time of its reservation", id),
		})
	}
	return list
}

// Acknowledge records that an administrator has taken note of an open alarm.
func (c *Core) Acknowledge(now time.Time, id journal.AlarmID, by, comment string) error {
	return c.alarms.Acknowledge(now, id, by, comment, &c.out)
}
