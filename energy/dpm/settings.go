// Package dpm decides which nodes go off and on, as VMware's Distributed Power
// Management does: "VMware Distributed Resource Management" (2012), §4.1-4.4. Where the
// paper leaves a choice, the comment at the place says how it is read.
//
// It is pure: the time, chances and what placing VMs leads to are arguments. It refuses
// to know how VMs are moved, and how a node is switched.
package dpm

import (
	"time"

	"vjob/cluster"
)

// Settings are the paper's factors.
type Settings struct {
	Target, Tolerance float64 // utilisation: 0.63 ± 0.18
	// OffWindow and OnWindow are the past whose demand counts for off and for on, by
	// its mean and Deviations standard deviations.
	OffWindow, OnWindow time.Duration
	Deviations          float64
	// RiskWindow and RiskDeviations give the worst demand that is reckoned with.
	RiskWindow     time.Duration
	RiskDeviations float64
	Factor         float64       // benefits outweigh costs so many times
	MinOn          time.Duration // a node stays on for so long once it has come up
	SpareNodes     int           // so many of the largest nodes stay free beside the demand
	SpareShare     float64       // and such a part of the whole cluster, 0 to 1
	// Trials is how many nodes one decision evaluates at most; 0 is all.
	Trials int
	// MigrateCPU is what a migration takes on each end while it lasts, and Rate how
	// many MiB it moves in a second.
	MigrateCPU cluster.MilliCPU
	Rate       float64
}

// Default has the paper's values. The cost of a migration, which the paper does not
// tell, is that of a link of 10 Gbit/s.
var Default = Settings{
	Target: 0.63, Tolerance: 0.18, OffWindow: 40 * time.Minute, OnWindow: 5 * time.Minute, Deviations: 2,
	RiskWindow: time.Hour, RiskDeviations: 3, Factor: 40, MinOn: 20 * time.Minute, Trials: 16,
	MigrateCPU: cluster.CPU / 2, Rate: 1000,
}

// Check says what is wrong with the settings. The error names the field.
func (s *Settings) Check() error {
	share := func(v float64) bool { return v > 0 && v < 1 }
	switch {
	case !share(s.Target):
		return cluster.BadField("target", s.Target, "more than 0 and less than 1")
	case !(s.Tolerance >= 0 && share(s.Target-s.Tolerance) && s.Target+s.Tolerance <= 1):
		return cluster.BadField("tolerance", s.Tolerance, "so much that target less tolerance is more than 0, and both together at most 1")
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
