package admission

import (
	"time"

	"vjob/cluster"
)

// validateWindow rejects a window in which a vjob cannot start, or cannot end by its deadline. The
// walltime does not count: the vjob may end sooner.
func (s *Submission) validateWindow() error {
	switch {
	case !s.Deadline.IsZero() && !s.NotBefore.IsZero() && !s.Deadline.After(s.NotBefore):
		return cluster.BadField("deadline", s.Deadline.Format(time.RFC3339), "an instant after not_before, when it starts at the earliest")
	case !s.Deadline.IsZero() && !s.Reservation.IsZero() && !s.Deadline.After(s.Reservation):
		return cluster.BadField("deadline", s.Deadline.Format(time.RFC3339), "an instant after its reservation begins")
	case !s.Reservation.IsZero() && !s.NotBefore.IsZero():
		return cluster.Fault("not_before", "a reservation begins at its own time")
	case !s.Reservation.IsZero() && !s.NotAfter.IsZero():
		return cluster.Fault("not_after", "a reservation begins at its own time")
	case !s.NotAfter.IsZero() && s.NotAfter.Before(s.NotBefore):
		return cluster.BadField("not_after", s.NotAfter.Format(time.RFC3339), "an instant that is not before not_before")
	}
	return nil
}
