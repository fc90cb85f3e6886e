package display_test

import (
	"testing"
	"time"

	"vjob/cmd/vjob/display"
)

// TestProgress: nothing is ever "804ms of 300ms", and a bar is full only at the end.
func TestProgress(t *testing.T) {
	for _, tt := range []struct {
		elapsed, expected time.Duration
		text, bar         string
	}{
		{20 * time.Second, 50 * time.Second, "20s of about 50s", "████░░░░░░"},
		{50 * time.Second, 50 * time.Second, "50s of about 50s", "█████████░"},
		{804 * time.Millisecond, 300 * time.Millisecond, "804ms, 504ms longer than estimated", "█████████░"},
		{2 * time.Second, 0, "2s, without an estimate", "░░░░░░░░░░"},
		{-time.Second, time.Second, "0s of about 1s", "░░░░░░░░░░"}, // the clocks differ
	} {
		if got := display.Progress(tt.elapsed, tt.expected); got != tt.text {
			t.Errorf("%s of %s: %q, want %q", tt.elapsed, tt.expected, got, tt.text)
		}
		if got := display.ProgressGauge(tt.elapsed, tt.expected, 10); got != tt.bar {
			t.Errorf("%s of %s: %q, want %q", tt.elapsed, tt.expected, got, tt.bar)
		}
	}
}
