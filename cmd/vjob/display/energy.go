package display

import (
	"fmt"

	"vjob/energy"
)

// KWh prints energy: "0.042 kWh", "31.7 kWh".
func KWh(joules float64) string {
	v := joules / 3.6e6
	switch {
	case v < 1:
		return fmt.Sprintf("%.3f kWh", v)
	case v < 100:
		return fmt.Sprintf("%.1f kWh", v)
	default:
		return fmt.Sprintf("%.0f kWh", v)
	}
}

// Watts is power for people.
func Watts(w float64) string { return energy.Watts(w).String() }
