package admission

import "vjob/cluster"

// validateReservation rejects terms that conflict with a reservation.
func (s *Submission) validateReservation() error {
	if s.Reservation.IsZero() {
		return nil
	}
	switch {
	case len(s.Array) > 0:
		return cluster.Fault("array", "an array cannot have a reservation; submit single vjobs")
	case len(s.Shapes) > 0:
		return cluster.Fault("shapes", "a vjob with a reservation cannot have alternatives: one shape is reserved")
	case len(s.After) > 0:
		return cluster.Fault("after", "a vjob with a reservation cannot have dependencies: it begins at its time")
	case s.BestEffort:
		return cluster.Fault("best_effort", "a best-effort vjob cannot have a reservation")
	}
	return nil
}
