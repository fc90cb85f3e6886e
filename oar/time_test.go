package oar_test

import (
	"strings"
	"testing"
	"time"
	_ "time/tzdata" // for machines without time zones

	"vjob/oar"
)

func zone(t *testing.T, name string) *time.Location {
	t.Helper()
	z, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return z
}

func TestWalltime(t *testing.T) {
	for text, want := range map[string]string{
		"2": "2:0:0", "90": "90:0:0", "0:90": "1:30:0", "0:90:0": "1:30:0", "1:2:3": "1:2:3", "00:05:00": "0:5:0", "0": "0:0:0", "0:0:7200": "2:0:0",
		"1:2:3:4": "1:2:3 what follows the seconds is not read", "1|2": `1:0:0 "|2" is not read`, ":30": "0:30:0 an empty field is 0", "1::": "1:0:0 an empty field is 0",
		"720": "720:0:0", "721": "721:0:0 a number alone is hours", "3600:0": "3600:0:0",
		"2562047:47:16": "2562047:47:16", "2562047:47:17": "want less than 2562047 hours", "99999999999999999999": "want less than 2562047 hours",
		"0:0:9223372036": "2562047:47:16", "0:0:9223372037": "want less than 2562047 hours",
		"": "want hours,", ":": "want hours,", "::": "want hours,", "1h": "want hours,", "-1": "want hours,", "1:x": "want hours,", " 1": "want hours,", "1.5": "want hours,",
	} {
		d, warning, err := oar.ParseWalltime(text)
		got := strings.TrimSpace(oar.FormatWalltime(d) + " " + warning)
		if err != nil {
			got = err.Error()
		}
		if got != want && (err == nil || !strings.HasPrefix(got, want)) {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

// Twelve o'clock on a Saturday in Paris.
func noon(t *testing.T) time.Time {
	t.Helper()
	return time.Date(2026, 11, 21, 12, 0, 0, 500, zone(t, "Europe/Paris"))
}

func TestReservations(t *testing.T) {
	const layout = "2006-01-02 15:04:05"
	for text, want := range map[string]string{
		"2026-11-22 19:17:10": "2026-11-22 19:17:10 for 0:0:0",
		"2026-1-2 3":          "2026-01-02 03:00:00 for 0:0:0",
		"2026-11-22 19:17":    "2026-11-22 19:17:00 for 0:0:0",
		"23":                  "2026-11-21 23:00:00 for 0:0:0",
		" 23:05 ":             "2026-11-21 23:05:00 for 0:0:0",
		"now":                 "2026-11-21 12:00:00 for 0:0:0",
		"2026-11-22 19:17:10,2026-11-22 20:47:17":  "2026-11-22 19:17:10 for 1:30:7",
		"2026-11-22 19:17:10 , 2026-11-22 20:47:8": "2026-11-22 19:17:10 for 1:29:58",
		"23, 1":                      "2026-11-21 23:00:00 for 2:0:0", // the following day
		"2026-12-31 23, 1":           "2026-12-31 23:00:00 for 2:0:0",
		"2027-02-28 23, 1":           "2027-02-28 23:00:00 for 2:0:0",
		"now, 13":                    "2026-11-21 12:00:00 for 1:0:0",
		"2020-01-01 10:00:00":        "2020-01-01 10:00:00 for 0:0:0", // the scheduler refuses reservations in the past
		"2028-02-29 1":               "2028-02-29 01:00:00 for 0:0:0",
		"2026-10-25 1, 2026-10-25 4": "2026-10-25 01:00:00 for 4:0:0", // the clocks go back
		"2027-03-28 1, 4":            "2027-03-28 01:00:00 for 2:0:0", // and forward
	} {
		r, err := oar.ParseReservation(text, noon(t))
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if got := r.Start.Format(layout) + " for " + oar.FormatWalltime(r.Walltime()); got != want || len(r.Warnings) > 0 {
			t.Errorf("%q: %s, want %s %v", text, got, want, r.Warnings)
		}
	}
}

func TestReservationsThatAreNone(t *testing.T) {
	for text, want := range map[string]string{
		"":                                       "-r:1:1: want YYYY-MM-DD hh:mm:ss",
		"tomorrow":                               "-r:1:1: want YYYY-MM-DD hh:mm:ss",
		"2037-13-01 01:00:00":                    "there is no month 13",
		"2037-02-30 01:00:00":                    "February 2037 has no day 30",
		"2037-02-29 01:00:00":                    "February 2037 has no day 29",
		"2037-00-01 01:00:00":                    "there is no month 0",
		"2037-01-00 01:00:00":                    "January 2037 has no day 0",
		"2037-01-01 24:00":                       "there is no hour 24: want 0 to 23",
		"2037-01-01 1:60":                        "there is no minute 60",
		"2037-01-01 1:00:60":                     "there is no second 60",
		"2037-01-01":                             "there is no time of day",
		"2037-01-01T01:00":                       "want YYYY-MM-DD hh:mm:ss",
		"2037-01-01 01:00:00, later":             "-r:1:22: want YYYY-MM-DD hh:mm:ss",
		"2037-01-01 01:00:00,":                   "-r:1:21: want YYYY-MM-DD hh:mm:ss",
		"2037-01-01 1, 2037-01-01 1":             "-r:1:15: the end is not after the start, 2037-01-01 01:00:00",
		"2037-01-01 1, 2036-01-01 1":             "the end is not after the start",
		"2037-01-01 1, now":                      "-r:1:15: want YYYY-MM-DD hh:mm:ss",
		"2037-01-01 1, 2037-01-02 1, 3":          "-r:1:15: want YYYY-MM-DD hh:mm:ss",
		"2027-03-28 02:30:00":                    "2027-03-28 02:30:00 does not exist in Europe/Paris: the clocks go forward from 02:00:00 to 03:00:00",
		"2027-03-28 1, 2:00":                     "does not exist in Europe/Paris",
		"2027-03-27 3, 2:59":                     "2027-03-28 02:59:00 does not exist",
		"20370101 1":                             "want YYYY-MM-DD hh:mm:ss",
		strings.Repeat("1", 1<<20):               "want YYYY-MM-DD hh:mm:ss",
		"2037-01-01 1" + strings.Repeat(" 1", 9): "want YYYY-MM-DD hh:mm:ss",
	} {
		_, err := oar.ParseReservation(text, noon(t))
		if code, _ := oar.ExitOf(err); code != oar.ExitReservation || !strings.Contains(err.Error(), want) ||
			!strings.HasPrefix(err.Error(), "# Error: syntax error in <") || len(err.Error()) > 1000 {
			t.Errorf("%.40q: %v, want %s", text, err, want)
		}
	}
}

func TestAnHourThatComesTwiceIsTheFirst(t *testing.T) {
	r, err := oar.ParseReservation("2026-10-25 02:30, 2026-10-25 02:45", noon(t))
	if err != nil {
		t.Fatal(err)
	}
	if got := r.Start.UTC().Format("15:04"); got != "00:30" || r.Walltime() != 15*time.Minute {
		t.Errorf("%s, %s", got, r.Walltime())
	}
	const want = "2026-10-25 02:30:00 comes twice in Europe/Paris, where the clocks go back: this is the first, 00:30:00 UTC; the second is 01:30:00 UTC"
	if len(r.Warnings) != 2 || r.Warnings[0].Text != want || !strings.HasPrefix(r.Warnings[1].String(), "-r:1:19: warning: 2026-10-25 02:45:00 comes twice") {
		t.Errorf("%v", r.Warnings)
	}
}

// ParseTime finds the first instant of each quarter of an hour of some years, in zones with unusual
// clock changes, or reports that it does not exist.
func TestEachQuarterOfAnHour(t *testing.T) {
	for _, name := range []string{"Europe/Paris", "America/New_York", "Australia/Lord_Howe", "Pacific/Apia", "Asia/Kolkata", "UTC", "Africa/Casablanca", "America/Sao_Paulo"} {
		z := zone(t, name)
		const step = 15 * time.Minute
		first := map[string]time.Time{}
		begin, end := time.Date(2011, 6, 1, 0, 0, 0, 0, time.UTC), time.Date(2012, 7, 1, 0, 0, 0, 0, time.UTC)
		for at := begin.Add(-48 * time.Hour); at.Before(end.Add(48 * time.Hour)); at = at.Add(step) {
			text := at.In(z).Format("2006-01-02 15:04:05")
			if _, ok := first[text]; !ok {
				first[text] = at
			}
		}
		gaps := 0
		for wall := begin; wall.Before(end); wall = wall.Add(step) {
			text := wall.Format("2006-01-02 15:04:05")
			at, _, err := oar.ParseTime(text, z)
			want, exists := first[text]
			switch {
			case !exists:
				gaps++
				if err == nil || !strings.Contains(err.Error(), "does not exist in "+name+": the clocks go forward from ") {
					t.Errorf("%s: %s is %v, %v", name, text, at, err)
				}
			case err != nil || !at.Equal(want):
				t.Errorf("%s: %s is %v, want %v (%v)", name, text, at, want, err)
			}
		}
		t.Logf("%s: %d quarters of an hour do not exist", name, gaps)
	}
}

func TestMomentsHaveADate(t *testing.T) {
	for text, want := range map[string]string{
		"2037-01-01": "2037-01-01T00:00:00Z", "2037-01-01 10:00": "2037-01-01T10:00:00Z", "10:00": "want YYYY-MM-DD", "tomorrow": "want YYYY-MM-DD",
	} {
		at, _, err := oar.ParseTime(text, time.UTC)
		got := at.Format(time.RFC3339)
		if err != nil {
			got = err.Error()
		}
		if got != want && (err == nil || !strings.HasPrefix(got, want)) {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

func FuzzDates(f *testing.F) {
	for _, text := range []string{"2026-10-25 02:30:00, 3", "now", "23:5,1", "2027-03-28 2:30", "1|2:3::4", "2024-2-29"} {
		f.Add(text)
	}
	paris := time.FixedZone("CET", 3600)
	f.Fuzz(func(t *testing.T, text string) {
		now := time.Date(2026, 11, 21, 12, 0, 0, 0, paris)
		r, err := oar.ParseReservation(text, now)
		if err == nil && (r.Start.IsZero() || r.Walltime() < 0 || r.Start.Location() != paris) {
			t.Errorf("%q: %+v", text, r)
		}
		if d, _, err := oar.ParseWalltime(text); err == nil && (d < 0 || d > oar.MaxWalltime) {
			t.Errorf("%q: %v", text, d)
		}
		_, _, _ = oar.ParseTime(text, paris)
	})
}
