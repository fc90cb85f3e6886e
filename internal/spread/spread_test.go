package spread_test

import (
	"testing"

	"vjob/internal/spread"
)

func TestOf(t *testing.T) {
	for _, c := range []struct {
		values []float64
		want   spread.Spread
	}{
		{nil, spread.Spread{}},
		{[]float64{7}, spread.Spread{Mean: 7, Median: 7, P95: 7, Most: 7}},
		{[]float64{4, 1, 2, 5}, spread.Spread{Mean: 3, Median: 4, P95: 5, Most: 5}},
		{[]float64{20, 19, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1}, spread.Spread{Mean: 10.5, Median: 11, P95: 20, Most: 20}},
	} {
		if got := spread.Of(c.values); got != c.want {
			t.Errorf("%v: %+v", c.values, got)
		}
	}
}

func TestSlowdown(t *testing.T) {
	for _, c := range []struct{ took, ran, want float64 }{{30, 20, 1.5}, {5, 1, 1}, {30, 1, 3}, {20, 20, 1}} {
		if got := spread.Slowdown(c.took, c.ran); got != c.want {
			t.Errorf("%v of %v: %v", c.took, c.ran, got)
		}
	}
}
