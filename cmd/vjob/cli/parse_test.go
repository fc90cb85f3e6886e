package cli

import (
	"errors"
	"strings"
	"testing"
	"time"
	_ "time/tzdata" // of machines that have no zones

	"github.com/google/go-cmp/cmp"

	"vjob/api/wire"
	"vjob/cluster"
)

func TestParseWalltime(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"1:00:00": time.Hour, "90m": 90 * time.Minute, "0:00:01": time.Second, "100:30:05": 100*time.Hour + 30*time.Minute + 5*time.Second,
		"90:00": 90 * time.Minute, "1h30m": 90 * time.Minute, "2d": 48 * time.Hour, "45s": 45 * time.Second,
	} {
		if got, err := ParseWalltime("w", text); err != nil || got != want {
			t.Errorf("%s: %s, %v; want %s", text, got, err, want)
		}
	}
	for _, text := range []string{"", "0", "0s", "1", "-1h", "1:60:00", "1:0:0", "1:2:3:4", "1.5s", "a:b", "::", "11y", "99999d", "+1:00", "500ms"} {
		if got, err := ParseWalltime("--walltime", text); err == nil {
			t.Errorf("%q was read as %s", text, got)
		} else if !errors.Is(err, cluster.ErrInvalid) || !strings.HasPrefix(err.Error(), "--walltime: ") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestParseSteps(t *testing.T) {
	got, err := ParseSteps("s", "2m@1, 90s@0.5,1h@250m,10s@0")
	want := []wire.Step{{CPUMilli: 1000, Seconds: 120}, {CPUMilli: 500, Seconds: 90}, {CPUMilli: 250, Seconds: 3600}, {Seconds: 10}}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Error(diff, err)
	}
	for _, text := range []string{"2m", "@1", "2m@", "2m@-1", "x@1", "2m@1,,1m@1", "2m@1,"} {
		if _, err := ParseSteps("--steps", text); !errors.Is(err, cluster.ErrInvalid) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestParseMoment(t *testing.T) {
	paris, err := time.LoadLocation("Europe/Paris")
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 11, 21, 17, 30, 0, 0, paris)
	for text, want := range map[string]string{
		"2026-12-01T08:00:00Z": "2026-12-01T09:00:00+01:00",
		"2026-12-01 08:00":     "2026-12-01T08:00:00+01:00",
		"2026-07-01 08:00:30":  "2026-07-01T08:00:30+02:00",
		"18:00":                "2026-11-21T18:00:00+01:00",
		"17:30":                "2026-11-22T17:30:00+01:00",
		"08:00":                "2026-11-22T08:00:00+01:00",
		"today 08:00":          "2026-11-21T08:00:00+01:00",
		"tomorrow 08:00":       "2026-11-22T08:00:00+01:00",
		"+6h":                  "2026-11-21T23:30:00+01:00",
		"+0:45:00":             "2026-11-21T18:15:00+01:00",
	} {
		got, err := ParseMoment("--reserve", text, now)
		if err != nil || got.In(paris).Format(time.RFC3339) != want {
			t.Errorf("%q: %s, %v; want %s", text, got.In(paris).Format(time.RFC3339), err, want)
		}
	}
	for _, text := range []string{"", "yesterday", "25:00", "2026-02-30 08:00", "+", "+-1h", "tomorrow", "tomorrow 8", "now"} {
		if got, err := ParseMoment("--reserve", text, now); err == nil || !strings.HasPrefix(err.Error(), "--reserve: ") {
			t.Errorf("%q: %s, %v", text, got, err)
		}
	}
}
