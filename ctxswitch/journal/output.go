package journal

import "vjob/cluster"

// OpenOutput is a vjob that may have more output than its files.
type OpenOutput struct {
	VJob  cluster.VJobID
	Owner string
	Ended bool // it prints no more
}
