package ctxswitch

import (
	"slices"
	"time"

	"vjob/ctxswitch/placement"
	"vjob/repack"
)

// sends is how long a transfer takes at its rate: every round of a live one sends what
// was written to during the one before.
func (c *check) sends(a Action) time.Duration {
	if a.Rate == 0 {
		return 0
	}
	rate, amount := perTick(a.Rate), int64(c.count(a.VM).Memory)*bytesPerMiB
	if a.Live {
		rate -= perTick(c.p.Network.Dirty)
	}
	if rate <= 0 {
		c.fault("action %d never ends: VM %s writes as fast as it is sent", a.ID, a.VM)
		return 0
	}
	return time.Duration((amount+rate-1)/rate) * placement.Tick
}

// links checks that no link is asked for more than it has: when all goes as the plan
// says, and when gangs start late as it lets them.
func (c *check) links() {
	if c.p.Network == nil || c.plan.Empty() {
		return
	}
	g := c.builder()
	g.postNetwork(c.p.Network)
	for late := range lateness {
		loads := map[repack.Link][]linkChange{}
		plan := c.timed(g, uint64(late))
		for i := range plan.Actions {
			a := &plan.Actions[i]
			if a.Kind != repack.Migrate && a.Kind != repack.Resume {
				continue
			}
			for _, l := range g.in.AppendCrossed(nil, a.From, a.To) {
				if a.Rate == 0 {
					c.fault("VM %s is sent over %s at no rate", g.vms[a.VM], g.in.LinkName(l))
				}
				loads[l] = append(loads[l], linkChange{a.Start, a.Rate}, linkChange{a.End, -a.Rate})
			}
		}
		for l, list := range loads {
			if most := peak(list); most > g.in.Bandwidth(l) {
				c.fault("%s has %s and is asked for %s", g.in.LinkName(l), perSecond(g.in.Bandwidth(l)), perSecond(most))
			}
		}
	}
}

// linkChange is a change of what is asked of a link.
type linkChange struct {
	at repack.Ticks
	by int64
}

// peak is the most that is asked at one instant. What ends at an instant is over.
func peak(list []linkChange) (most int64) {
	slices.SortFunc(list, func(a, b linkChange) int {
		if a.at != b.at {
			return int(a.at - b.at)
		}
		return int(a.by - b.by)
	})
	var sum int64
	for _, l := range list {
		sum += l.by
		most = max(most, sum)
	}
	return most
}
