package queue

import "time"

// FirstFit is the dynamic scheduler of thesis §9.2: in order of priority, each
// vjob runs for which there is room beside those chosen before it. So small vjobs
// pass large ones that wait; a running vjob that fits no longer, because those
// before it need more, is parked; and a large one gets its turn as soon as there
// is room for it beside those before it, at the expense of those after it.
type FirstFit struct {
	// Count is the CPU that VMs count for; the thesis has [Assumed].
	Count Needs
	// MinRun is how long a vjob is left alone once it was started or resumed: suspending
	// it at once would cost two switches for nothing. It is not if somebody before it had
	// waited for as long when it began.
	MinRun time.Duration
	// Settle is how long a vjob that was started or resumed makes room only for those of a
	// higher priority or level, or that have waited for as long: what others are seen to use
	// changes from one second to the next.
	Settle time.Duration
	// Patience is how long a vjob waits for room that becomes free by itself before
	// others are suspended for it: a switch should pay for itself.
	Patience time.Duration
}

var _ Policy = FirstFit{}

var firstFitParameters = []Parameter{
	publishedAssumed(needsParameter(Observed)), minRunParameter, patienceParameter,
	{Name: "settle", Default: Settling.String(), Published: "0s"},
}

func newFirstFit(a arguments) Policy {
	return FirstFit{Count: a.needs(), MinRun: a.duration("min_run"), Settle: a.duration("settle"), Patience: a.duration("patience")}
}

// publishedAssumed has the count of thesis §6.1.2 in replays without settings.
func publishedAssumed(p Parameter) Parameter {
	p.Published = Assumed.String()
	return p
}

// Name is "firstfit".
func (FirstFit) Name() string { return "firstfit" }

// Traits are suspensions for earlier vjobs, and the field Count.
func (f FirstFit) Traits() Traits { return Traits{Needs: f.Count, Preempts: true} }

// Select walks the queue once, or twice if somebody would be parked who might be
// spared.
func (f FirstFit) Select(m *Input) []Verdict {
	choose := func(m *Input) []Verdict { return hysteresis{f.MinRun, f.Patience}.selectVerdicts(m, f.scanAll) }
	order := f.hysteresisOrder(m)
	if order == nil {
		return choose(m)
	}
	verdicts := m.inOrder(order, choose)
	for i := range verdicts {
		if j, v := &m.Jobs[i], &verdicts[i]; f.startedRecently(j, m.Now) && v.Again.IsZero() {
			v.Again = j.Since.Add(f.Settle)
		}
	}
	return verdicts
}

func (FirstFit) scanAll(w *scan) {
	for i := range w.jobs {
		w.admit(i)
	}
}
