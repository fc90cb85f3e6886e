package scheduler

import (
	"cmp"
	"time"

	"vjob/cluster"
	"vjob/queue/forecast"
	"vjob/scheduler/balance"
	"vjob/scheduler/decide"
)

// WhatIfFigures sum up the cluster after a decision and its plan.
type WhatIfFigures struct {
	decide.Figures
	Waits WaitFigures
	// Balancing has the moves that would even out the load next, and the imbalance after these; nil if none is looked
	// for: the settings do not balance nodes, or a plan comes first.
	Balancing *decide.Balancing
}

// WaitFigures are the estimated waits, from now on, of the vjobs that wait or are suspended.
type WaitFigures struct {
	Known, Unknown int // vjobs with and without an estimated start
	Mean, Longest  time.Duration
	Latest         time.Time // the last estimated start; zero if none is known
}

// side is one side of a comparison: a decision, with the figures and estimates that follow from it.
type side struct {
	*decide.View
	decision  decide.Decision
	fails     error // the rest is then empty
	figures   *WhatIfFigures
	estimates map[cluster.VJobID]estimated
}

// decide decides on a view of some facts.
func (b *Baseline) decide(v *decide.View, f *decide.Facts) *side {
	s := &side{View: v}
	if s.decision, s.fails = v.Decide(); s.fails == nil {
		s.sumUp(b, f)
	}
	return s
}

// balancing returns the request for a search for moves that even out the load, nil if the settings do not ask for it. The
// demand of the last hour is that of the present facts, in proportion to what is demanded otherwise.
func (b *Baseline) balancing(f *decide.Facts) *decide.BalanceRequest {
	if b.ask == nil || !b.spread {
		return nil
	}
	return &decide.BalanceRequest{
		Settings: b.ask.Settings, Fill: 1,
		Uses: func(vm cluster.VMID) (now, least, most cluster.MilliCPU) {
			was, now := b.facts.Demand(vm), f.Demand(vm)
			least, most, known := b.demand.Of(vm)
			if !known {
				return now, now, now
			}
			if was != now && was > 0 {
				part := float64(now) / float64(was)
				least, most = cluster.MilliCPU(part*float64(least)), cluster.MilliCPU(part*float64(most))
			}
			return now, min(now, least), max(now, most)
		},
	}
}

// sumUp adds the figures, and the estimates of all vjobs.
func (s *side) sumUp(b *Baseline, facts *decide.Facts) {
	set := balance.Default
	if b.ask != nil {
		set = b.ask.Settings
	}
	d := &s.decision
	f := &WhatIfFigures{Figures: s.Figures(d, &set)}
	if request := b.balancing(facts); request != nil && d.Plan.Empty() {
		if division := d.Division; division != nil {
			request.Entitled = func(vm cluster.VMID) (cluster.MilliCPU, bool) {
				e, known := division.VMs[vm]
				return e.Given.CPU, known
			}
		}
		found := d.Balance(request)
		f.Balancing = &found
	}
	q := mergeForecasts(b.now, s.ForecastAfter(d))
	s.figures, s.estimates = f, make(map[cluster.VJobID]estimated, len(q.Jobs))
	var sum time.Duration
	for i := range q.Jobs {
		e := estimated{q.Estimates[i], !q.Jobs[i].Runs}
		s.estimates[q.Jobs[i].ID] = e
		switch {
		case !e.waits:
		case e.Start.IsZero():
			f.Waits.Unknown++
		default:
			wait := max(0, e.Start.Sub(b.now))
			sum += wait
			f.Waits.Known++
			f.Waits.Longest = max(f.Waits.Longest, wait)
			f.Waits.Latest = cluster.Later(f.Waits.Latest, e.Start)
		}
	}
	if f.Waits.Known > 0 {
		f.Waits.Mean = sum / time.Duration(f.Waits.Known)
	}
}

// estimated is the estimate of a vjob in a forecast.
type estimated struct {
	forecast.Estimate
	waits bool // it does not run
}

// start returns the estimated start of a vjob that waits; zero otherwise.
func (e *estimated) start() time.Time {
	if !e.waits {
		return time.Time{}
	}
	return e.Start
}

// compare compares the decision after some changes with that of now.
func compare(now, then *side) WhatIfResult {
	if err := cmp.Or(now.fails, then.fails); err != nil {
		return WhatIfResult{Why: err.Error()}
	}
	d := &then.decision
	f := WhatIfResult{
		Plan: d.Plan, Why: d.Why, Breaches: d.Breaches, Undrained: d.Undrained(), Before: now.figures, After: then.figures, Nodes: then.figures.Nodes,
	}
	f.addVJobs(now, then)
	f.renumber()
	return f
}

// addVJobs adds the vjobs for which something changes.
func (f *WhatIfResult) addVJobs(before, after *side) {
	now := map[cluster.VJobID]int{}
	for i, r := range before.decision.VJobs {
		now[r.Job.ID] = i
	}
	for i, r := range after.decision.VJobs {
		was, is := before.estimates[r.Job.ID], after.estimates[r.Job.ID]
		x := WhatIfVJob{VJob: r.Job, Then: after.decision.Verdicts[i], NowStart: was.start(), ThenStart: is.start()}
		k, known := now[r.Job.ID]
		if known {
			x.Now = before.decision.Verdicts[k]
		}
		lost := known && before.decision.VJobs[k].Job.State != r.Job.State
		if lost {
			x.Then.Reason = "lost with its node, starts from its beginning; " + x.Then.Reason
		}
		later := was.waits && is.waits && !x.NowStart.Equal(x.ThenStart)
		if lost || x.ID == hypotheticalID || x.Now.Target != x.Then.Target || later {
			f.VJobs = append(f.VJobs, x)
		}
	}
}
