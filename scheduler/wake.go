package scheduler

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"vjob/cluster"
	"vjob/power/cycle"
	"vjob/scheduler/pass"
)

// wakeFor switches nodes on for those that wait, be it for room or for their reservations.
func (c *Core) wakeFor(m *Management) {
	if len(c.queueing) > 0 {
		c.wakeIn(c.picture(), fmt.Sprintf("vjob %s waits for room", c.queueing[0]))
	}
	if job := c.soon(m); job != nil {
		p := c.picture()
		p.Forward(job.Reservation)
		c.wakeIn(p, fmt.Sprintf("the reservation of vjob %s begins", job.ID))
	}
}

// soon is the vjob whose reservation begins last of those for which nodes that are off
// would have to be woken now; nil if there is none. A decision is taken when there is.
func (c *Core) soon(m *Management) (last *cluster.VJob) {
	lead := c.settings.Reserving.Margin + 2*c.longestBoot(m)
	for _, r := range c.exec.Jobs() {
		job := r.Job
		if job.Reservation.IsZero() || !job.State.Ready() || job.Held {
			continue
		}
		switch wake := job.Reservation.Add(-lead); {
		case wake.After(c.now):
			c.retry(wake)
		case last == nil || job.Reservation.After(last.Reservation):
			last = job
		}
	}
	return last
}

// longestBoot is how long it takes at most until a node that is off is of use.
func (c *Core) longestBoot(m *Management) time.Duration {
	longest := m.Boot
	for id := range c.switches {
		longest = max(longest, c.settings.Energy.Power[id].On.Time)
	}
	return longest
}

// wakeIn switches nodes on for those that wait in a picture: as few as let as many run as
// all would, first those that are still being emptied, and the largest first. Nodes that
// are coming up already count.
func (c *Core) wakeIn(p *pass.Picture, why string) {
	var off []cluster.Node
	for _, n := range p.Nodes() {
		s := c.switches[n.ID]
		if s == nil || s.record.By != "" || c.decreed(n.ID) != cluster.Online {
			continue
		}
		switch {
		case s.record.Phase == cycle.Off && s.record.Want == cycle.WantOff, s.record.Phase == cycle.Emptying, s.record.Phase == cycle.Stopping && s.record.Want == cycle.WantOff:
			off = append(off, n)
		case s.record.Phase != cycle.On && s.record.Phase != cycle.Stuck:
			_ = p.Decree(n.ID, cluster.Online) // it was just listed
		}
	}
	if len(off) == 0 {
		return
	}
	slices.SortStableFunc(off, func(a, b cluster.Node) int {
		soon := func(n cluster.Node) int { return int(c.switches[n.ID].record.Phase) } // the less far on its way, the sooner back
		return cmp.Or(
			cmp.Compare(soon(a), soon(b)), cmp.Compare(b.Capacity.CPU, a.Capacity.CPU), cmp.Compare(b.Capacity.Memory, a.Capacity.Memory),
		)
	})
	for _, n := range off[:p.Fewest(off)] {
		c.wish(n.ID, cycle.WantOn, why)
	}
}
