package queue

import (
	"time"

	"vjob/cluster"
)

// DynamicEASY is EASY backfilling with suspensions (thesis chapter 5). Vjobs start in order until
// one, the head, does not fit. Later ones fill the gaps whatever their walltimes: they cannot delay
// the head, since they are suspended as soon as it fits beside earlier vjobs. No vjob is suspended
// for any other, so that those in gaps do not replace each other as they do under [FirstFit].
type DynamicEASY struct {
	Count Needs // the CPU that VMs count for
	// MinRun and Patience are those of [FirstFit].
	MinRun, Patience time.Duration
	// Due, if more than 0, moves a vjob before all others except those of a higher level once it
	// has waited for Due times its walltime: short vjobs start soon, and long ones are delayed
	// little relative to their length.
	Due float64
}

var _ Policy = DynamicEASY{}

// DefaultMinRun is the default MinRun and Patience of [DynamicEASY]: twenty times what suspending
// and resuming a VM of 1 GiB takes on the hosts of the thesis. On real logs it halves the
// suspensions compared to five minutes, at equal response times.
const DefaultMinRun = 30 * time.Minute

var dynamicEASYParameters = []Parameter{
	needsParameter(Assumed), // a vjob that turns out to need more is left alone for MinRun
	minRunParameter.With(DefaultMinRun.String()), patienceParameter.With(DefaultMinRun.String()),
	{Name: "due", Default: "1", Lenient: true, Parse: numberBetween("due", 0, 1000)},
}

func newDynamicEASY(a arguments) Policy {
	return DynamicEASY{Count: a.needs(), MinRun: a.duration("min_run"), Patience: a.duration("patience"), Due: a.number("due")}
}

// Name is "dynamic-easy".
func (DynamicEASY) Name() string { return "dynamic-easy" }

// Traits are suspensions for earlier vjobs and the needs of the field Count.
func (e DynamicEASY) Traits() Traits { return Traits{Needs: e.Count, Preempts: true} }

// Select scans the queue once, and again if patience may avoid a suspension.
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
