package display_test

import (
	"testing"

	"vjob/api/wire"
	"vjob/cmd/vjob/display"
)

// Reasons do not repeat the state that stands beside them.
func TestWhy(t *testing.T) {
	for _, c := range []struct {
		state, reason string
		held          bool
		want          string
	}{
		{"waiting", "waits: needs 2 CPU more; 1st in line", false, "needs 2 CPU more; 1st in line"},
		{"waiting", "waits: needs 2 CPU more", true, "held; needs 2 CPU more"},
		{"waiting", "held by ann", true, "held by ann"},
		{"running", "runs", false, ""},
		{"running", "runs: there is room", false, "there is room"},
		{"suspended", "suspended 14:02 to make room for 3; waits: needs 2 CPU more", false, "suspended 14:02 to make room for 3; needs 2 CPU more"},
		{"booting", "booting: there is room; boots", false, "there is room; boots"},
		{"suspending", "suspending: suspended by ann", true, "held; suspended by ann"},
		{"terminated", "its owner waits: no", false, "its owner waits: no"},
	} {
		if got := display.Why(&wire.VJob{State: c.state, Reason: c.reason, Held: c.held}); got != c.want {
			t.Errorf("%s, %q: %q, want %q", c.state, c.reason, got, c.want)
		}
	}
}
