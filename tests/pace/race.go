//go:build race

// Package pace says how much long tests do.
//
// It refuses to know what they do.
package pace

// Slower is how many times fewer runs are made under the race detector, which makes each
// ten times slower and finds nothing new in a single goroutine.
const Slower = 10
