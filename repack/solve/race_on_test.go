//go:build race

package solve_test

// slower is how many times fewer problems are solved under the race detector, which
// makes each ten times slower; the searches side by side are the same in each.
const slower = 10
