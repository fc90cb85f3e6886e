package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"text/tabwriter"
	"time"
)

// figure is one line of the result. All values are texts with units.
type figure struct {
	What     string `json:"what"`
	Measured string `json:"measured"`
	Aim      string `json:"aim,omitempty"`
	Before   string `json:"before,omitempty"` // at commit 96e6a71, measured on two shared processors
	Peers    string `json:"peers,omitempty"`
	Met      *bool  `json:"met,omitempty"` // whether the aim is met, where both are numbers
}

// within says whether a value is at most its aim.
func within(value, aim float64) *bool { met := value <= aim; return &met }

// least says whether a value is at least its aim.
func least(value, aim float64) *bool { met := value >= aim; return &met }

// print writes the machine and the figures.
func (r *run) print(w io.Writer, before, after machine) error {
	if r.json {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(map[string]any{"before": before, "after": after, "figures": r.figures})
	}
	_, _ = fmt.Fprintf(w, "%s\nload %s before, %s after\n\n", before.describe(), before.Load, after.Load)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(t, "WHAT\tMEASURED\tAIM\tMET\tAT 96E6A71\tOTHERS")
	for _, f := range r.figures {
		met := ""
		if f.Met != nil {
			met = map[bool]string{true: "yes", false: "no"}[*f.Met]
		}
		_, _ = fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\n", f.What, f.Measured, f.Aim, met, f.Before, f.Peers)
	}
	return t.Flush()
}

// latencies are how long requests took.
type latencies []time.Duration

// quantile returns the smallest latency that a part q of the requests did not exceed; 0 without requests.
func (l latencies) quantile(q float64) time.Duration {
	if len(l) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(l))
	return sorted[min(len(sorted)-1, max(0, int(math.Ceil(q*float64(len(sorted))))-1))]
}

// text says the median and the 99th percentile.
func (l latencies) text() string {
	return fmt.Sprintf("p50 %s, p99 %s", short(l.quantile(0.5)), short(l.quantile(0.99)))
}

// short rounds a time to three digits.
func short(d time.Duration) string {
	unit := time.Duration(1)
	for d/unit >= 1000 {
		unit *= 10
	}
	return d.Round(unit).String()
}

// point is a size and what it costs.
type point struct{ size, cost float64 }

// exponent fits cost = a·size^e by least squares of the logarithms, and returns e. Sizes and costs of 0 are left out;
// NaN with fewer than two points.
func exponent(points []point) float64 {
	var n, sx, sy, sxx, sxy float64
	for _, p := range points {
		if p.size <= 0 || p.cost <= 0 {
			continue
		}
		x, y := math.Log(p.size), math.Log(p.cost)
		n, sx, sy, sxx, sxy = n+1, sx+x, sy+y, sxx+x*x, sxy+x*y
	}
	return (n*sxy - sx*sy) / (n*sxx - sx*sx)
}
