package sim

import (
	"slices"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/ctxswitch/journal"
	"vjob/scheduler/balance"
	"vjob/scheduler/improve"
)

// balanced reports whether a run moves VMs off crowded nodes: every third run, which meets every other option.
func (o *Options) balanced() bool { return o.Seed/5%3 == 2 }

// approves reports whether moves of a run wait for approval.
func (o *Options) approves() bool { return o.balanced() && o.Seed/15%2 == 1 }

// balancing returns the settings of balance. Demand lasts for seconds here, so that moves are not weighed.
func balancing(opts *Options) *improve.BalanceSettings {
	if !opts.balanced() {
		return nil
	}
	s := balance.Default
	s.CostBenefit, s.Horizon, s.Stable, s.MaxMoves, s.MaxPerNode = false, 10*time.Second, time.Second, 6, 3
	return &improve.BalanceSettings{Settings: s, Every: 10 * time.Second}
}

// automation returns which changes wait for approval.
func automation(opts *Options) improve.Automation {
	if !opts.approves() {
		return improve.Automation{}
	}
	return improve.Automation{
		Manual: map[journal.RecommendationKind]bool{
			journal.RecommendBalance: true, journal.RecommendDrain: opts.Seed/30%2 == 1,
		},
		Life: 2 * time.Minute,
	}
}

// answer approves or rejects recommendations, as an administrator would. Either may be refused.
func (r *run) answer() {
	if !r.opts.approves() && !r.opts.picky() {
		return
	}
	n := r.shell.Now().UnixMilli()
	for _, c := range r.store.Recommendations() {
		switch {
		case !c.Open():
		case n%5 == 0:
			_ = r.shell.Reject(c.ID, "op", "")
		default:
			_ = r.shell.Approve(c.ID, "op")
		}
	}
}

// inBalance checks what a step does with recommendations: moves begin as they were proposed, from where the VMs are,
// and no VM returns within an hour to a node that it left, as long as the scheduler remembers that.
func (r *run) inBalance(step journal.Step) {
	if !r.opts.balanced() {
		return
	}
	for i := range step.Recommendations {
		c := &step.Recommendations[i]
		if c.Kind != journal.RecommendBalance || c.State != journal.RecommendationApplied {
			continue
		}
		at := slices.IndexFunc(step.Plans, func(p journal.Plan) bool { return p.ID == c.Plan })
		if at < 0 {
			r.check.violate(35, "recommendation %d is applied by plan %d, which does not begin", c.ID, c.Plan)
			continue
		}
		for _, m := range c.Moves {
			r.inMove(c, m, &step.Plans[at].Plan)
		}
	}
}

// inMove checks one move of a recommendation and its plan.
func (r *run) inMove(c *journal.Recommendation, m cluster.Move, plan *ctxswitch.Plan) {
	r.check.counts.Balanced++
	place := m.From
	for _, a := range plan.Actions {
		if a.VM == m.VM && a.Kind == cluster.Migrate && a.From == place {
			place = a.To
		}
	}
	row, known := r.store.VJob(m.VM.VJob)
	switch {
	case place != m.To:
		r.check.violate(35, "recommendation %d moves %s, its plan takes it to %s", c.ID, m, place)
	case !known || row.Gang.Members[m.VM.Rank].Node != m.From && row.Gang.Members[m.VM.Rank].Next != m.To:
		r.check.violate(35, "recommendation %d moves %s, which is not there", c.ID, m)
	}
	if r.left == nil || r.leftIn != r.store.Epoch() {
		r.left, r.leftIn = map[cluster.VMID]map[cluster.NodeID]time.Time{}, r.store.Epoch()
	}
	now := r.shell.Now()
	if at, was := r.left[m.VM][m.To]; was && now.Sub(at) < time.Hour && len(c.By) == 0 {
		r.check.violate(36, "recommendation %d moves %s, which it left %s ago", c.ID, m, now.Sub(at))
	}
	if r.left[m.VM] == nil {
		r.left[m.VM] = map[cluster.NodeID]time.Time{}
	}
	r.left[m.VM][m.From] = now
}
