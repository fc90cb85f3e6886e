package format

// Bounds of the numbers in a file: a sum of one quantity over all VMs, and every
// objective, fits into 64 bits.
const (
	maxElements = 1_000_000     // nodes, VMs, rules, actions of a VM on average
	maxQuantity = 1 << 40       // of one resource, on one node or for one VM
	maxTime     = 1_000_000_000 // seconds that one action takes
	maxEnd      = 1 << 45       // seconds until the end of a plan
	maxWeight   = 1_000_000
	maxRatio    = 1000
	maxSum      = 1 << 61
	maxPenalty  = 1_000_000_000
	maxTotal    = 1 << 60 // of weights multiplied by times
	maxName     = 256     // bytes
	maxDims     = 16      // resources
)
