package settings

import (
	"errors"
	"slices"
	"time"

	"vjob/cluster"
	"vjob/energy/consolidate"
	"vjob/scheduler/improve"
)

// Consolidate are the settings of energy consolidation, see docs/explanation/power-management.md.
type Consolidate struct {
	When    string   `json:"when"` // asked, always, never
	Every   Duration `json:"every"`
	Horizon Duration `json:"horizon"`
	Factor  float64  `json:"factor"`
	Least   Watts    `json:"least"`
}

// Values of Consolidate.When.
const (
	whenAsked  = "asked" // only where a policy, a budget or power management saves power
	whenAlways = "always"
	whenNever  = "never"
)

// always reports whether VMs move even if nothing else asks for less power.
func (c *Consolidate) always() bool { return c.When == whenAlways }

// never reports whether consolidation is off.
func (c *Consolidate) never() bool { return c.When == whenNever }

// criteria returns the settings of package energy/consolidate.
func (c *Consolidate) criteria() consolidate.Criteria {
	return consolidate.Criteria{Horizon: c.Horizon.Duration, Factor: c.Factor, MinSaving: c.Least.Watts}
}

// validate checks the settings; modelled is whether some node has a power model.
func (c *Consolidate) validate(modelled bool) error {
	terms := c.criteria()
	if field, ok := errors.AsType[*cluster.FieldError](terms.Check()); ok {
		return cluster.Renamed("energy.consolidate."+field.Field, field)
	}
	if c.Every.Duration < time.Second || c.Every.Duration > 24*time.Hour {
		return cluster.BadField("energy.consolidate.every", c.Every, "between 1s and 24h")
	}
	if !slices.Contains([]string{whenAsked, whenAlways, whenNever}, c.When) {
		return cluster.BadField("energy.consolidate.when", c.When, "one of "+whenAsked+", "+whenAlways+", "+whenNever)
	}
	if c.always() && !modelled {
		return cluster.Fault("energy.consolidate.when", "energy.models has no power model of any node, want %s or %s", whenAsked, whenNever)
	}
	return nil
}

// scheduler returns the settings of the scheduler, or nil if it is off.
func (c *Consolidate) scheduler() *improve.ConsolidationSettings {
	if c.never() {
		return nil
	}
	return &improve.ConsolidationSettings{Criteria: c.criteria(), Every: c.Every.Duration, Always: c.always()}
}
