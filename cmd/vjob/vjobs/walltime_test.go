package vjobs

import "testing"

func TestStretched(t *testing.T) {
	for _, c := range []struct {
		text   string
		before int64
		want   int64 // -1: refused
	}{
		{"2:00:00", 60, 7200},
		{"90m", 0, 5400},
		{"+0:30:00", 3600, 5400},
		{"+30m", 0, -1},
		{"-10m", 3600, 3000},
		{"-1h", 3600, -1},
		{"none", 3600, 0},
		{"soon", 3600, -1},
		{"+-1h", 3600, -1},
		{"", 3600, -1},
	} {
		got, err := stretched(c.text, c.before)
		if err != nil {
			got = -1
		}
		if got != c.want {
			t.Errorf("%q of %d s: got %d (%v), want %d", c.text, c.before, got, err, c.want)
		}
	}
}
