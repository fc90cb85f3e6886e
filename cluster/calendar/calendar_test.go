package calendar_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/cluster/calendar"
)

func window(tb testing.TB, text string) calendar.Window {
	tb.Helper()
	w, err := calendar.Parse(text)
	if err != nil {
		tb.Fatal(err)
	}
	return w
}

func zone(tb testing.TB, name string) *time.Location {
	tb.Helper()
	z, err := time.LoadLocation(name)
	if err != nil {
		tb.Skipf("SKIPPED: no time zones on this machine: %v", err)
	}
	return z
}

// one is the calendar of one window, with the value true within it.
func one(tb testing.TB, text string, z *time.Location) *calendar.Calendar[bool] {
	tb.Helper()
	c, err := calendar.New(z, false, calendar.Entry[bool]{Name: "w", When: window(tb, text), Value: true})
	if err != nil {
		tb.Fatal(err)
	}
	return c
}

// 2026-11-21 is a Saturday.
func TestAt(t *testing.T) {
	for _, c := range []struct {
		window  string
		in, out string // instants, with commas between them
	}{
		{"Mo-Fr 08:00-18:00", "2026-11-23 08:00,2026-11-27 17:59", "2026-11-21 12:00,2026-11-23 07:59,2026-11-23 18:00"},
		{"18:00-08:00", "2026-11-21 18:00,2026-11-21 00:00,2026-11-21 07:59", "2026-11-21 08:00,2026-11-21 17:59"},
		{"10:00-11:00,08:00-09:00,08:30-10:00", "2026-11-21 08:00,2026-11-21 09:30,2026-11-21 10:59", "2026-11-21 11:00"},
		{"Fr 22:00-06:00", "2026-11-20 22:00,2026-11-21 05:59", "2026-11-20 05:00,2026-11-21 22:00,2026-11-21 06:00"},
		{"Fr-Mo", "2026-11-20 00:00,2026-11-23 23:59", "2026-11-24 00:00,2026-11-19 23:59"},
		{"Mo,We-Fr", "2026-11-23 10:00,2026-11-26 10:00", "2026-11-24 10:00,2026-11-22 10:00"},
		{"2026-12-24", "2026-12-24 00:00,2026-12-24 23:59", "2027-12-24 12:00,2026-12-25 00:00"},
		{"2026-12-24..2027-01-02", "2026-12-24 00:00,2027-01-01 05:00,2027-01-02 23:59", "2027-01-03 00:00,2027-12-25 00:00"},
		{"12-24..01-02", "2026-12-24 00:00,2030-01-02 23:59", "2027-01-03 00:00,2026-12-23 23:59"},
		{"02-29", "2028-02-29 12:00", "2027-02-28 12:00,2027-03-01 00:00"},
		{"Nov-Feb", "2026-11-01 00:00,2027-02-28 23:00", "2027-03-01 00:00,2026-10-31 00:00"},
		{"day 1-7 Mo 22:00-24:00", "2026-12-07 22:00", "2026-12-14 22:00,2026-12-07 21:59,2026-12-08 00:00"},
		{"day 1-31/10", "2026-12-01 00:00,2026-12-11 00:00,2026-12-31 00:00", "2026-12-10 00:00"},
		{"hour 8-17", "2026-12-01 08:00,2026-12-01 17:59", "2026-12-01 18:00,2026-12-01 07:59"},
		{"hour 0-23/2", "2026-12-01 00:00,2026-12-01 22:59", "2026-12-01 01:00,2026-12-01 23:00"},
		{"08:00-12:00,13:00-18:00", "2026-12-01 11:59,2026-12-01 13:00", "2026-12-01 12:30"},
		{"Mo-Fr except 12-24..01-02", "2026-12-23 12:00", "2026-12-24 12:00,2026-12-26 12:00"},
		{"18:00-08:00 except Sa, 12-24", "2026-11-21 07:00,2026-11-20 19:00", "2026-11-21 19:00,2026-11-22 07:00,2026-12-24 19:00"},
		{"Sa;Su 00:00-12:00", "2026-11-21 20:00,2026-11-22 11:00", "2026-11-22 12:00"},
	} {
		cal := one(t, c.window, time.UTC)
		for want, list := range map[bool]string{true: c.in, false: c.out} {
			for text := range strings.SplitSeq(list, ",") {
				at, err := time.Parse("2006-01-02 15:04", text)
				if err != nil {
					t.Fatal(err)
				}
				if got, name := cal.At(at); got != want || (name == "w") != want {
					t.Errorf("%q at %s: %v in %q, want %v", c.window, text, got, name, want)
				}
			}
		}
	}
}

func TestWrongWindows(t *testing.T) {
	for text, want := range map[string]string{
		"":                        "a time",
		"Mo;":                     "a time",
		"noon":                    "days or times",
		"mo":                      "days or times",
		"Mo-Xx":                   "names from Su",
		"Mo Tu":                   "only once",
		"08:00":                   "times such as",
		"08:00-08:00":             "times such as",
		"24:00-08:00":             "times such as",
		"8:00-18:00":              "times such as",
		"08:00-25:00":             "times such as",
		"08:00-09:00 hour 10":     "times only once",
		"hour 8-17 18:00-19:00":   "times only once",
		"hour 24":                 "numbers from 0 to 23",
		"hour":                    "numbers from 0 to 23",
		"hour 20-4":               "rising ranges",
		"day 0":                   "numbers from 1 to 31",
		"day 1-31/0":              "a step from 1 to 31",
		"day 1/2":                 "numbers from 1 to 31",
		"2026-02-29":              "a date of the years",
		"1999-01-01":              "a date of the years",
		"02-30":                   "a date of the years",
		"2026-12-24..12-31":       "the year at both ends",
		"2026-12-24..2026-12-23":  "the earlier date first",
		"12-24 12-25":             "dates only once",
		"except Sa":               "",
		"Mo except":               "days after it",
		"Mo except Sa except Su":  "it only once",
		"Mo except 08:00-09:00":   "a date of the years",
		"Mo except Sa,, Su":       "names from",
		strings.Repeat("Mo", 501): "at most 1000 bytes",
	} {
		_, err := calendar.Parse(text)
		switch {
		case want == "" && err != nil:
			t.Errorf("%q: %v", text, err)
		case want != "" && (!errors.Is(err, cluster.ErrInvalid) || !strings.Contains(err.Error(), want)):
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

func TestOverlaps(t *testing.T) {
	for _, c := range []struct{ a, b, on string }{
		{"Mo-Fr 08:00-18:00", "18:00-08:00", ""},
		{"Mo-Fr 08:00-18:00", "Sa-Su", ""},
		{"18:00-08:00", "Sa-Su", "Saturdays"},
		{"Mo-Th 18:00-08:00;Fr 18:00-24:00", "Sa;Su", ""},
		{"Mo-Fr 18:00-08:00", "Sa;Su", "Saturdays"}, // the end of Friday's
		{"Fr 20:00-04:00", "Sa 04:00-05:00", ""},
		{"Fr 20:00-04:01", "Sa 04:00-05:00", "Saturdays"},
		{"12-24", "Mo-Fr 08:00-18:00", "Mon 2001-12-24"},
		{"12-24", "Mo-Fr 08:00-18:00 except 12-24", ""},
		{"2026-12-24", "2026-12-25", ""},
		{"2026-12-24", "12-24..12-26", "Thu 2026-12-24"},
		{"02-29 Mo", "day 29 Feb Mo", "Mon 2016-02-29"},
		{"02-29", "day 30", ""},
		{"2399-12-31 20:00-04:00", "01-01", "Sat 2400-01-01"}, // after the last year
		{"day 1-7", "day 7", "Fri 2000-01-07"},
	} {
		for _, pair := range [][2]string{{c.a, c.b}, {c.b, c.a}} {
			_, err := calendar.New(time.UTC, 0,
				calendar.Entry[int]{Name: "first", When: window(t, pair[0])}, calendar.Entry[int]{Name: "second", When: window(t, pair[1])})
			if c.on == "" {
				if err != nil {
					t.Errorf("%q and %q: %v", pair[0], pair[1], err)
				}
				continue
			}
			for _, part := range []string{`"first"`, `"second"`, c.on} {
				if err == nil || !strings.Contains(err.Error(), part) {
					t.Errorf("%q and %q: %v, want %s in it", pair[0], pair[1], err, part)
				}
			}
		}
	}
}

func TestNames(t *testing.T) {
	w := window(t, "Mo")
	for _, entries := range [][]calendar.Entry[int]{
		{{Name: "", When: w}},
		{{Name: "a"}},
		{{Name: "a", When: w}, {Name: "a", When: window(t, "Tu")}},
	} {
		if _, err := calendar.New(time.UTC, 0, entries...); !errors.Is(err, cluster.ErrInvalid) {
			t.Errorf("%v: %v", entries, err)
		}
	}
}

// In Berlin the clock goes from 2:00 to 3:00 on 2026-03-29, and from 3:00 to 2:00 on
// 2026-10-25, both at 1:00 UTC.
func TestClockChanges(t *testing.T) {
	berlin := zone(t, "Europe/Berlin")
	for _, c := range []struct {
		window, from string
		changes      string // UTC, what follows from
	}{
		{"08:00-18:00", "2026-03-28 00:00", "2026-03-28 07:00,2026-03-28 17:00,2026-03-29 06:00,2026-03-29 16:00"},
		{"02:00-03:00", "2026-03-28 00:00", "2026-03-28 01:00,2026-03-28 02:00,2026-03-30 00:00"},                   // does not happen on the 29th
		{"02:30-04:00", "2026-03-28 12:00", "2026-03-29 01:00,2026-03-29 02:00"},                                    // begins with the gap
		{"01:00-02:30", "2026-03-28 12:00", "2026-03-29 00:00,2026-03-29 01:00"},                                    // ends with it
		{"02:00-02:30", "2026-10-24 12:00", "2026-10-25 00:00,2026-10-25 00:30,2026-10-25 01:00,2026-10-25 01:30"},  // twice
		{"02:30-04:00", "2026-10-24 12:00", "2026-10-25 00:30,2026-10-25 01:00,2026-10-25 01:30,2026-10-25 03:00"},  // twice
		{"22:00-06:00", "2026-10-24 12:00", "2026-10-24 20:00,2026-10-25 05:00"},                                    // nine hours
		{"2026-10-25", "2026-10-20 00:00", "2026-10-24 22:00,2026-10-25 23:00,"},                                    // 25 hours, then never
		{"2020-02-29", "2026-10-20 00:00", ""},                                                                      // never again
		{"02-29", "2026-10-20 00:00", "2028-02-28 23:00,2028-02-29 23:00,2032-02-28 23:00"},                         // far away
		{"00:00-24:00", "2026-10-20 00:00", ""},                                                                     // always
		{"Mo-Su 00:00-24:00 except 2027-01-01", "2026-10-20 00:00", "2026-12-31 23:00,2027-01-01 23:00,"},           // one day in all
		{"Mo 00:00-24:00;Tu 00:00-24:00", "2026-10-20 00:00", "2026-10-20 22:00,2026-10-25 23:00,2026-10-27 23:00"}, // no change within
		{"2026-12-31 18:00-08:00", "2026-12-31 20:00", "2027-01-01 07:00,"},                                         // ends in the next year
	} {
		cal := one(t, c.window, berlin)
		at, err := time.Parse("2006-01-02 15:04", c.from)
		if err != nil {
			t.Fatal(err)
		}
		for want := range strings.SplitSeq(c.changes, ",") {
			next, ok := cal.Next(at)
			got := ""
			if ok {
				got = next.UTC().Format("2006-01-02 15:04")
			}
			if got != want {
				t.Errorf("%q: after %s comes %q, want %q", c.window, at.Format(time.DateTime), got, want)
				break
			}
			at = next
		}
	}
}

// Every change is found and no other, minute by minute, around the days on which clocks
// change; what holds is compared with what the clock shows as text.
func TestAgainstEveryMinute(t *testing.T) {
	const seed = 7
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	zones := []*time.Location{
		time.UTC, zone(t, "Europe/Berlin"), zone(t, "America/New_York"), zone(t, "Australia/Lord_Howe"), // by half an hour
		zone(t, "America/Santiago"), // at midnight
		zone(t, "Asia/Kathmandu"), zone(t, "Pacific/Apia"),
	}
	starts := []time.Time{
		time.Date(2026, 3, 7, 0, 0, 0, 0, time.UTC), time.Date(2026, 10, 24, 0, 0, 0, 0, time.UTC),
		time.Date(2026, 4, 4, 0, 0, 0, 0, time.UTC), time.Date(2026, 9, 5, 0, 0, 0, 0, time.UTC),
		time.Date(2011, 12, 29, 0, 0, 0, 0, time.UTC), // Apia had no 30th
	}
	days := []string{"", "Mo-Fr ", "Sa-Su ", "day 5-8 ", "Fr ", "Mar,Oct "}
	for range 60 {
		from, to := rng.IntN(1440), rng.IntN(1440)
		if rng.IntN(3) == 0 { // within the hours that are left out or happen twice
			from, to = 60+rng.IntN(120), 60+rng.IntN(120)
		}
		if from == to {
			continue
		}
		begin, end := fmt.Sprintf("%02d:%02d", from/60, from%60), fmt.Sprintf("%02d:%02d", to/60, to%60)
		on, z, start := days[rng.IntN(len(days))], zones[rng.IntN(len(zones))], starts[rng.IntN(len(starts))]
		cal := one(t, on+begin+"-"+end, z)
		shown := func(at time.Time) bool {
			clock := at.In(z).Format("15:04")
			if begin < end {
				return dayIn(on, at.In(z)) && begin <= clock && clock < end
			}
			date := at.In(z)
			before := time.Date(date.Year(), date.Month(), date.Day()-1, 12, 0, 0, 0, time.UTC)
			return dayIn(on, date) && begin <= clock || dayIn(on, before) && clock < end
		}
		next, ok := cal.Next(start)
		for at := start; at.Before(start.AddDate(0, 0, 5)); at = at.Add(time.Minute) {
			got, _ := cal.At(at)
			if got != shown(at) {
				t.Fatalf("%s%s-%s in %s at %s: %v", on, begin, end, z, at, got)
			}
			if changed := at.After(start) && shown(at) != shown(at.Add(-time.Minute)); changed != (ok && next.Equal(at)) {
				t.Fatalf("%s%s-%s in %s at %s: changed %v, next %s", on, begin, end, z, at, changed, next)
			}
			if ok && next.Equal(at) {
				next, ok = cal.Next(at)
			}
		}
	}
}

func dayIn(on string, t time.Time) bool {
	switch on {
	case "Mo-Fr ":
		return t.Weekday() != time.Saturday && t.Weekday() != time.Sunday
	case "Sa-Su ":
		return t.Weekday() == time.Saturday || t.Weekday() == time.Sunday
	case "Fr ":
		return t.Weekday() == time.Friday
	case "day 5-8 ":
		return 5 <= t.Day() && t.Day() <= 8
	case "Mar,Oct ":
		return t.Month() == time.March || t.Month() == time.October
	}
	return true
}

func FuzzParse(f *testing.F) {
	for _, text := range []string{"Mo-Fr 08:00-18:00", "18:00-08:00 except 12-24..01-02, Sa", "day 1-7/2 Jan hour 3;2026-01-01", "except"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		w, err := calendar.Parse(text)
		if err != nil {
			if !errors.Is(err, cluster.ErrInvalid) {
				t.Fatal(err)
			}
			return
		}
		if again, err := calendar.Parse(w.String()); err != nil || again.String() != w.String() {
			t.Fatalf("%q is read back as %q, %v", w, again, err)
		}
		cal := one(t, text, time.UTC)
		at := time.Date(2026, 11, 21, 18, 0, 0, 0, time.UTC)
		before, _ := cal.At(at)
		if next, ok := cal.Next(at); ok {
			after, _ := cal.At(next)
			if last, _ := cal.At(next.Add(-1)); !next.After(at) || after == before || last != before {
				t.Fatalf("%q: no change at %s", text, next)
			}
		}
	})
}

func Example() {
	day, _ := calendar.Parse("Mo-Fr 08:00-18:00 except 12-24..01-02")
	cpus, _ := calendar.New(time.UTC, 400, calendar.Entry[int]{Name: "day", When: day, Value: 40})
	now := time.Date(2026, 11, 23, 9, 30, 0, 0, time.UTC)
	limit, window := cpus.At(now)
	until, _ := cpus.Next(now)
	fmt.Println(limit, window, until.Format(time.Kitchen))
	// Output: 40 day 6:00PM
}

func BenchmarkAt(b *testing.B) {
	cal := one(b, "Mo-Fr 18:00-08:00", zone(b, "Europe/Berlin"))
	now := time.Date(2026, 11, 21, 18, 0, 0, 0, time.UTC)
	for b.Loop() {
		cal.At(now)
	}
}

func BenchmarkNext(b *testing.B) {
	cal := one(b, "Mo-Fr 18:00-08:00", zone(b, "Europe/Berlin"))
	now := time.Date(2026, 11, 21, 18, 0, 0, 0, time.UTC)
	for b.Loop() {
		cal.Next(now)
	}
}

// Two windows with dates that must be compared for all of 400 years.
func BenchmarkNew(b *testing.B) {
	first, second := window(b, "day 1-7"), window(b, "day 8-14")
	for b.Loop() {
		if _, err := calendar.New(time.UTC, 0, calendar.Entry[int]{Name: "a", When: first}, calendar.Entry[int]{Name: "b", When: second}); err != nil {
			b.Fatal(err)
		}
	}
}
