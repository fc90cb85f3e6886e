package main

import (
	"math"
	"testing"
	"time"
)

func TestQuantile(t *testing.T) {
	var hundred latencies
	for i := range 100 {
		hundred = append(hundred, time.Duration(100-i)*time.Millisecond)
	}
	for _, c := range []struct {
		name string
		of   latencies
		q    float64
		want time.Duration
	}{
		{"without requests", nil, 0.5, 0},
		{"of one", latencies{time.Second}, 0.99, time.Second},
		{"median", hundred, 0.5, 50 * time.Millisecond},
		{"99th percentile", hundred, 0.99, 99 * time.Millisecond},
		{"largest", hundred, 1, 100 * time.Millisecond},
	} {
		if got := c.of.quantile(c.q); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestExponent(t *testing.T) {
	for _, want := range []float64{0, 0.2, 1, 2} {
		var points []point
		for _, size := range []float64{100, 1000, 20_000} {
			points = append(points, point{size, 3 * math.Pow(size, want)})
		}
		points = append(points, point{500, 0}) // too little to measure
		if got := exponent(points); math.Abs(got-want) > 1e-9 {
			t.Errorf("exponent %v, want %v", got, want)
		}
	}
	if got := exponent([]point{{1, 1}}); !math.IsNaN(got) {
		t.Errorf("exponent of one point: %v", got)
	}
}
