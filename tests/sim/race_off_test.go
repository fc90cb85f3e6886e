//go:build !race

package sim_test

// slower: see race_on_test.go.
const slower = 1
