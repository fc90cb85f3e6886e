package simclock

import (
	"fmt"

	"vjob/cluster"
	"vjob/scheduler"
	"vjob/scheduler/admission"
)

// WhatIf prepares the answer to a what-if question. It fails while the scheduler is down.
func (s *Shell) WhatIf(question scheduler.WhatIf) (answer func() (scheduler.WhatIfResult, error), err error) {
	if s.core == nil {
		return nil, fmt.Errorf("the scheduler is down: %w", cluster.ErrUnavailable)
	}
	base, err := s.core.Baseline(s.now)
	if err != nil {
		return nil, err
	}
	if answer, err = s.core.WhatIf(base, question, admission.Limits{}); err == nil {
		base.Decide()
	}
	return answer, err
}

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
