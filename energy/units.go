package energy

import (
	"math"
	"strconv"
	"strings"

	"vjob/cluster"
)

// prefixes of units; of a unit, the longer ones first.
var prefixes = []struct {
	mark  string
	times float64
}{{"k", 1e3}, {"M", 1e6}, {"", 1}}

// ParseWatts reads power, 0 or more: "350W", "12kW", "1.5MW". A number alone is watts.
func ParseWatts(s string) (Watts, error) {
	v, ok := quantity(s, "W")
	if !ok {
		v, ok = number(s)
	}
	if !ok {
		return 0, cluster.BadField("power", s, `watts, such as "350W" or "12kW"`)
	}
	return Watts(v), nil
}

// ParseJoules reads energy, 0 or more: "90kJ" or "25Wh". A number alone is joules.
func ParseJoules(s string) (Joules, error) {
	if v, ok := quantity(s, "Wh"); ok {
		return Joules(3600 * v), nil
	}
	v, ok := quantity(s, "J")
	if !ok {
		v, ok = number(s)
	}
	if !ok {
		return 0, cluster.BadField("energy", s, `joules or watt-hours, such as "90kJ" or "25Wh"`)
	}
	return Joules(v), nil
}

// quantity reads a number with a unit.
func quantity(s, unit string) (float64, bool) {
	text, ok := strings.CutSuffix(strings.TrimSpace(s), unit)
	if !ok {
		return 0, false
	}
	for _, p := range prefixes {
		if head, has := strings.CutSuffix(text, p.mark); has {
			v, ok := number(head)
			return v * p.times, ok
		}
	}
	return 0, false
}

func number(s string) (float64, bool) {
	v, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	return v, err == nil && v >= 0 && !math.IsInf(v, 0)
}

// Text formats energy as "0.41 kWh", "12.5 Wh" or "129 J", depending on its amount.
func (j Joules) Text() string {
	const wattHour, few, many = 3600, 0.1, 100
	switch wh := float64(j) / wattHour; {
	case math.Abs(wh) >= many:
		return trimmed(wh/1000, 2) + " kWh"
	case math.Abs(wh) >= few:
		return trimmed(wh, 1) + " Wh"
	default:
		return strconv.FormatFloat(float64(j), 'f', 0, 64) + " J"
	}
}

// String formats power as "350 W", "12.5 kW" or "3.2 MW", with up to three decimals.
func (w Watts) String() string {
	switch v := float64(w); {
	case math.Abs(v) >= 1e6:
		return trimmed(v/1e6, 3) + " MW"
	case math.Abs(v) >= 1e4:
		return trimmed(v/1e3, 3) + " kW"
	default:
		return trimmed(v, 1) + " W"
	}
}

// trimmed formats a number with at most the given decimals.
func trimmed(v float64, decimals int) string {
	s := strconv.FormatFloat(v, 'f', decimals, 64)
	return strings.TrimRight(strings.TrimRight(s, "0"), ".")
}
