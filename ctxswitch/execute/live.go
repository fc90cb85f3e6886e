package execute

import (
	"iter"
	"maps"
	"time"

	"github.com/tidwall/btree"

	"vjob/cluster"
	"vjob/ctxswitch/gang"
)

// Live are the reports of the live vjobs at one instant, in order of their numbers, without Booked. They never change, and
// other goroutines may read them. Versions share what is equal in them, so that one costs what has changed since the one
// before.
type Live struct {
	at     time.Time
	vjobs  *btree.Map[cluster.VJobID, liveVJob]
	manual int
}

// liveVJob is a live vjob as of its last change.
type liveVJob struct {
	job    *cluster.VJob
	record *gang.Record
	begun  *begunReport // nil: it is untouched, as nearly all are in a long queue
}

// begunReport is a report, and how it goes on with time.
type begunReport struct {
	Report
	clock clock
}

// published is the last version, which is changed by what has become stale.
type published struct {
	vjobs  btree.Map[cluster.VJobID, liveVJob]
	manual int
}

// Live returns the reports of the live vjobs as of now.
func (e *Executor) Live() Live {
	e.publish()
	return Live{at: e.now, vjobs: e.published.vjobs.Copy(), manual: e.published.manual}
}

// JobsIn reports live vjobs in a given order.
func (e *Executor) JobsIn(order []cluster.VJobID) []Report {
	e.publish()
	list := make([]Report, len(order))
	for i, id := range order {
		v, _ := e.published.vjobs.Get(id)
		if list[i] = v.report(e.now); v.begun != nil {
			list[i].Booked = e.gangs.live[id].account.written()
		}
	}
	return list
}

// publish makes anew what is stale of the last version.
func (e *Executor) publish() {
	maps.Copy(e.stale, e.dirty) // between two steps they may have changed
	for id := range e.stale {
		if p, ok := e.gangs.live[id]; ok {
			e.published.set(id, e.liveVJob(p))
		} else {
			e.published.remove(id)
		}
	}
	e.stale = map[cluster.VJobID]bool{}
}

func (e *Executor) liveVJob(p *gangState) liveVJob {
	if p.untouched() {
		return liveVJob{job: p.job, record: p.rec}
	}
	r := e.report(p)
	r.Booked = 0
	return liveVJob{p.job, p.rec, &begunReport{r, p.account.clock}}
}

func (p *published) set(id cluster.VJobID, v liveVJob) {
	old, known := p.vjobs.Set(id, v)
	if known {
		p.manual -= old.manual()
	}
	p.manual += v.manual()
}

func (p *published) remove(id cluster.VJobID) {
	if old, known := p.vjobs.Delete(id); known {
		p.manual -= old.manual()
	}
}

// manual returns 1 for a vjob with moves that wait for approval.
func (v *liveVJob) manual() int {
	if v.job.Moves == cluster.MovesManual {
		return 1
	}
	return 0
}

// report returns the report at an instant.
func (v *liveVJob) report(at time.Time) Report {
	if v.begun == nil {
		return Report{Job: v.job, Record: v.record, Idle: true, Bound: cluster.VMWaiting}
	}
	r := v.begun.Report
	r.Ran, r.Crowded = v.begun.clock.ranAt(r.Job, at), v.begun.clock.crowdedAt(r.Job, at)
	return r
}

// AsOf returns the reports at a later instant, if nothing happens but that time passes.
func (l Live) AsOf(now time.Time) Live {
	l.at = now
	return l
}

// Len returns the number of vjobs.
func (l *Live) Len() int { return l.vjobs.Len() }

// Manual returns how many of them have moves that wait for approval.
func (l *Live) Manual() int { return l.manual }

// Get returns the report of a vjob.
func (l *Live) Get(id cluster.VJobID) (Report, bool) {
	v, ok := l.vjobs.Get(id)
	if !ok {
		return Report{}, false
	}
	return v.report(l.at), true
}

// Untouched returns a vjob with which nothing was ever done, or nil.
func (l *Live) Untouched(id cluster.VJobID) *cluster.VJob {
	if v, ok := l.vjobs.Get(id); ok && v.begun == nil {
		return v.job
	}
	return nil
}

// All returns all reports, in order.
func (l *Live) All() iter.Seq[Report] {
	return func(yield func(Report) bool) {
		l.vjobs.Scan(func(_ cluster.VJobID, v liveVJob) bool { return yield(v.report(l.at)) })
	}
}
