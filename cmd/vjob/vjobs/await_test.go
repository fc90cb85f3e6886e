package vjobs

import (
	"testing"

	"vjob/api/wire"
)

// The progress of a wait says each thing once.
func TestStandsLine(t *testing.T) {
	for _, c := range []struct{ state, reason, want string }{
		{"waiting", "waits: needs 2 CPU more; 1st in line", "vjob 2 is waiting: needs 2 CPU more; 1st in line"},
		{"booting", "booting: there is room; boots", "vjob 2 is booting: there is room; boots"},
		{"running", "runs", "vjob 2 is running"},
	} {
		if got := standsLine(&wire.VJob{ID: 2, State: c.state, Reason: c.reason}); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
