//go:build !race

package solve_test

// slower: see race_on_test.go.
const slower = 1
