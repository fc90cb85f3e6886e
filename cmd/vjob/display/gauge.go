package display

import "strings"

// Gauge is a bar of a width that is filled to a share.
func Gauge(share float64, width int) string {
	full := min(width, max(0, int(share*float64(width)+0.5)))
	return strings.Repeat("█", full) + strings.Repeat("░", width-full)
}
