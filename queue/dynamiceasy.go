package queue

import (
	"time"

	"vjob/cluster"
)

// DynamicEASY is EASY backfilling with vjobs that can be suspended (thesis chapter 5): in
// order, the vjobs run for which there is room beside those before them, until there is
// none for one that waits. Those behind it fill what is left, whatever their walltimes:
// they cannot delay it, since they are suspended as soon as there is room for it beside
// those before it. For nobody else anybody is suspended, so those that fill gaps do not
// push each other out, as they do under [FirstFit].
type DynamicEASY struct {
	Count Needs // the CPU that VMs count for
	// MinRun and Patience are those of [FirstFit].
	MinRun, Patience time.Duration
	// Due, if more than 0, lets a vjob come before all others but those of a higher level
	// once it has waited for Due times its walltime: so short ones have their turn soon, and
	// long ones, for whom that is little, not much later.
	Due float64
}

var _ Policy = DynamicEASY{}

// DefaultCalm is how long is waited before and after a suspension: twenty times what
// suspending and resuming a VM of 1 GiB takes on the hosts of the thesis. On real logs it
// halves the suspensions that five minutes lead to, and the vjobs end as soon.
const DefaultCalm = 30 * time.Minute

var dynamicEASYParameters = []Parameter{
	needsParameter(Assumed), // a vjob that turns out to need more is left alone for MinRun
	minRunParameter.With(DefaultCalm.String()), patienceParameter.With(DefaultCalm.String()),
	{Name: "due", Default: "1", Lenient: true, Parse: numberBetween("due", 0, 1000)},
}

func newDynamicEASY(a arguments) Policy {
	return DynamicEASY{Count: a.needs(), MinRun: a.duration("min_run"), Patience: a.duration("patience"), Due: a.number("due")}
}

// Name is "dynamic-easy".
func (DynamicEASY) Name() string { return "dynamic-easy" }

// Traits are suspensions for earlier vjobs, and the field Count.
func (e DynamicEASY) Traits() Traits { return Traits{Needs: e.Count, Preempts: true} }

// Select goes through the queue once, or twice if somebody would be parked who might be
// spared.
func (e DynamicEASY) Select(m *Input) []Verdict {
	verdicts := m.inOrder(e.dueOrder(m), func(m *Input) []Verdict { return hysteresis{e.MinRun, e.Patience}.selectVerdicts(m, e.scanAll) })
	for i := range verdicts {
		v, at := &verdicts[i], e.dueAt(&m.Jobs[i])
		if v.Target != Run && at.After(m.Now) && (v.Again.IsZero() || at.Before(v.Again)) {
			v.Again = at
		}
	}
	return verdicts
}

func (DynamicEASY) scanAll(w *scan) {
	head := 0
	for ; head < len(w.jobs) && len(w.waiting) == 0; head++ {
		w.admit(head)
	}
	for i := head; i < len(w.jobs); i++ {
		if w.jobs[i].State == cluster.Running {
			w.admit(i)
		}
	}
	for i := head; i < len(w.jobs); i++ {
		if w.jobs[i].State != cluster.Running {
			w.admit(i)
		}
	}
}
