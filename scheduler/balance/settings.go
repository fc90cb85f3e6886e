package balance

import (
	"math"
	"time"

	"vjob/cluster"
)

// Settings are the factors of a round.
type Settings struct {
	Threshold  float64 // the imbalance that is tolerated (T)
	MaxMoves   int     // of a round; 0 is no limit
	MaxPerNode int     // moves of a round from or to one node, and those in flight; 0 is no limit
	// Goodness scales the least gain of a move, see [Settings.LeastGain]; 0 accepts every gain.
	Goodness float64
	// CostBenefit refuses moves that cost more than they bring (§3.1.4).
	CostBenefit bool
	// HotNodes relieves nodes over their capacity also if the imbalance is tolerated.
	HotNodes bool
	// Chains tries moves of several VMs if no single move helps.
	Chains bool
	// Weights are those of the resources in the imbalance. They are multiplied by Contended for the resources
	// of which a node is over its capacity, and then divided by their sum.
	Weights   [kinds]float64
	Contended float64
	// Stable is how long the demand of VMs is expected to stay as it is, without a prediction.
	Stable time.Duration
	// Horizon is how far ahead benefits are counted: the present demand for the stable time, and the worst
	// demand for the rest.
	Horizon time.Duration
	// Variation is the standard deviation of the load of a node as a part of the load. It says how much demand a
	// node below its capacity leaves unsatisfied at times.
	Variation float64
	// Interference is which part of their demand VMs lose to each other on a node at its capacity, as they share
	// caches, links and cores; it is proportional to the load.
	Interference float64
	// Independent expects that the VMs of a node reach their largest demands of the last hour independently, so that the
	// deviations from the present demands add up by their squares, where a node over its capacity is relieved. Otherwise
	// the largest demands add up, which leaves no safe destination among nodes with many VMs.
	Independent bool
	// MigrateCPU is the CPU that a migration takes on each end, and Rate its speed in MiB per second.
	MigrateCPU cluster.MilliCPU
	Rate       int64
	// Overload is by which part the load of a destination may exceed its capacity; 0 moves no VM onto a node over its
	// capacity.
	Overload float64
	// Return is how long a VM does not move back to a node that it left.
	Return time.Duration
}

// Default has the paper's values and what is beyond the paper. Values that the paper does not give are ours.
var Default = Settings{
	Threshold: 0.05, MaxMoves: 1000, MaxPerNode: 8, Goodness: 0.5, CostBenefit: true, HotNodes: true, Chains: true, Independent: true,
	Weights: [kinds]float64{1, 1, 1}, Contended: 3, Stable: 5 * time.Minute, Horizon: time.Hour, Variation: 0.25, Interference: 0.02,
	MigrateCPU: cluster.CPU / 2, Rate: 1000, Return: time.Hour,
}

// Paper returns the settings without what is beyond the paper.
func Paper() Settings {
	s := Default
	s.HotNodes, s.Chains, s.Independent, s.Return, s.Weights[Network] = false, false, false, 0, 0
	return s
}

// Check returns a [cluster.FieldError] if the settings are invalid.
func (s *Settings) Check() error {
	within := func(v, least, most float64) bool { return v >= least && v <= most }
	sum := 0.0
	for r, w := range s.Weights {
		if !within(w, 0, 1000) {
			return cluster.BadField("weights."+weightNames[r], w, "from 0 to 1000")
		}
		sum += w
	}
	switch {
	case !within(s.Threshold, 0, 10):
		return cluster.BadField("threshold", s.Threshold, "from 0 to 10")
	case s.MaxMoves < 0:
		return cluster.BadField("max_moves", s.MaxMoves, "0 or more")
	case s.MaxPerNode < 0:
		return cluster.BadField("max_per_node", s.MaxPerNode, "0 or more")
	case !within(s.Goodness, 0, 1000):
		return cluster.BadField("goodness", s.Goodness, "from 0 to 1000")
	case sum == 0:
		return cluster.Fault("weights", "all are 0, want at least one above 0")
	case !within(s.Contended, 1, 1000):
		return cluster.BadField("contended", s.Contended, "from 1 to 1000")
	case s.Stable < 0:
		return cluster.BadField("stable", s.Stable, "a time from 0s on")
	case s.Horizon <= 0 || s.Horizon > 1000*time.Hour:
		return cluster.BadField("horizon", s.Horizon, "a time from 1s to 1000h")
	case !within(s.Variation, 0, 10):
		return cluster.BadField("variation", s.Variation, "from 0 to 10")
	case !within(s.Interference, 0, 1):
		return cluster.BadField("interference", s.Interference, "from 0 to 1")
	case s.MigrateCPU < 0 || s.MigrateCPU > 1000*cluster.CPU:
		return cluster.BadField("migrate_cpu", s.MigrateCPU, "from 0 to 1000 processors")
	case s.Rate < 1 || s.Rate > mostAmount:
		return cluster.BadField("rate", s.Rate, "1 MiB per second or more")
	case !within(s.Overload, 0, 1):
		return cluster.BadField("overload", s.Overload, "from 0 to 1")
	case s.Return < 0:
		return cluster.BadField("return", s.Return, "a time from 0s on")
	}
	return nil
}

var weightNames = [kinds]string{"cpu", "memory", "network"}

// LeastGain returns the least gain of a move at an imbalance, among so many nodes and VMs (§3.1.3). The paper has
// no formula. Moving an average VM between two nodes gains 2·N/V at best, with N the mean load, V the VMs and n the
// nodes, so the least gain shrinks with both: Goodness · T / √(n·V). At three times the tolerated imbalance and
// above it is a tenth of that.
func (s *Settings) LeastGain(imbalance float64, nodes, vms int) float64 {
	g := s.Goodness * s.Threshold / math.Sqrt(float64(max(1, nodes))*float64(max(1, vms)))
	if imbalance >= 3*s.Threshold {
		g /= 10
	}
	return g
}
