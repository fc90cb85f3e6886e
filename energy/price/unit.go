package price

import (
	"strings"

	"vjob/cluster"
	"vjob/energy"
	"vjob/internal/pattern"
)

// Unit is a currency and an amount of energy: "EUR/MWh", "gCO2/kWh".
type Unit struct {
	Of  string // EUR, gCO2, …
	Per string // Wh, kWh, MWh or GWh
}

var (
	currency = pattern.New(`^[A-Za-z][A-Za-z0-9]{0,15}$`)
	per      = map[string]energy.Joules{"Wh": 3600, "kWh": 3.6e6, "MWh": 3.6e9, "GWh": 3.6e12}
)

// parseUnit reads "EUR/MWh".
func parseUnit(s string) (Unit, error) {
	of, unit, _ := strings.Cut(strings.TrimSpace(s), "/")
	if _, known := per[unit]; !known || !currency().MatchString(of) {
		return Unit{}, cluster.BadField("unit", s, "a unit for Wh, kWh, MWh or GWh, such as EUR/MWh or gCO2/kWh")
	}
	return Unit{of, unit}, nil
}

// String formats the unit as it is parsed.
func (u Unit) String() string {
	if u == (Unit{}) {
		return ""
	}
	return u.Of + "/" + u.Per
}

// Amount returns an energy in units of Per.
func (u Unit) Amount(e energy.Joules) float64 { return float64(e / per[u.Per]) }
