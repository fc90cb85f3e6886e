package repack

// Objective is what a plan minimises. Ties are broken by the others, in the order of the
// constants.
type Objective uint8

// The objectives.
const (
	// Completion is equation (2): the weighted sum of completion times.
	Completion Objective = iota
	// Makespan is when the last action ends.
	Makespan
	// Migrations is how many VMs migrate.
	Migrations
	// Moved is K of thesis eq. 8.1: memory moved, weighted by the steps before.
	Moved
)
