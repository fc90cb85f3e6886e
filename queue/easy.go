package queue

import (
	"fmt"
	"time"

	"vjob/cluster"
)

// EASY is aggressive backfilling (Lifka 1995; thesis §2.3.1): the vjobs start in order
// until one does not fit. That one is promised the instant at which there will be room
// for it if all that run use up their walltime, and those behind it may pass as long as
// they do not delay it: they end before, or use room that it leaves. Nobody is parked.
//
// A vjob without walltime has no end that could be counted on: it passes nobody, and
// who waits for its room is promised nothing.
type EASY struct{}

var _ Policy = EASY{}

// Name is "easy".
func (EASY) Name() string { return "easy" }

// Traits are what was reserved for VMs, and no suspensions.
func (EASY) Traits() Traits { return Traits{Needs: Reserved} }

// Select takes what runs, then the vjobs in order, then those that may pass.
func (EASY) Select(m *Input) []Verdict {
	w := newScan(m)
	w.takeBusy()
	w.takeRunning()
	var promised *headReservation
	for i := range w.jobs {
		if w.decided[i] {
			continue
		}
		if promised != nil {
			w.backfill(i, promised)
			continue
		}
		switch ok, short := w.take(i); {
		case ok:
			w.decide(i, Run, "runs: there is room")
		case short.Limit != "":
			w.refuse(i, short)
		default:
			promised = w.reserveHead(i)
			w.wait(i, short.String()+promised.describe(m.Now))
		}
	}
	return w.estimateStarts()
}

// headReservation is the start of the vjob that comes first, and what may not be touched of it.
type headReservation struct {
	job   cluster.VJobID
	start time.Time
	known bool
	extra cluster.Resources // what it leaves of what is free then
}

func (w *scan) reserveHead(i int) *headReservation {
	left, ends := w.jobs[i].Left()
	o := w.profile()
	p := &headReservation{job: w.jobs[i].ID}
	if p.start, p.known = o.Earliest(w.jobs[i].Need, left, ends, true); p.known {
		p.extra = o.Free(p.start).Minus(w.jobs[i].Need)
	}
	return p
}

func (p *headReservation) describe(now time.Time) string {
	if !p.known {
		return ", and when it will be there cannot be known: what runs has no walltime"
	}
	return fmt.Sprintf(", which will be there in %s at the latest", p.start.Sub(now).Round(time.Second))
}

// describeStart tells those behind when its start is: " and starts in 40m0s at the latest".
func (p *headReservation) describeStart(now time.Time) string {
	if !p.known {
		return ""
	}
	return fmt.Sprintf(" and starts in %s at the latest", p.start.Sub(now).Round(time.Second))
}

// backfill starts a vjob in a gap if the first in line does not have to wait for it.
func (w *scan) backfill(i int, p *headReservation) {
	j := &w.jobs[i]
	left, ends := j.Left()
	before := p.known && ends && !w.Now.Add(left).After(p.start)
	if !before && (!p.known || !j.Need.Fits(p.extra)) {
		w.wait(i, "would delay "+p.job.String()+", which comes first"+p.describeStart(w.Now))
		return
	}
	ok, short := w.take(i)
	if !ok {
		w.refuse(i, short)
		return
	}
	if !before {
		p.extra = p.extra.Minus(j.Need)
	}
	w.decide(i, Run, "runs: it fills a gap without delaying "+p.job.String())
}
