package simclock

import (
	"fmt"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/journal"
	"vjob/hypervisor"
	"vjob/scheduler"
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

// ChangeSettings replaces the settings between two steps, as the real shell does, and the nodes with them. The cluster has
// the nodes already. ErrConflict: a removed node is not empty; nothing has changed then.
func (s *Shell) ChangeSettings(settings scheduler.Settings, nodes []cluster.Node, text string) error {
	if s.core == nil {
		return fmt.Errorf("the scheduler is down: %w", cluster.ErrUnavailable)
	}
	change := &scheduler.SettingsChange{
		Nodes: nodes, Text: text, Audit: journal.Audit{At: s.now, By: "root", Action: journal.AuditReload, Text: text},
	}
	step, err := s.core.Leave(s.now, change)
	if err != nil {
		return err
	}
	if !s.commit(step) {
		return fmt.Errorf("the change cannot be written: %w", cluster.ErrUnavailable)
	}
	s.cfg.Settings = settings
	if err := s.continueWith(s.deadlines()); err != nil {
		s.reload()
	}
	return s.carryOut()
}

// deadlines are those of the calls under way, which outlive a core.
func (s *Shell) deadlines() map[hypervisor.OpID]time.Time {
	list := map[hypervisor.OpID]time.Time{}
	for _, c := range s.chains {
		at := s.now
		for i := c.at; i < len(c.Calls); i++ {
			at = at.Add(c.Deadline[i])
			list[c.Calls[i].Op] = at
		}
	}
	return list
}

func (s *Shell) kill() {
	s.core = nil
	s.life++
	clear(s.chains)
}
