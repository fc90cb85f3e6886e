package improve

import (
	"cmp"
	"time"

	"vjob/ctxswitch/journal"
	"vjob/energy/consolidate"
	"vjob/scheduler/balance"
)

// Settings configure which improvements are looked for, and which of them wait for approval.
type Settings struct {
	Consolidation *ConsolidationSettings // when VMs move to where they draw less; nil: never
	Balance       *BalanceSettings       // when VMs leave crowded nodes; nil: never
	Placement     Placement
	Automation    Automation
}

// BalanceSettings configure when running VMs leave crowded nodes.
type BalanceSettings struct {
	balance.Settings
	Every time.Duration // between two searches
}

// ConsolidationSettings configures when running VMs move to where they draw less.
type ConsolidationSettings struct {
	consolidate.Criteria
	Every time.Duration // between two searches of the whole cluster
	// Always consolidates even if neither a budget, nor CPU shares, nor nodes switched off by vjob
	// ask for less power.
	Always bool
}

// Placement is the aim of changes to running VMs.
type Placement string

// The aims. With Pack and Efficient, VMs leave a node only where it is over its capacity, so that balancing and
// consolidation never work against each other.
const (
	Spread    Placement = "spread"    // the nodes are evenly loaded
	Pack      Placement = "pack"      // the VMs run on few nodes
	Efficient Placement = "efficient" // the nodes draw little power
)

// Automation says which changes wait for approval. The zero value carries out all of them.
type Automation struct {
	Manual map[journal.RecommendationKind]bool
	Life   time.Duration // of a recommendation without approval; 0 is an hour
}

func (a *Automation) life() time.Duration { return cmp.Or(a.Life, time.Hour) }

// stay returns how long a VM stays at least where a search for less power has moved it, and how long no search moves
// it back to a node that it left.
func (s *Settings) stay() time.Duration {
	stay := balance.Default.Return
	if s.Balance != nil {
		stay = max(stay, s.Balance.Return)
	}
	if s.Consolidation != nil {
		stay = max(stay, s.Consolidation.Horizon)
	}
	return stay
}
