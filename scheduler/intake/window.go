package intake

import (
	"time"

	"vjob/cluster"
)

// validateWindow refuses a stretch of time in which a vjob cannot start.
func (s *Submission) validateWindow() error {
	switch {
	case !s.Reservation.IsZero() && !s.NotBefore.IsZero():
		return cluster.BadField("not_before", s.NotBefore.Format(time.RFC3339), "none beside a reservation: it begins at its time")
	case !s.Reservation.IsZero() && !s.NotAfter.IsZero():
		return cluster.BadField("not_after", s.NotAfter.Format(time.RFC3339), "none beside a reservation: it begins at its time")
	case !s.NotAfter.IsZero() && s.NotAfter.Before(s.NotBefore):
		return cluster.BadField("not_after", s.NotAfter.Format(time.RFC3339), "an instant that is not before not_before")
	}
	return nil
}
