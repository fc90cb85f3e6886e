package display

import (
	"fmt"
	"time"
)

// Progress says how far something is that takes about a time: "20s of about 50s", or by how much it is late.
func Progress(elapsed, expected time.Duration) string {
	elapsed = max(0, elapsed)
	switch {
	case expected <= 0:
		return Span(elapsed) + ", without an estimate"
	case elapsed > expected:
		return fmt.Sprintf("%s, %s longer than estimated", Span(elapsed), Span(elapsed-expected))
	}
	return fmt.Sprintf("%s of about %s", Span(elapsed), Span(expected))
}

// ProgressGauge is the bar of something under way: it is full only once that has ended.
func ProgressGauge(elapsed, expected time.Duration, width int) string {
	if expected <= 0 {
		return Gauge(0, width)
	}
	most := float64(width-1) / float64(width)
	return Gauge(min(most, float64(max(0, elapsed))/float64(expected)), width)
}
