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

// comparand is one side of the comparison.
type comparand struct {
	*decide.View
	now     time.Time
	set     balance.Settings
	request *decide.BalanceRequest // nil: no search for moves
}

// balancing prepares a search for moves that even out the load, if the settings ask for it. The demand of the last hour
// is that of the present facts, in proportion to what is demanded otherwise.
func (s *comparand) balancing(q *question, f *decide.Facts) {
	s.set = balance.Default
	if q.ask == nil {
		return
	}
	s.set = q.ask.Settings
	if !q.spread {
		return
	}
	s.request = &decide.BalanceRequest{
		Settings: q.ask.Settings, Fill: 1,
		Uses: func(vm cluster.VMID) (now, least, most cluster.MilliCPU) {
			was, now := q.present.Demand(vm), f.Demand(vm)
			least, most, known := q.demand.Of(vm)
			if !known {
				return now, now, now
			}
			if was != now && was > 0 {
				part := float64(now) / float64(was)
				least, most = cluster.MilliCPU(part*float64(least)), cluster.MilliCPU(part*float64(most))
			}
			return now, min(now, least), cmp.Or(max(now, most), now)
		},
	}
}

// figures sums up a decision, and returns the estimates of all vjobs.
func (s *comparand) figures(d *decide.Decision) (*WhatIfFigures, map[cluster.VJobID]estimated) {
	f := &WhatIfFigures{Figures: s.Figures(d, &s.set)}
	if s.request != nil && d.Plan.Empty() {
		if division := d.Division; division != nil {
			s.request.Entitled = func(vm cluster.VMID) (cluster.MilliCPU, bool) {
				e, known := division.VMs[vm]
				return e.Given.CPU, known
			}
		}
		found := d.Balance(s.request)
		f.Balancing = &found
	}
	q := mergeForecasts(s.now, s.ForecastAfter(d))
	estimates := make(map[cluster.VJobID]estimated, len(q.Jobs))
	var sum time.Duration
	for i := range q.Jobs {
		e := estimated{q.Estimates[i], !q.Jobs[i].Runs}
		estimates[q.Jobs[i].ID] = e
		switch {
		case !e.waits:
		case e.Start.IsZero():
			f.Waits.Unknown++
		default:
			wait := max(0, e.Start.Sub(s.now))
			sum += wait
			f.Waits.Known++
			f.Waits.Longest = max(f.Waits.Longest, wait)
			f.Waits.Latest = cluster.Later(f.Waits.Latest, e.Start)
		}
	}
	if f.Waits.Known > 0 {
		f.Waits.Mean = sum / time.Duration(f.Waits.Known)
	}
	return f, estimates
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

// compare decides on both sides.
func compare(present, then *comparand) WhatIfResult {
	before, fails := present.Decide()
	after, wouldFail := then.Decide()
	if err := cmp.Or(fails, wouldFail); err != nil {
		return WhatIfResult{Why: err.Error()}
	}
	f := WhatIfResult{Plan: after.Plan, Why: after.Why, Breaches: after.Breaches, Undrained: after.Undrained()}
	var starts, wouldStart map[cluster.VJobID]estimated
	f.Before, starts = present.figures(&before)
	f.After, wouldStart = then.figures(&after)
	f.addVJobs(&before, &after, starts, wouldStart)
	f.Nodes = f.After.Nodes
	f.renumber()
	return f
}

// addVJobs adds the vjobs for which something changes.
func (f *WhatIfResult) addVJobs(before, after *decide.Decision, starts, wouldStart map[cluster.VJobID]estimated) {
	now := map[cluster.VJobID]int{}
	for i, r := range before.VJobs {
		now[r.Job.ID] = i
	}
	for i, r := range after.VJobs {
		was, is := starts[r.Job.ID], wouldStart[r.Job.ID]
		x := WhatIfVJob{VJob: r.Job, Then: after.Verdicts[i], NowStart: was.start(), ThenStart: is.start()}
		k, known := now[r.Job.ID]
		if known {
			x.Now = before.Verdicts[k]
		}
		lost := known && before.VJobs[k].Job.State != r.Job.State
		if lost {
			x.Then.Reason = "lost with its node, starts from its beginning; " + x.Then.Reason
		}
		later := was.waits && is.waits && !x.NowStart.Equal(x.ThenStart)
		if lost || x.ID == hypotheticalID || x.Now.Target != x.Then.Target || later {
			f.VJobs = append(f.VJobs, x)
		}
	}
}
