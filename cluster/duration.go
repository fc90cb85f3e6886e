package cluster

import (
	"strconv"
	"strings"
	"time"
)

// ParseDuration reads a duration of at least 0 in Go's notation or in days: "90d".
func ParseDuration(s string) (time.Duration, error) {
	bad := BadField("duration", s, `a time, such as "500ms", "30s", "10m", "1h30m" or "90d"`)
	if days, ok := strings.CutSuffix(s, "d"); ok {
		n, err := strconv.ParseFloat(days, 64)
		if err != nil || !(n >= 0 && n < 100_000) {
			return 0, bad
		}
		return time.Duration(n * 24 * float64(time.Hour)), nil
	}
	d, err := time.ParseDuration(s)
	if err != nil || d < 0 {
		return 0, bad
	}
	return d, nil
}
