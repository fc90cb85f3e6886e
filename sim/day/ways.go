package day

import (
	"strings"
	"time"

	"vjob/cluster"
	"vjob/energy/consolidate"
	"vjob/energy/dpm"
	"vjob/scheduler/balance"
)

// Way is one of the ways in which the VMs of a trace are moved.
type Way struct {
	Name, Text string
	// Balance are the settings of a round; nil moves nothing.
	Balance *balance.Settings
	// Repeat searches again as soon as the moves of a search have ended, and not every five minutes only.
	Repeat bool
	// Reserved counts the whole memory of a VM as its demand, as the daemon does; otherwise what it uses.
	Reserved bool
	// Pack moves VMs to the fewest nodes that suffice (thesis ch. 7); nil does not.
	Pack *consolidate.Criteria
	// Power switches nodes off and on; nil leaves all on.
	Power *dpm.Settings
}

// rate is the speed of a migration in MiB per second: 1 Gbit/s.
const rate = 119

// paper are the settings of Algorithm 1 with the paper's cost-benefit analysis.
func paper() *balance.Settings {
	s := balance.Paper()
	s.Rate = rate
	return &s
}

// daemon are the default settings of the daemon (daemon/settings/default.yaml).
func daemon() *balance.Settings {
	s := balance.Default
	s.MaxMoves, s.MaxPerNode, s.Rate = 8, 2, rate
	return &s
}

// tolerated is an imbalance that no cluster has: only nodes over their capacity are relieved.
const tolerated = 10

// relief are the settings of the daemon where its placement is not spread.
func relief() *balance.Settings {
	s := daemon()
	s.Goodness *= s.Threshold / tolerated // the least gain stays as it is
	s.Threshold = tolerated
	return s
}

// power are the settings of power management: those of the paper, or with a node kept free those of the daemon.
func power(spare int) *dpm.Settings {
	s := dpm.Default
	s.SpareNodes, s.Rate = spare, rate
	return &s
}

// Ways returns the ways that are compared.
func Ways() []Way {
	criteria := consolidate.Default
	return []Way{
		{Name: "off", Text: "no VM moves"},
		{Name: "drs", Text: "DRS as in the paper, every five minutes", Balance: paper()},
		{Name: "drs+dpm", Text: "the same with DPM, the paper's power management", Balance: paper(), Power: power(0)},
		{Name: "spread", Text: "the daemon's balance", Balance: daemon(), Repeat: true, Reserved: true},
		{Name: "pack", Text: "the daemon's placement on the fewest nodes", Balance: relief(), Repeat: true, Reserved: true, Pack: &criteria},
		{Name: "spread+power", Text: "the daemon's balance and power management", Balance: daemon(), Repeat: true, Reserved: true, Power: power(1)},
		{
			Name: "pack+power", Text: "the daemon's placement on the fewest nodes, and power management",
			Balance: relief(), Repeat: true, Reserved: true, Pack: &criteria, Power: power(1),
		},
	}
}

// WaysNamed returns ways by their names. The error names the field.
func WaysNamed(field string, names []string) (list []Way, err error) {
	var known []string
	byName := map[string]Way{}
	for _, w := range Ways() {
		known, byName[w.Name] = append(known, w.Name), w
	}
	for _, n := range names {
		w, is := byName[n]
		if !is {
			return nil, cluster.BadField(field, n, "one of "+strings.Join(known, ", "))
		}
		list = append(list, w)
	}
	if len(list) == 0 {
		return nil, cluster.BadField(field, "", "one at least of "+strings.Join(known, ", "))
	}
	return list, nil
}

// The times of a run.
const (
	stride    = 5 * time.Second  // between two instants
	noticed   = time.Minute      // after a change of demands it is known, and a search takes place
	packEvery = 10 * time.Minute // between two searches for fewer nodes, as energy.consolidate.every
	memoryOf  = time.Hour        // moves are remembered
	// transfers is how many migrations a node takes part in at once, as limits.transfers_per_node.
	transfers = 2
)
