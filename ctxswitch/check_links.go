package ctxswitch

import (
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
		var transfers []*repack.Action
		plan := c.timed(g, uint64(late))
		for i := range plan.Actions {
			a := &plan.Actions[i]
			if a.Kind != repack.Migrate && a.Kind != repack.Resume {
				continue
			}
			transfers = append(transfers, a)
			if links := g.in.AppendCrossed(nil, a.From, a.To); a.Rate == 0 && len(links) > 0 {
				c.fault("VM %s is sent over %s at no rate", g.vms[a.VM], g.in.LinkName(links[0]))
			}
		}
		for l, flows := range g.in.Carried(transfers) {
			var most int64
			for _, f := range flows {
				most = max(most, f.Rate)
			}
			if link := repack.Link(l); most > g.in.Bandwidth(link) {
				c.fault("%s has %s and is asked for %s", g.in.LinkName(link), perSecond(g.in.Bandwidth(link)), perSecond(most))
			}
		}
	}
}
