package queue

import (
	"fmt"
	"time"

	"vjob/cluster"
)

// hysteresis avoids suspensions that do not pay, see [FirstFit].
type hysteresis struct {
	minRun, patience time.Duration
}

var (
	minRunParameter = Parameter{
		Name: "min_run", Default: "0s", Parse: upTo("min_run", 24*time.Hour),
		Usage: "`TIME` for which firstfit and dynamic-easy leave a vjob alone that was started or resumed; 0 is what suits the policy",
	}
	patienceParameter = Parameter{
		Name: "patience", Default: "0s", Parse: upTo("patience", 24*time.Hour),
		Usage: "`TIME` for which under them a vjob waits for capacity that becomes free by itself before others are suspended; 0 is what suits the policy",
	}
)

// selectVerdicts scans the queue once, and again without suspensions if waiting may replace them.
func (c hysteresis) selectVerdicts(m *Input, way func(*scan)) []Verdict {
	w := newScan(m)
	c.keepRecent(w)
	way(w)
	if c.patience > 0 && w.suspendsAny() {
		if patient := c.withoutSuspensions(m, w, way); patient != nil {
			return patient.estimateStarts()
		}
	}
	return w.estimateStarts()
}

// keepRecent lets vjobs that started within minRun keep their capacity, unless an earlier vjob
// had waited for minRun when they started: it would wait for one after another.
func (c hysteresis) keepRecent(w *scan) {
	waits := time.Time{} // of the vjob that has waited longest so far
	for i, j := range w.jobs {
		ran := w.Now.Sub(j.Since)
		if since := j.waitingSince(); !w.decided[i] && j.State.Ready() && (waits.IsZero() || since.Before(waits)) {
			waits = since
		}
		late := !waits.IsZero() && !j.Since.Before(waits.Add(c.minRun))
		if w.decided[i] || j.State != cluster.Running || ran >= c.minRun || late {
			continue
		}
		if ok, _ := w.take(i); ok {
			w.decide(i, Run, fmt.Sprintf("runs: it is left alone for %s yet", (c.minRun-ran).Round(time.Second)))
			w.verdicts[i].Again = j.Since.Add(c.minRun)
		}
	}
}

// withoutSuspensions scans the queue without suspending any vjob. It returns nil if a vjob that
// suspensions would start now would wait for longer than patience.
func (c hysteresis) withoutSuspensions(m *Input, eager *scan, way func(*scan)) *scan {
	w := newScan(m)
	if fit := w.takeRunning(); !fit {
		return nil
	}
	way(w)
	o := w.profile()
	for i := range w.jobs {
		if eager.verdicts[i].Target != Run || w.verdicts[i].Target == Run {
			continue
		}
		left, ends := w.jobs[i].Left()
		start, ok := o.Earliest(w.jobs[i].Need, left, ends, true)
		if !ok || start.Sub(m.Now) > c.patience {
			return nil
		}
		o.Reserve(start, w.jobs[i].Need, left, ends)
		w.verdicts[i].Reason = "waits: there will be room by itself within " + start.Sub(m.Now).Round(time.Second).String() +
			", sooner than a suspension pays"
	}
	return w
}
