package hypervisor

import "vjob/cluster"

// Adviser is a driver that says what will become of a vjob where users may expect something else. Not all
// drivers implement it.
type Adviser interface {
	// Notes returns sentences for the owner of a vjob that was just submitted; none if its guests will do what
	// it says.
	Notes(job *cluster.VJob) []string
}
