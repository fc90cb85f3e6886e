package simclock

import (
	"time"
)

// dies reports whether the scheduler crashes at this point. Calls under way continue without
// it, and it starts again after Config.Down.
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

// Kill kills the scheduler as SIGKILL does, and starts it again after Config.Down.
func (s *Shell) Kill() {
	s.kill()
	s.schedule(s.cfg.Down, s.restart)
}

// reload starts the core anew from the store, as the real shell does after a write with an
// unknown result.
func (s *Shell) reload() {
	s.kill()
	s.schedule(0, s.restart)
}

// restart retries to start until the store can be read.
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
