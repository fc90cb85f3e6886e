package report

import (
	"slices"
	"testing"

	"vjob/cluster"
)

// Every outcome of a vjob that has ended has a column.
func TestColumnsOfOutcomes(t *testing.T) {
	for outcome := cluster.Open + 1; outcome < 100; outcome++ {
		name := outcome.String()
		if _, err := cluster.ParseOutcome(name); err == nil && !slices.Contains(outcomes, name) {
			t.Errorf("no column for %s", name)
		}
	}
}
