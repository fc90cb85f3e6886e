package memory

import (
	"vjob/ctxswitch/gang"
	"vjob/ctxswitch/journal"
	"vjob/db/internal/check"
)

// reshape replaces the VMs of a vjob by those of another of its shapes.
func (s *Store) reshape(r *journal.Reshape, u *undo) error {
	at, ok := s.at(r.VJob)
	if !ok {
		return check.NotFound("vjob", r.VJob)
	}
	row := &s.vjobs[at]
	if err := check.Reshape(r, row.State.String(), s.gangs[at].Phase.String()); err != nil {
		return err
	}
	keep(u, row)
	keep(u, &s.gangs[at])
	row.VJob = row.WithShape(r.Shape)
	row.Size, row.Reserved = len(row.VMs), row.VJob.Reserved()
	s.gangs[at].Members = make([]gang.Member, len(row.VMs))
	return nil
}
