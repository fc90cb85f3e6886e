package execute

import (
	"cmp"
	"time"

	"vjob/ctxswitch/gang"
	"vjob/ctxswitch/journal"
	"vjob/hypervisor"
)

// phaseState is what happened in the present phase of a gang.
type phaseState struct {
	// skewFrom and skewTo are the first and the last pause or unpause.
	skewFrom, skewTo time.Time
	sealed           map[string]*gang.Image
	discarded        map[hypervisor.ImageID]bool
	alarms           map[string]journal.AlarmKind // those that were raised, by their texts
	retreat          string                       // why the aim of the phase is given up
	deniedSince      time.Time                    // since when a call is refused room; zero when none is
}

// reset begins another phase.
func (s *phaseState) reset() {
	clear(s.sealed)
	clear(s.discarded)
	clear(s.alarms)
	s.skewFrom, s.skewTo = time.Time{}, time.Time{}
	s.retreat, s.deniedSince = "", time.Time{}
}

// skew is the time from the first pause or unpause of the phase to the last one.
func (s *phaseState) skew() time.Duration { return s.skewTo.Sub(s.skewFrom) }

// widen widens the skew of the phase by a pause or unpause that happened, if it
// did, between two instants: the measured skew is never less than the true one.
func (s *phaseState) widen(verb hypervisor.Verb, began, ended time.Time) {
	if verb != hypervisor.Pause && verb != hypervisor.Unpause {
		return
	}
	if s.skewFrom.IsZero() || began.Before(s.skewFrom) {
		s.skewFrom = began
	}
	if ended.After(s.skewTo) {
		s.skewTo = ended
	}
}

// turnBack has the gang give up what it is doing. The first reason counts.
func (s *phaseState) turnBack(why string) { s.retreat = cmp.Or(s.retreat, why) }
