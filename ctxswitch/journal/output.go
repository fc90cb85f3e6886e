package journal

import "vjob/cluster"

// OpenOutput is a vjob whose output files may lack output.
type OpenOutput struct {
	VJob  cluster.VJobID
	Owner string
	Ended bool // it prints no more
}
