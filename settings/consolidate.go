package settings

import (
	"errors"
	"time"

	"vjob/cluster"
	"vjob/energy/consolidate"
)

// Consolidate says when VMs that run are moved to where they draw less: docs/power.md.
type Consolidate struct {
	Enabled bool     `json:"enabled"`
	Every   Duration `json:"every"`
	Horizon Duration `json:"horizon"`
	Factor  float64  `json:"factor"`
	Least   Watts    `json:"least"`
}

// Terms are what package energy/consolidate goes by.
func (c *Consolidate) Terms() consolidate.Terms {
	return consolidate.Terms{Horizon: c.Horizon.Duration, Factor: c.Factor, Least: c.Least.Watts}
}

func (s *Settings) validateConsolidation() error {
	c := &s.Energy.Consolidate
	terms := c.Terms()
	if field, ok := errors.AsType[*cluster.FieldError](terms.Check()); ok {
		return &cluster.FieldError{Field: "energy.consolidate." + field.Field, Value: field.Value, Want: field.Want}
	}
	if c.Every.Duration < time.Second || c.Every.Duration > 24*time.Hour {
		return cluster.BadField("energy.consolidate.every", c.Every, "between 1s and 24h")
	}
	if c.Enabled && len(s.Power()) == 0 {
		return cluster.BadField("energy.consolidate.enabled", true, "power models of nodes: see energy.models")
	}
	return nil
}
