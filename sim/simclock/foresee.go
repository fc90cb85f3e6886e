package simclock

import (
	"fmt"

	"vjob/cluster"
	"vjob/scheduler"
)

// Foresee returns the forecast of the schedule. It fails while the scheduler is down.
func (s *Shell) Foresee() (scheduler.Foreseen, error) {
	if s.core == nil {
		return scheduler.Foreseen{}, fmt.Errorf("the scheduler is down: %w", cluster.ErrUnavailable)
	}
	answer, err := s.core.Foresee(s.now)
	if err != nil {
		return scheduler.Foreseen{}, err
	}
	return answer(), nil
}
