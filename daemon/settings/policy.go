package settings

import (
	"cmp"

	"vjob/cluster"
	"vjob/queue"
)

// Policy says how vjobs are chosen.
type Policy struct {
	Name  string `json:"name"`
	Needs string `json:"needs"` // reserved, observed, predicted, assumed; "" is what suits the policy
	// MinRun and Patience keep First Fit and dynamic EASY from suspending in vain.
	MinRun   Duration `json:"min_run"`
	Patience Duration `json:"patience"`
	Due      float64  `json:"due"`     // of dynamic EASY
	Quantum  Duration `json:"quantum"` // of time slices; 0 is an hour
	Suspend  string   `json:"suspend"` // disk, auto, memory; "" is what suits the policy
	Overdue  string   `json:"overdue"` // what becomes of vjobs whose walltime is over: end, suspend
	Gap      Duration `json:"gap"`     // for which the room of a vjob counts as taken after its walltime
}

// policy is the policy of that name with what the settings say of it; "" is that of
// policy.name.
func (s *Settings) policy(name string) (queue.Policy, error) {
	p, err := queue.ByName(cmp.Or(name, s.Policy.Name))
	if err != nil {
		return nil, err
	}
	count := s.Policy.count()
	switch p.(type) {
	case queue.FirstFit:
		return queue.FirstFit{
			Count: count, MinRun: s.Policy.MinRun.Duration, Settle: queue.Settling, Patience: s.Policy.Patience.Duration,
		}, nil
	case queue.DynamicEASY:
		if s.Policy.Needs == "" {
			count = queue.Assumed // whom that deceives is left alone for MinRun
		}
		return queue.DynamicEASY{
			Count: count, MinRun: cmp.Or(s.Policy.MinRun.Duration, queue.DefaultCalm), Patience: cmp.Or(s.Policy.Patience.Duration, queue.DefaultCalm),
			Due: s.Policy.Due,
		}, nil
	case queue.TimeSlices:
		return queue.TimeSlices{Count: count, Quantum: cmp.Or(s.Policy.Quantum.Duration, queue.DefaultQuantum)}, nil
	default:
		return p, nil
	}
}

// count is how VMs are counted by policies that leave the choice. That a vjob needs
// nothing before it ran, as the thesis assumes, suits workloads that start slowly, and
// makes others be suspended as soon as they have started.
func (p *Policy) count() queue.Needs {
	switch p.Needs {
	case "reserved":
		return queue.Reserved
	case "predicted":
		return queue.Predicted
	case "assumed":
		return queue.Assumed
	default:
		return queue.Observed
	}
}

// validatePolicy refuses what no policy of a queue would heed.
func (s *Settings) validatePolicy() error {
	for _, c := range []choice{
		{"policy.needs", s.Policy.Needs, "assumed observed predicted reserved"},
		{"policy.suspend", s.Policy.Suspend, "auto disk memory"},
		{"policy.overdue", s.Policy.Overdue, "end suspend"},
	} {
		if err := c.check(); c.value != "" && err != nil {
			return err
		}
	}
	if d := s.Policy.Due; !(d >= 0 && d <= 1000) {
		return cluster.BadField("policy.due", d, "between 0 and 1000")
	}
	suspends := false
	for _, q := range s.Queues {
		p, err := s.policy(q.Policy)
		if err != nil {
			continue // [Settings.Arrange] names the queue
		}
		if s.Policy.Needs != "" && s.Policy.count() != p.Traits().Needs {
			return cluster.BadField("policy.needs", s.Policy.Needs, "nothing: "+p.Name()+" has only one way to count")
		}
		switch p.(type) {
		case queue.FirstFit, queue.DynamicEASY:
			suspends = true
		}
	}
	if !suspends && (s.Policy.MinRun.Duration > 0 || s.Policy.Patience.Duration > 0) {
		return cluster.BadField("policy.min_run", s.Policy.MinRun, "no min_run and no patience: they are for firstfit and dynamic-easy, and no queue has these")
	}
	return nil
}

// validateOrder says what is wrong with queues, priorities, shares and quotas.
func (s *Settings) validateOrder() error {
	_, err := s.Arrange()
	return err
}
