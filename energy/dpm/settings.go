// Package dpm decides which nodes are switched off and on, as VMware's Distributed Power
// Management does: "VMware Distributed Resource Management" (2012), §4.1-4.4. Where the paper
// leaves a choice, a comment gives the interpretation.
//
// It is pure: the time, the random numbers and the planner are arguments.
package dpm

import (
	"time"

	"vjob/cluster"
)

// Settings are the paper's factors.
type Settings struct {
	Target, Tolerance float64 // utilisation: 0.63 ± 0.18
	// OffWindow and OnWindow are the windows of past demand that count for switching off and
	// on, as its mean plus Deviations standard deviations.
	OffWindow, OnWindow time.Duration
	Deviations          float64
	// RiskWindow and RiskDeviations give the worst expected demand.
	RiskWindow     time.Duration
	RiskDeviations float64
	Factor         float64       // minimum ratio of benefit to cost
	MinOn          time.Duration // minimum time that a node stays on
	SpareNodes     int           // the capacity of so many of the largest nodes stays free
	SpareShare     float64       // and this part of the whole cluster, 0 to 1
	// Trials limits the nodes that one decision evaluates; 0 is no limit.
	Trials int
	// MigrateCPU is the CPU that a migration takes on each end, and Rate its speed in MiB/s.
	MigrateCPU cluster.MilliCPU
	Rate       float64
}

// Default has the paper's values. The cost of a migration, which the paper does not give, is
// that of a link of 10 Gbit/s.
var Default = Settings{
	Target: 0.63, Tolerance: 0.18, OffWindow: 40 * time.Minute, OnWindow: 5 * time.Minute, Deviations: 2,
	RiskWindow: time.Hour, RiskDeviations: 3, Factor: 40, MinOn: 20 * time.Minute, Trials: 16,
	MigrateCPU: cluster.CPU / 2, Rate: 1000,
}

// Check returns an error that names the field if the settings are invalid.
func (s *Settings) Check() error {
	share := func(v float64) bool { return v > 0 && v < 1 }
	switch {
	case !share(s.Target):
		return cluster.BadField("target", s.Target, "more than 0 and less than 1")
	case !(s.Tolerance >= 0 && share(s.Target-s.Tolerance) && s.Target+s.Tolerance <= 1):
		return cluster.Fault("tolerance", "%v requires target - tolerance more than 0 and target + tolerance at most 1", s.Tolerance)
	case s.OnWindow < Slot || s.OnWindow > s.OffWindow:
		return cluster.BadField("on_window", s.OnWindow, "from one minute up to off_window")
	case s.OffWindow > s.RiskWindow:
		return cluster.BadField("off_window", s.OffWindow, "at most "+s.RiskWindow.String())
	case !(s.Factor >= 0 && s.Factor <= 1e6):
		return cluster.BadField("factor", s.Factor, "from 0 to 1000000")
	case s.MinOn < 0:
		return cluster.BadField("min_on", s.MinOn, "0 or more")
	case s.SpareNodes < 0:
		return cluster.BadField("spare_nodes", s.SpareNodes, "0 or more")
	case !(s.SpareShare >= 0 && s.SpareShare < 1):
		return cluster.BadField("spare_share", s.SpareShare, "from 0 to less than 1")
	case !(s.Rate > 0):
		return cluster.BadField("rate", s.Rate, "more than 0 MiB per second")
	}
	return nil
}

func (s *Settings) highUse() float64 { return s.Target + s.Tolerance }
func (s *Settings) lowUse() float64  { return s.Target - s.Tolerance }
