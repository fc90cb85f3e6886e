package chart_test

import (
	"testing"

	"vjob/internal/chart"
)

func TestDistribute(t *testing.T) {
	for _, c := range []struct {
		values []float64
		want   chart.Distribution
	}{
		{nil, chart.Distribution{}},
		{[]float64{7}, chart.Distribution{Mean: 7, Median: 7, P95: 7, Max: 7}},
		{[]float64{4, 1, 2, 5}, chart.Distribution{Mean: 3, Median: 4, P95: 5, Max: 5}},
		{[]float64{20, 19, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1}, chart.Distribution{Mean: 10.5, Median: 11, P95: 20, Max: 20}},
	} {
		if got := chart.Distribute(c.values); got != c.want {
			t.Errorf("%v: %+v", c.values, got)
		}
	}
}

func TestBoundedSlowdown(t *testing.T) {
	for _, c := range []struct{ took, ran, want float64 }{{30, 20, 1.5}, {5, 1, 1}, {30, 1, 3}, {20, 20, 1}} {
		if got := chart.BoundedSlowdown(c.took, c.ran); got != c.want {
			t.Errorf("%v of %v: %v", c.took, c.ran, got)
		}
	}
}
