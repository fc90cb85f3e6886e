package scheduler

import (
	"time"
)

// pacing tells when the next decision is due: once something has changed, or an instant is reached
// at which the last decision asked for another one, and not too soon after it.
type pacing struct {
	seen    uint64    // changes of the executor as of the last decision
	at      time.Time // of the last decision; zero before the first one
	rest    time.Duration
	retryAt time.Time // when another decision is wanted though nothing changes; zero if never
	decided bool      // since the last call of took
}

// decide records that a decision is taken, on so many changes of the executor. The next one is at
// least so long after it.
func (p *pacing) decide(now time.Time, changes uint64, rest time.Duration) {
	*p = pacing{seen: changes, at: now, rest: rest, decided: true}
}

// took records how long the last step took. If it has decided, the next decision begins no sooner
// than twice that time after it, so that a long queue does not delay requests.
func (p *pacing) took(d time.Duration) (decided bool) {
	if decided = p.decided; decided {
		p.rest, p.decided = max(p.rest, 2*d), false
	}
	return decided
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

// wanted reports whether a new decision may differ from the last one.
func (p *pacing) wanted(now time.Time, changed bool) bool {
	return changed || !p.retryAt.IsZero() && !now.Before(p.retryAt)
}

// rests reports whether it is too soon for another decision.
func (p *pacing) rests(now time.Time) bool { return p.begun() && now.Sub(p.at) < p.rest }

// next returns the instants at which a decision may become due; zero if never.
func (p *pacing) next(wanted bool) (rested, retry time.Time) {
	if p.begun() && wanted {
		rested = p.at.Add(p.rest)
	}
	return rested, p.retryAt
}
