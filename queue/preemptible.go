package queue

import (
	"fmt"
	"strings"
	"time"

	"vjob/cluster"
)

// Preemptible adds the terms of single vjobs on preemption to a policy. Vjobs that must not be
// suspended, or not yet, get their capacity before all others. Best-effort vjobs come after all
// others whatever their priority: they get what the policy leaves.
type Preemptible struct{ Policy }

var _ Policy = Preemptible{}

// Keeps reports whether a running vjob keeps its capacity until its end.
func (y Preemptible) Keeps(j *cluster.VJob) bool {
	return !j.BestEffort && (j.Preemption == cluster.Never || Keeps(y.Policy, j))
}

// Select asks the policy about all vjobs that are not best-effort, with capacity that contains the
// non-preemptible ones.
func (y Preemptible) Select(m *Input) []Verdict {
	d := newPartition(y.Policy, m)
	if len(d.kept) == 0 && len(d.bestEffort) == 0 {
		return describeEnds(m, y.Policy.Select(m))
	}
	inner := *m
	inner.Jobs, inner.Capacity = make([]Job, len(d.regular)), func() Capacity { return d.capacity() }
	for k, i := range d.regular {
		inner.Jobs[k] = m.Jobs[i]
		if v, kept := d.kept[m.Jobs[i].ID]; kept {
			inner.Jobs[k].Fixed = &v
		}
	}
	verdicts := make([]Verdict, len(m.Jobs))
	for k, v := range y.Policy.Select(&inner) {
		verdicts[d.regular[k]] = v
	}
	if len(d.bestEffort) > 0 {
		d.fillBestEffort(verdicts)
	}
	return describeEnds(m, verdicts)
}

// partition is the vjobs of an input by their terms on preemption.
type partition struct {
	*Input
	kept       map[cluster.VJobID]Verdict // protected vjobs
	regular    []int                      // decided by the policy, kept ones and those under way included
	bestEffort []int                      // get what the policy leaves
}

func newPartition(p Policy, m *Input) *partition {
	d := &partition{Input: m, kept: map[cluster.VJobID]Verdict{}}
	capacity := Capacity(nil)
	for i := range m.Jobs {
		j := &m.Jobs[i]
		if v, keeps := j.keepsCapacity(p, m.Now); keeps {
			if capacity == nil {
				capacity = m.Capacity()
			}
			if ok, _ := capacity.Take(j.ID); ok { // otherwise a node was lost
				d.kept[j.ID] = v
			}
		}
		if _, kept := d.kept[j.ID]; j.BestEffort && !kept && !j.Busy && j.Fixed == nil && !j.State.Terminal() {
			d.bestEffort = append(d.bestEffort, i)
		} else {
			d.regular = append(d.regular, i)
		}
	}
	return d
}

// keepsCapacity reports whether the terms of a running vjob protect it now, with the verdict. That
// includes a vjob that would start anew where others are only suspended.
func (j *Job) keepsCapacity(p Policy, now time.Time) (v Verdict, keeps bool) {
	if j.State != cluster.Running || j.Busy || j.Held && j.NonPreemptible == "" || j.Fixed != nil {
		return v, false
	}
	v.Target = Run
	left := time.Duration(j.MinRun) - now.Sub(j.Since)
	switch {
	case j.NonPreemptible != "":
		v.Reason = "runs: " + j.NonPreemptible
	case left > 0:
		v.Again, v.Reason = j.Since.Add(time.Duration(j.MinRun)), fmt.Sprintf("runs: it makes no room for %s yet", left.Round(time.Second))
	case j.Container:
		v.Reason = "runs: it holds its room for those inside"
	case j.Preemption == cluster.Never:
		v.Reason = "runs: it never makes room"
	case j.Preemption == cluster.ByEnd && !j.BestEffort && Keeps(p, j.VJob):
		v.Reason = "runs: it would have to start anew"
	default:
		return v, false
	}
	return v, true
}

// capacity returns capacity that contains the protected vjobs.
func (d *partition) capacity() *preloaded {
	r := &preloaded{Capacity: d.Capacity(), taken: map[cluster.VJobID]bool{}}
	for i := range d.Jobs {
		if id := d.Jobs[i].ID; d.kept[id].Target == Run {
			r.Take(id)
		}
	}
	return r
}

// preloaded ignores vjobs that it contains already.
type preloaded struct {
	Capacity
	taken map[cluster.VJobID]bool
}

// Take implements [Capacity].
func (r *preloaded) Take(id cluster.VJobID) (ok bool, short Shortage) {
	if r.taken[id] {
		return true, short
	}
	ok, short = r.Capacity.Take(id)
	r.taken[id] = ok
	return ok, short
}

// fillBestEffort gives best-effort vjobs the remaining capacity, running ones first, so that they
// are not suspended for each other.
func (d *partition) fillBestEffort(verdicts []Verdict) {
	jobs := make([]Job, len(d.bestEffort))
	for k, i := range d.bestEffort {
		jobs[k] = d.Jobs[i]
	}
	capacity := d.capacity()
	for _, i := range d.regular {
		if verdicts[i].Target == Run {
			capacity.Take(d.Jobs[i].ID)
		}
	}
	own := *d.Input
	own.Jobs, own.Capacity = jobs, func() Capacity { return capacity }
	w := newScan(&own)
	for k := range jobs {
		if w.decided[k] || jobs[k].State != cluster.Running {
			continue
		}
		if ok, short := w.take(k); ok {
			w.decide(k, Run, "runs: no other vjob needs its room")
		} else {
			w.suspend(k, "to make room, since it is best-effort", short)
			if c := w.verdicts[k].Cause; c.Kind == cluster.CausePreempted {
				c.VJobs, c.Hidden = d.preemptors(verdicts), 0
			}
		}
	}
	for k := range jobs {
		if w.decided[k] {
			continue
		}
		if ok, short := w.take(k); ok {
			w.decide(k, Run, "runs: no other vjob needs the room")
		} else {
			w.refuse(k, short)
		}
	}
	for k, i := range d.bestEffort {
		verdicts[i] = w.verdicts[k]
	}
}

// IsEnded reports whether a vjob is ended, and starts anew later, where others are suspended.
func IsEnded(j *cluster.VJob) bool { return j.Preemption == cluster.ByEnd && !j.Held }

// describeEnds replaces "suspended" by "ended" in the reasons of vjobs that are ended.
func describeEnds(m *Input, verdicts []Verdict) []Verdict {
	for i := range verdicts {
		j, v := &m.Jobs[i], &verdicts[i]
		if v.Target != Suspend || j.Busy || !IsEnded(j.VJob) {
			continue
		}
		if rest, suspended := strings.CutPrefix(v.Reason, "suspended"); suspended {
			v.Reason = "ended" + rest + "; it starts anew later"
		}
	}
	return verdicts
}

// preemptors returns the vjobs that are not best-effort and are to start.
func (d *partition) preemptors(verdicts []Verdict) (list []cluster.VJobRef) {
	for _, i := range d.regular {
		if verdicts[i].Target == Run && d.Jobs[i].State.Ready() {
			list = append(list, d.Jobs[i].Ref())
		}
	}
	return list
}
