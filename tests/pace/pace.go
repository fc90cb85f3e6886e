//go:build !race

// Package pace says how much long tests do.
//
// It refuses to know what they do.
package pace

// Slower is how many times fewer runs are made than at full length; see race.go.
const Slower = 1
