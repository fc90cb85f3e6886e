package admission

import "vjob/cluster"

// validateReservation rejects terms that conflict with a reservation.
func (s *Submission) validateReservation() error {
	if s.Reservation.IsZero() {
		return nil
	}
	switch {
	case len(s.Array) > 0:
		return cluster.BadField("array", len(s.Array), "no array beside a reservation: one vjob has it")
	case len(s.Shapes) > 0:
		return cluster.BadField("shapes", len(s.Shapes), "no alternatives beside a reservation: it is one shape that is reserved")
	case len(s.After) > 0:
		return cluster.BadField("after", len(s.After), "no dependencies beside a reservation: it begins at its time")
	case s.BestEffort:
		return cluster.BadField("best_effort", true, "false beside a reservation: best-effort vjobs have no room of their own")
	}
	return nil
}
