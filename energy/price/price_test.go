package price_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/energy/price"
)

var start = time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)

// hourly is a series of one value an hour.
func hourly(t *testing.T, step time.Duration, values ...float64) *price.Series {
	t.Helper()
	var b strings.Builder
	b.WriteString("time,EUR/kWh\n")
	for i, v := range values {
		fmt.Fprintf(&b, "%s,%v\n", start.Add(time.Duration(i)*step).Format(time.RFC3339), v)
	}
	s, err := price.Parse(b.String())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestParse(t *testing.T) {
	s, err := price.Parse("\ufefftime , gCO2/kWh\r\n# the day when summer time ends\n2026-10-25T02:00+02:00, 1\n\n2026-10-25T02:00+01:00,-2.5\n2026-10-25T03:00+01:00,3e1\n")
	if err != nil {
		t.Fatal(err)
	}
	if s.Unit().String() != "gCO2/kWh" || s.Step() != time.Hour || fmt.Sprint(s.Values()) != "[1 -2.5 30]" {
		t.Errorf("%s in steps of %s: %v", s.Unit(), s.Step(), s.Values())
	}
	if want := time.Date(2026, 10, 25, 0, 0, 0, 0, time.UTC); !s.From().Equal(want) || !s.Until().Equal(want.Add(3*time.Hour)) {
		t.Errorf("from %s until %s", s.From(), s.Until())
	}
}

func TestWhatIsWrong(t *testing.T) {
	const head = "time,EUR/MWh\n2026-11-22T00:00Z,1\n2026-11-22T01:00Z,2\n"
	for _, c := range []struct{ name, text, field, want string }{
		{"nothing", "", "prices", "at least two lines"},
		{"a header alone", "time,EUR/MWh\n", "prices", "at least two lines"},
		{"one step", "time,EUR/MWh\n2026-11-22T00:00Z,1\n", "prices", "at least two lines"},
		{"no header", "2026-11-22T00:00Z,1\n", "line 1, first column", "time,EUR/MWh"},
		{"no unit", "time,price\n", "line 1.unit", "EUR/MWh"},
		{"an unknown unit", "time,EUR/horse\n", "line 1.unit", "EUR/MWh"},
		{"nothing counted", "time,/MWh\n", "line 1.unit", "EUR/MWh"},
		{"one column", "time\n", "line 1", "two columns"},
		{"three columns", head + "2026-11-22T02:00Z,1,2\n", "line 4", "two columns"},
		{"a decimal comma", head + "2026-11-22T02:00Z,1,5\n", "line 4", "two columns"},
		{"no zone", head + "2026-11-22T02:00,1\n", "line 4, time", "its zone"},
		{"another zone", head + "2026-11-22T02:00+01:00,1\n", "line 4, time", "later than the line before"},
		{"no such day", head + "2026-11-31T02:00Z,1\n", "line 4, time", "a date"},
		{"a gap", head + "\n2026-11-22T03:00Z,1\n", "line 5, time", "2026-11-22T02:00:00Z: steps are 1h0m0s long, and there is a gap"},
		{"a short step", head + "2026-11-22T01:30Z,1\n", "line 4, time", "2026-11-22T02:00:00Z: steps"},
		{"twice", head + "2026-11-22T01:00Z,1\n", "line 4, time", "later"},
		{"back", head + "2026-11-21T23:00Z,1\n", "line 4, time", "later"},
		{"steps of seconds", "time,EUR/MWh\n2026-11-22T00:00:00Z,1\n2026-11-22T00:00:10Z,1\n", "line 3, time", "a minute to a day"},
		{"steps of weeks", "time,EUR/MWh\n2026-11-22T00:00:00Z,1\n2026-11-29T00:00:00Z,1\n", "line 3, time", "a minute to a day"},
		{"NaN", head + "2026-11-22T02:00Z,NaN\n", "line 4, price", "a number"},
		{"infinity", head + "2026-11-22T02:00Z,-Inf\n", "line 4, price", "a number"},
		{"too much", head + "2026-11-22T02:00Z,1e300\n", "line 4, price", "a number"},
		{"no price", head + "2026-11-22T02:00Z,\n", "line 4, price", "a number"},
		{"words", head + "2026-11-22T02:00Z,cheap\n", "line 4, price", "a number"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := price.Parse(c.text)
			bad, ok := errors.AsType[*cluster.FieldError](err)
			if s != nil || !ok || bad.Field != c.field || !strings.Contains(bad.Want, c.want) {
				t.Errorf("%v: want field %q and %q", err, c.field, c.want)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	f.Add("time,EUR/MWh\n2026-11-22T00:00Z,1\n2026-11-22T01:00Z,2\n")
	f.Add("time,gCO2/kWh\n9999-12-31T23:59:59-12:00,1\n")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := price.Parse(text)
		if err != nil {
			if !errors.Is(err, cluster.ErrInvalid) {
				t.Errorf("%v", err)
			}
			return
		}
		if n := time.Duration(len(s.Values())); !s.Until().Equal(s.From().Add(n*s.Step())) || !s.Covers(s.From(), s.Until()) {
			t.Errorf("%d steps of %s from %s until %s", n, s.Step(), s.From(), s.Until())
		}
	})
}

func TestCost(t *testing.T) {
	s := hourly(t, time.Hour, 1, 3, -1)
	for _, c := range []struct {
		from, to time.Duration
		cost     float64
		known    bool
	}{
		{0, time.Hour, 2, true},
		{30 * time.Minute, 90 * time.Minute, 4, true},
		{0, 3 * time.Hour, 2, true},
		{2 * time.Hour, 2 * time.Hour, -2, true},
		{-time.Minute, time.Hour, 0, false},
		{2 * time.Hour, 3*time.Hour + 1, 0, false},
	} {
		cost, known := s.Cost(7.2e6, start.Add(c.from), start.Add(c.to))
		if math.Abs(cost-c.cost) > 1e-9 || known != c.known {
			t.Errorf("2 kWh from %s to %s: %v, %v", c.from, c.to, cost, known)
		}
	}
	if _, known := (*price.Series)(nil).Cost(1, start, start); known {
		t.Error("a nil series has a price")
	}
}

// TestStart compares the start with all starts on whole minutes.
func TestStart(t *testing.T) {
	for seed := range uint64(300) {
		chance := rand.New(rand.NewPCG(seed, 1))
		values := make([]float64, 2+chance.IntN(12))
		for i := range values {
			values[i] = float64(chance.IntN(9) - 2)
		}
		step := time.Duration(1+chance.IntN(4)) * 15 * time.Minute
		s := hourly(t, step, values...)
		now := start.Add(time.Duration(chance.IntN(90)) * time.Minute)
		latest := now.Add(time.Duration(chance.IntN(600)) * time.Minute)
		load := price.Load{Power: 1000, Duration: time.Duration(1+chance.IntN(200)) * time.Minute}
		least := float64(chance.IntN(3)) / 10
		got := s.CheapestStart(load, now, latest, least)

		e := load.Power.Over(load.Duration)
		once, known := s.Cost(e, now, now.Add(load.Duration))
		best := once
		for at := now; known && !at.After(latest); at = at.Add(time.Minute) {
			if c, known := s.Cost(e, at, at.Add(load.Duration)); known {
				best = min(best, c)
			}
		}
		if once-best < least*max(math.Abs(once), math.Abs(best))-1e-9 {
			best = once
		}
		switch {
		case got.Unknown == known || got.At.Before(now) || got.At.After(latest):
			t.Errorf("seed %d: %+v, between %s and %s", seed, got, now, latest)
		case !known && got.Waits(now):
			t.Errorf("seed %d: waits for an unknown price", seed)
		case known && (math.Abs(got.Cost-best) > 1e-6 || math.Abs(got.ImmediateCost-once) > 1e-6):
			t.Errorf("seed %d: %v of %v, want %v of %v", seed, got.Cost, got.ImmediateCost, best, once)
		case known && got.Waits(now) && !(got.Cost < got.ImmediateCost):
			t.Errorf("seed %d: waits for nothing: %+v", seed, got)
		}
	}
}

// A load that waits for its start keeps it: later decisions never postpone it.
func TestStartIsStable(t *testing.T) {
	s := hourly(t, time.Hour, 5, 4, 6, 1, 1, 2)
	load := price.Load{Power: 100, Duration: time.Hour}
	latest := start.Add(5 * time.Hour)
	for now := start; !now.After(start.Add(3 * time.Hour)); now = now.Add(7 * time.Minute) {
		if c := s.CheapestStart(load, now, latest, 0.05); !c.At.Equal(start.Add(3*time.Hour)) && now.Before(start.Add(3*time.Hour)) {
			t.Errorf("at %s the start is %s", now, c.At)
		}
	}
	if c := s.CheapestStart(load, start.Add(3*time.Hour), latest, 0.05); c.Waits(start.Add(3 * time.Hour)) {
		t.Errorf("the hour has come, and it waits until %s", c.At)
	}
}

func TestSaves(t *testing.T) {
	for _, c := range []struct{ costs, once, want float64 }{
		{1, 4, 0.75}, {4, 4, 0}, {0, 4, 1}, {-4, 4, 2}, {-4, -2, 0.5}, {0, 0, 0},
	} {
		choice := price.Choice{Cost: c.costs, ImmediateCost: c.once}
		if got := choice.Saves(); got != c.want {
			t.Errorf("%v instead of %v saves %v, want %v", c.costs, c.once, got, c.want)
		}
	}
}
