package scheduler

import (
	"time"
)

// pacing tells when the next decision is due: once something has changed, or an instant is reached
// at which the last decision asked for another one, and not too soon after it. After changes that can wait it comes
// when it costs little of the time.
type pacing struct {
	seen    uint64    // changes of the executor as of the last decision
	patient uint64    // of the changes since then, those that can wait
	planned uint64    // changes of the executor that went as planned, up to the last step
	at      time.Time // of the last decision; zero before the first one
	rest    time.Duration
	respite time.Duration // the rest before a decision on what can wait
	retryAt time.Time     // when another decision is wanted though nothing changes; zero if never
	decided bool          // since the last call of took
	lasted  time.Duration // how long decisions have taken lately
	hurry   bool          // the last one did not stand: the core waits for the next one
}

// Decisions take at most one part in urgentShare of the time, and at most one in patientShare while nothing is urgent.
const (
	urgentShare  = 2
	patientShare = 20
)

// decide records that a decision is taken, on so many changes of the executor, so many of which went as planned. The next
// one is at least so long after it.
func (p *pacing) decide(now time.Time, changes, planned uint64, rest time.Duration) {
	*p = pacing{seen: changes, planned: planned, at: now, rest: rest, respite: rest, decided: true, lasted: p.lasted}
}

// long reports whether the next decision is likely to take long, and need not be taken at once.
func (p *pacing) long() bool { return p.lasted >= longDecision && !p.hurry }

// insist asks for a decision at once in the place of one that did not stand.
func (p *pacing) insist(now time.Time) {
	p.retry(now)
	p.hurry = true
}

// asked reports whether a decision was asked for since the last one, by this instant.
func (p *pacing) asked(now time.Time) bool { return !p.retryAt.IsZero() && !now.Before(p.retryAt) }

// putOff records that so many changes have gone as planned, and, if they can wait, that a decision on them is not urgent. It reports
// whether there are any.
func (p *pacing) putOff(planned uint64, wait bool) (put bool) {
	more := planned - p.planned
	p.planned = planned
	if wait {
		p.patient += more
	}
	return wait && more > 0
}

// took records how long the last step took. If it has decided, the next decision begins no sooner
// than a multiple of that time after it, so that a long queue does not delay requests.
func (p *pacing) took(d time.Duration) (decided bool) {
	if decided = p.decided; decided {
		p.lastedFor(d)
	}
	return decided
}

// lastedFor records how long the last decision took. A short one between long ones, which found nothing to do, hides no
// more than half of those before.
func (p *pacing) lastedFor(d time.Duration) {
	p.rest, p.respite, p.lasted, p.decided = max(p.rest, urgentShare*d), max(p.respite, patientShare*d), max(d, p.lasted/2), false
}

// retry asks for a decision at an instant; zero is ignored.
func (p *pacing) retry(at time.Time) {
	if at.IsZero() {
		return
	}
	if p.retryAt.IsZero() || at.Before(p.retryAt) {
		p.retryAt = at
	}
}

// begun reports whether there was a decision.
func (p *pacing) begun() bool { return !p.at.IsZero() }

// changed reports whether something has changed that cannot wait, given the changes of the executor.
func (p *pacing) changed(changes uint64) bool { return changes != p.seen+p.patient }

// wanted reports whether a new decision may differ from the last one, and whether it is urgent, given whether
// something has changed that cannot wait.
func (p *pacing) wanted(now time.Time, changed bool) (wanted, urgent bool) {
	urgent = changed || p.asked(now)
	return urgent || p.patient > 0, urgent
}

// rests reports whether it is too soon for another decision.
func (p *pacing) rests(now time.Time, urgent bool) bool {
	return p.begun() && !p.hurry && now.Before(p.rested(urgent))
}

// rested returns when it is no longer too soon.
func (p *pacing) rested(urgent bool) time.Time {
	if urgent {
		return p.at.Add(p.rest)
	}
	return p.at.Add(p.respite)
}

// next returns the instants at which a decision may become due; zero if never.
func (p *pacing) next(wanted, urgent bool) (rested, retry time.Time) {
	if p.begun() && wanted {
		rested = p.rested(urgent)
	}
	return rested, p.retryAt
}
