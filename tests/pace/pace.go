//go:build !race

// Package pace says how many runs long tests make.
package pace

// Slower divides the number of runs; see race.go.
const Slower = 1
