package simclock

import (
	"time"
)

// dies asks whether the scheduler dies here. What it has called goes on without
// it; it starts again after a while.
func (s *Shell) dies(point string) bool {
	if s.core == nil {
		return true
	}
	if s.cfg.Crash == nil || !s.cfg.Crash(point) {
		return false
	}
	s.Kill()
	return true
}

// Kill kills the scheduler as kill -9 does, and starts it again after Down.
func (s *Shell) Kill() {
	s.kill()
	s.schedule(s.cfg.Down, s.restart)
}

// reload is what the real shell does when it is unknown what a write has written.
func (s *Shell) reload() {
	s.kill()
	s.schedule(0, s.restart)
}

// restart tries to start until the store lets it.
func (s *Shell) restart() {
	if err := s.start(); err != nil {
		s.schedule(time.Second, s.restart)
	}
}

func (s *Shell) kill() {
	s.core = nil
	s.life++
	clear(s.chains)
}
