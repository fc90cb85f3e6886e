package settings

import (
	"errors"
	"slices"
	"time"

	"vjob/cluster"
	"vjob/scheduler/balance"
	"vjob/scheduler/improve"
)

// Balance are the settings of load balancing, see docs/explanation/balance.md.
type Balance struct {
	When       string   `json:"when"` // always, never
	Every      Duration `json:"every"`
	Threshold  float64  `json:"threshold"`
	Moves      int      `json:"moves"`
	MovesAtOne int      `json:"moves_per_node"`
	Horizon    Duration `json:"horizon"`
	Stable     Duration `json:"stable"`
}

// settings returns the settings of package balance.
func (b *Balance) settings() balance.Settings {
	s := balance.Default
	s.Threshold, s.MaxMoves, s.MaxPerNode = b.Threshold, b.Moves, b.MovesAtOne
	s.Horizon, s.Stable = b.Horizon.Duration, b.Stable.Duration
	return s
}

// balanceKeys are the keys of the file by the fields of package balance.
var balanceKeys = map[string]string{
	"threshold": "threshold", "max_moves": "moves", "max_per_node": "moves_per_node", "horizon": "horizon", "stable": "stable",
}

func (b *Balance) validate() error {
	inner := b.settings()
	if field, ok := errors.AsType[*cluster.FieldError](inner.Check()); ok {
		return cluster.Renamed("balance."+balanceKeys[field.Field], field)
	}
	if b.Every.Duration < time.Second || b.Every.Duration > 24*time.Hour {
		return cluster.BadField("balance.every", b.Every, "between 1s and 24h")
	}
	if !slices.Contains([]string{whenAlways, whenNever}, b.When) {
		return cluster.BadField("balance.when", b.When, "one of "+whenAlways+", "+whenNever)
	}
	return nil
}

// scheduler returns the settings of the scheduler, or nil if it is off.
func (b *Balance) scheduler() *improve.BalanceSettings {
	if b.When == whenNever {
		return nil
	}
	return &improve.BalanceSettings{Settings: b.settings(), Every: b.Every.Duration}
}

// placement returns the aim of changes to running VMs. Without a setting it is efficient where something saves power.
func (s *Settings) placement() improve.Placement {
	c := &s.Energy.Consolidate
	switch {
	case s.Policy.Placement != "":
		return improve.Placement(s.Policy.Placement)
	case len(s.Power()) > 0 && !c.never() && (c.always() || s.Switching.Manage.Enabled || len(s.Energy.Budgets) > 0):
		return improve.Efficient
	}
	return improve.Spread
}
