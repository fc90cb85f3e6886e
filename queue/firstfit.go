package queue

import "time"

// FirstFit is the dynamic scheduler of thesis §9.2: in order of priority, each vjob that fits
// beside the chosen ones runs. Small vjobs pass large ones that wait. A running vjob is suspended
// when it no longer fits beside earlier ones, so that a large vjob starts at the expense of
// later ones as soon as it fits beside earlier ones.
type FirstFit struct {
	// Count is the CPU that VMs count for; the thesis uses [Assumed].
	Count Needs
	// MinRun is how long a vjob is not suspended once it was started or resumed, since two
	// switches would be wasted. It does not apply if an earlier vjob had waited for as long
	// when this one started.
	MinRun time.Duration
	// Hysteresis is how long a vjob that was started or resumed is suspended only for those of a
	// higher priority or level, or that have waited for as long: observed use changes from
	// one second to the next.
	Hysteresis time.Duration
	// Patience is how long a vjob waits for capacity that becomes free by itself before others
	// are suspended for it, so that each switch pays.
	Patience time.Duration
}

var _ Policy = FirstFit{}

var firstFitParameters = []Parameter{
	publishedAssumed(needsParameter(Observed)), minRunParameter, patienceParameter,
	{Name: "settle", Default: DefaultHysteresis.String(), Published: "0s"},
}

func newFirstFit(a arguments) Policy {
	return FirstFit{Count: a.needs(), MinRun: a.duration("min_run"), Hysteresis: a.duration("settle"), Patience: a.duration("patience")}
}

// publishedAssumed sets the count of thesis §6.1.2 for replays without settings.
func publishedAssumed(p Parameter) Parameter {
	p.Published = Assumed.String()
	return p
}

// Name is "firstfit".
func (FirstFit) Name() string { return "firstfit" }

// Traits are suspensions for earlier vjobs and the needs of the field Count.
func (f FirstFit) Traits() Traits { return Traits{Needs: f.Count, Preempts: true} }

// Select scans the queue once, and again if patience may avoid a suspension.
func (f FirstFit) Select(m *Input) []Verdict {
	choose := func(m *Input) []Verdict { return hysteresis{f.MinRun, f.Patience}.selectVerdicts(m, f.scanAll) }
	order := f.hysteresisOrder(m)
	if order == nil {
		return choose(m)
	}
	verdicts := m.inOrder(order, choose)
	for i := range verdicts {
		if j, v := &m.Jobs[i], &verdicts[i]; f.startedRecently(j, m.Now) && v.Again.IsZero() {
			v.Again = j.Since.Add(f.Hysteresis)
		}
	}
	return verdicts
}

func (FirstFit) scanAll(w *scan) {
	for i := range w.jobs {
		w.admit(i)
	}
}
