package cluster

import (
	"fmt"
	"strconv"
	"strings"
)

// Rate is the bandwidth of a link, in bytes per second. It is written in bits: 1 Gbit is 10⁹ bits.
type Rate int64

// bits are the units of rates, the largest first.
var bits = []struct {
	word string
	size Rate // bytes per second
}{{"Gbit", 125_000_000}, {"Mbit", 125_000}, {"kbit", 125}}

// String prints "10 Gbit/s", "1.5 Gbit/s".
func (r Rate) String() string {
	for _, b := range bits {
		if r >= b.size {
			return strings.TrimSuffix(strconv.FormatFloat(float64(r)/float64(b.size), 'f', 1, 64), ".0") + " " + b.word + "/s"
		}
	}
	return fmt.Sprintf("%d B/s", int64(r))
}

// mostRate is far above any link; sums of rates cannot overflow.
const mostRate = 1e15

// ParseRate parses a rate per second: "10Gbit", "2.5 Gbit/s", "100Mbit", or in bytes "80MiB".
func ParseRate(s string) (Rate, error) {
	text := strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(s), "/s"))
	units := map[string]Rate{"MiB": 1 << 20, "GiB": 1 << 30}
	for _, b := range bits {
		units[b.word] = b.size
	}
	for word, size := range units {
		digits, ok := strings.CutSuffix(text, word)
		if !ok {
			continue
		}
		f, err := strconv.ParseFloat(strings.TrimSpace(digits), 64)
		if err == nil && f >= 0 && f*float64(size) <= mostRate {
			return Rate(f*float64(size) + 0.5), nil
		}
	}
	if text == "0" {
		return 0, nil
	}
	return 0, BadField("rate", s, `a rate per second, such as "10Gbit", "100Mbit" or "80MiB", or 0`)
}
