package admin

import (
	"strings"
	"testing"
)

// Windows by flags are those of the settings, and what makes no sense names its flag.
func TestBudgetWindows(t *testing.T) {
	for _, c := range []struct {
		in         window
		want, flag string
	}{
		{window{}, "", ""},
		{window{from: "18:00", to: "08:00"}, "18:00-08:00", ""},
		{window{from: "18:00", to: "08:00", days: "Mo-Fr"}, "Mo-Fr 18:00-08:00", ""},
		{window{dates: "12-24..01-02"}, "12-24..01-02", ""},
		{window{when: "day 1-7 Mo"}, "day 1-7 Mo", ""},
		{window{from: "18:00"}, "", "--from"},
		{window{to: "18:00"}, "", "--from"},
		{window{when: "Mo", days: "Tu"}, "", "--when"},
	} {
		got, err := c.in.text()
		if got != c.want || (err != nil) != (c.flag != "") || err != nil && !strings.Contains(err.Error(), c.flag) {
			t.Errorf("%+v: %q, %v", c.in, got, err)
		}
	}
}
