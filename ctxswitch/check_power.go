package ctxswitch

import (
	"slices"

	"vjob/cluster"
	"vjob/energy"
)

// drawInterval is a time in which a VM runs on a node, or, while it migrates, on one of two. It
// begins with the start of an action, or when all of a gang have ended, or with the plan;
// it is over when some actions have ended, or never.
type drawInterval struct {
	vm     cluster.VMID
	order  int // among those of its VM
	nodes  []cluster.NodeID
	action ActionID   // that begins it; -1: it is there from the beginning
	since  []ActionID // that end before it begins; nil: it begins with the start of its action
	until  []ActionID
	more   milliwatts // scratch: what it counts in the limit that is looked at
	before milliwatts // scratch: what the VM counted just before
}

// power checks that no limit is exceeded in the worst case, as [check.room] does for room:
// what may be drawn at once is the heaviest set of intervals of which none excludes another.
// What is drawn from the beginning is no fault of the plan; adding to it is. Of a limit
// that holds for a part of the time the times of the plan are believed.
func (c *check) power() {
	p := c.p.Power
	if p == nil || c.plan.Empty() {
		return
	}
	intervals := c.drawIntervals()
	for i := range p.Limits {
		l := &p.Limits[i]
		count := c.counted(l, intervals)
		if l.From == 0 && l.Until == 0 {
			c.always(l, count)
		} else {
			c.atTimes(l, count)
		}
	}
}

// drawIntervals are all of them, those of each VM in order.
func (c *check) drawIntervals() (list []drawInterval) {
	open := map[cluster.VMID]int{} // the one that is not over, by VM
	begin := func(s drawInterval) {
		if at, known := open[s.vm]; known {
			s.order = list[at].order + 1
		}
		open[s.vm] = len(list)
		list = append(list, s)
	}
	for _, vm := range c.p.Current.VMs() {
		if host, runs := c.p.Current.Host(vm); runs {
			begin(drawInterval{vm: vm, nodes: []cluster.NodeID{host}, action: -1})
		}
	}
	for _, a := range c.plan.Actions {
		last, runs := open[a.VM]
		runs = runs && list[last].until == nil
		switch a.Kind {
		case cluster.Boot, cluster.Resume, cluster.Unpause:
			begin(drawInterval{vm: a.VM, nodes: []cluster.NodeID{a.To}, action: a.ID})
			continue
		case cluster.Migrate:
			if !runs {
				continue // another check reports it
			}
			list[last].until = []ActionID{a.ID}
			begin(drawInterval{vm: a.VM, nodes: []cluster.NodeID{a.From, a.To}, action: a.ID, until: c.release(a)})
			begin(drawInterval{vm: a.VM, nodes: []cluster.NodeID{a.To}, action: a.ID, since: c.release(a)})
		default:
			if runs {
				list[last].until = c.release(a)
			}
		}
	}
	return list
}

// counted are the intervals that a limit counts, with their weights.
func (c *check) counted(l *PowerLimit, intervals []drawInterval) (list []drawInterval) {
	last := map[cluster.VMID]drawInterval{}
	for _, s := range intervals {
		for _, n := range s.nodes {
			if slices.Contains(l.Nodes, n) {
				s.more = max(s.more, c.p.Power.adds(s.vm, n))
			}
		}
		if b, known := last[s.vm]; known && s.action >= 0 && c.plan.Actions[s.action].Kind == cluster.Migrate {
			s.before = b.more
		}
		last[s.vm] = s
		if s.more > 0 {
			list = append(list, s)
		}
	}
	return list
}

// earlier reports whether an interval is certainly over when another begins.
func (c *check) earlier(h, o *drawInterval) bool {
	switch {
	case h.vm == o.vm:
		return h.order < o.order
	case o.action < 0 || len(h.until) == 0:
		return false
	case o.since == nil:
		return c.before[o.action].hasAll(h.until)
	}
	for _, id := range h.until {
		if !slices.ContainsFunc(o.since, func(k ActionID) bool { return k == id || c.before[k].has(int(id)) }) {
			return false
		}
	}
	return true
}

// always checks a limit that holds all along.
func (c *check) always(l *PowerLimit, intervals []drawInterval) {
	for i := range intervals {
		h := &intervals[i]
		if h.action < 0 || h.more <= h.before {
			continue
		}
		var met []*drawInterval
		for k := range intervals {
			if o := &intervals[k]; k != i && !c.earlier(o, h) && !c.earlier(h, o) {
				met = append(met, o)
			}
		}
		weights := make([]int64, len(met))
		for k, o := range met {
			weights[k] = int64(o.more)
		}
		c.exceeds(l, h, h.more+milliwatts(heaviest(weights, func(i, j int) bool { return c.earlier(met[i], met[j]) })))
	}
}

// exceeds tells if so much is too much beside what the nodes draw idle.
func (c *check) exceeds(l *PowerLimit, h *drawInterval, drawn milliwatts) {
	if drawn > c.p.Power.spare(l) {
		most := energy.Watts(drawn+c.p.Power.idle(l)) / 1000
		c.fault("%s may draw %s, and %s may be drawn while action %d brings VM %s", l.Name, l.Watts, most, h.action, h.vm)
	}
}

// atTimes checks a limit while it holds, if all goes as the plan says: whenever an interval
// begins, or the limit while it lasts.
func (c *check) atTimes(l *PowerLimit, intervals []drawInterval) {
	within := func(h *drawInterval) (from, to int64) {
		from, to = 0, 1<<62
		switch {
		case h.action < 0:
		case h.since == nil:
			from = int64(c.plan.Actions[h.action].Start)
		default:
			from = c.ended(h.since)
		}
		if len(h.until) > 0 {
			to = c.ended(h.until)
		}
		return max(from, int64(l.From)), to
	}
	for i := range intervals {
		h := &intervals[i]
		at, end := within(h)
		if h.action < 0 || h.more <= h.before || at >= end || l.Until > 0 && at >= int64(l.Until) {
			continue
		}
		var drawn milliwatts
		for k := range intervals {
			if from, to := within(&intervals[k]); from <= at && at < to {
				drawn += intervals[k].more
			}
		}
		c.exceeds(l, h, drawn)
	}
}

// ended is when all of some actions have ended, as the plan says.
func (c *check) ended(ids []ActionID) (last int64) {
	for _, id := range ids {
		last = max(last, int64(c.plan.Actions[id].End))
	}
	return last
}
