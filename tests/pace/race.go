//go:build race

// Package pace says how many runs long tests make.
package pace

// Slower divides the number of runs under the race detector, which makes each run ten times
// slower and finds nothing new in a single goroutine.
const Slower = 10
