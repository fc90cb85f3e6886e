package queue

import (
	"fmt"
	"time"

	"vjob/cluster"
)

// EASY is aggressive backfilling (Lifka 1995; thesis §2.3.1). Vjobs start in order until one, the
// head, does not fit. The head gets a reservation for the instant at which it fits if all running
// vjobs use their whole walltime. Later ones may pass if they do not delay it: they end before, or
// use capacity that the head leaves. No vjob is suspended.
//
// A vjob without walltime has no known end: it passes none, and a head that waits for it gets no
// reservation.
type EASY struct{}

var _ Policy = EASY{}

// Name is "easy".
func (EASY) Name() string { return "easy" }

// Traits are reserved needs and no suspensions.
func (EASY) Traits() Traits { return Traits{Needs: Reserved} }

// Select keeps running vjobs, starts others in order, then backfills.
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
			w.verdicts[i].Cause = short.kept()
		}
	}
	return w.estimateStarts()
}

// headReservation is the start of the head and the capacity that it leaves.
type headReservation struct {
	job   cluster.VJobID
	start time.Time
	known bool
	extra cluster.Resources // that it leaves free at its start
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

// describeStart returns the start for the reasons of later vjobs: " and starts in 40m0s at the latest".
func (p *headReservation) describeStart(now time.Time) string {
	if !p.known {
		return ""
	}
	return fmt.Sprintf(" and starts in %s at the latest", p.start.Sub(now).Round(time.Second))
}

// backfill starts a vjob if that does not delay the head.
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
