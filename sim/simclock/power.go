package simclock

import (
	"vjob/energy/power"
)

// switchPower makes requests to power drivers. The scheduler can crash just before and just
// after each. switchPower reports whether a reply without delay may have caused more effects.
func (s *Shell) switchPower(asks []power.Request) (more bool) {
	for _, ask := range asks {
		if s.dies("before power " + ask.Verb.String()) {
			return false
		}
		if s.cfg.Pressed != nil {
			s.cfg.Pressed(s.now, ask)
		}
		state, err := s.cfg.Cluster.SwitchPower(s.now, ask.Node, ask.Verb)
		if s.dies("after power " + ask.Verb.String()) {
			return false
		}
		if s.later(func() { s.reports(func() { s.core.Power.Replied(s.now, ask, state, err) }) }) {
			more = true
		}
	}
	return more
}
