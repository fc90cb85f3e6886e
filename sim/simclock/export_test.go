package simclock

import (
	"fmt"

	"vjob/cluster"
	"vjob/scheduler"
)

// Foresee returns the forecast of the schedule. It fails while the scheduler is down.
func (s *Shell) Foresee() (scheduler.QueueForecast, error) {
	if s.core == nil {
		return scheduler.QueueForecast{}, fmt.Errorf("the scheduler is down: %w", cluster.ErrUnavailable)
	}
	s.told = s.now
	answer, err := s.core.Forecast(s.now)
	if err != nil {
		return scheduler.QueueForecast{}, err
	}
	return answer(), nil
}
