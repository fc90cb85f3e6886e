package main

import (
	"strings"
	"testing"
	"time"
)

func TestParseMoment(t *testing.T) {
	paris, err := time.LoadLocation("Europe/Paris")
	if err != nil {
		t.Skip("no time zones here: ", err)
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
		got, err := parseMoment("--reserve", text, now)
		if err != nil || got.In(paris).Format(time.RFC3339) != want {
			t.Errorf("%q: %s, %v; want %s", text, got.In(paris).Format(time.RFC3339), err, want)
		}
	}
	for _, text := range []string{"", "yesterday", "25:00", "2026-02-30 08:00", "+", "+-1h", "tomorrow", "tomorrow 8", "now"} {
		if got, err := parseMoment("--reserve", text, now); err == nil || !strings.HasPrefix(err.Error(), "--reserve: ") {
			t.Errorf("%q: %s, %v", text, got, err)
		}
	}
}

func TestParseAfter(t *testing.T) {
	got, err := parseAfter([]string{"12", "afterany:13"})
	if err != nil || len(got) != 2 || got[0].On != 12 || got[0].When != "" || got[1].On != 13 || got[1].When != "afterany" {
		t.Errorf("%v, %v", got, err)
	}
	for _, text := range []string{"", "0", "x", "afterok", "afterok:", "aftr:12", "afterok:12:13"} {
		if got, err := parseAfter([]string{text}); err == nil {
			t.Errorf("%q: %v", text, got)
		}
	}
}
