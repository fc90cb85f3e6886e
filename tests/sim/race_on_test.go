//go:build race

package sim_test

// slower is how many times fewer runs are made under the race detector, which
// makes each ten times slower and finds nothing new in a single goroutine.
const slower = 10
