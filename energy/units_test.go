package energy_test

import (
	"errors"
	"testing"

	"vjob/cluster"
	"vjob/energy"
)

func TestParseWatts(t *testing.T) {
	for text, want := range map[string]energy.Watts{
		"350W": 350, "12kW": 12_000, "1.5 MW": 1_500_000, "0": 0, "80": 80, " 2.25kW ": 2250, "0W": 0,
	} {
		if got, err := energy.ParseWatts(text); err != nil || got != want {
			t.Errorf("%q: %g, %v; want %g", text, float64(got), err, float64(want))
		}
	}
	for _, text := range []string{"", "W", "-1W", "12 kWh", "NaN", "InfW", "12K", "1mW", "1,5kW", "0x10W x"} {
		if got, err := energy.ParseWatts(text); !errors.Is(err, cluster.ErrInvalid) {
			t.Errorf("%q is %g, %v", text, float64(got), err)
		}
	}
}

func TestParseJoules(t *testing.T) {
	for text, want := range map[string]energy.Joules{"90kJ": 90_000, "25Wh": 90_000, "1.5kWh": 5.4e6, "7": 7, "0J": 0} {
		if got, err := energy.ParseJoules(text); err != nil || got != want {
			t.Errorf("%q: %g, %v; want %g", text, float64(got), err, float64(want))
		}
	}
	for _, text := range []string{"", "J", "-1J", "5W", "nanJ", "1e999J"} {
		if got, err := energy.ParseJoules(text); !errors.Is(err, cluster.ErrInvalid) {
			t.Errorf("%q is %g, %v", text, float64(got), err)
		}
	}
}

func TestWattsInWords(t *testing.T) {
	for w, want := range map[energy.Watts]string{
		0: "0 W", 9999: "9999 W", 12_000: "12 kW", 12_345.6: "12.346 kW", 80.25: "80.2 W", 3_200_000: "3.2 MW", -50: "-50 W",
	} {
		if got := w.String(); got != want {
			t.Errorf("%g is %q, want %q", float64(w), got, want)
		}
	}
}

// Energy is formatted in the unit that reads best.
func TestJoulesText(t *testing.T) {
	for joules, want := range map[energy.Joules]string{
		0: "0 J", 120: "120 J", 129: "129 J", 359: "359 J", 360: "0.1 Wh", 45_000: "12.5 Wh", 359_900: "100 Wh", 360_000: "0.1 kWh", 1_476_000: "0.41 kWh", 3.6e9: "1000 kWh", -720_000: "-0.2 kWh",
	} {
		if got := joules.Text(); got != want {
			t.Errorf("%g J is %q, want %q", float64(joules), got, want)
		}
	}
}
