package cluster

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Seconds is a duration that JSON has as a number of seconds. Reading it saturates.
type Seconds time.Duration

// String is the number of seconds: 1500 milliseconds are "1.5".
func (s Seconds) String() string {
	whole, rest := time.Duration(s)/time.Second, time.Duration(s)%time.Second
	if rest == 0 {
		return strconv.FormatInt(int64(whole), 10)
	}
	sign := ""
	if s < 0 {
		sign, whole, rest = "-", -whole, -rest
	}
	return strings.TrimRight(fmt.Sprintf("%s%d.%09d", sign, whole, rest), "0")
}

// MarshalJSON writes the number of seconds.
func (s Seconds) MarshalJSON() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalJSON reads a number of seconds; null changes nothing.
func (s *Seconds) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		return nil
	}
	return s.UnmarshalText(b)
}

// UnmarshalText reads a number of seconds.
func (s *Seconds) UnmarshalText(b []byte) error {
	if d, err := time.ParseDuration(string(b) + "s"); err == nil {
		*s = Seconds(d)
		return nil
	}
	f, err := strconv.ParseFloat(string(b), 64)
	if err != nil && !math.IsInf(f, 0) || math.IsNaN(f) {
		return BadField("seconds", string(b), "a number of seconds, such as 600")
	}
	f *= float64(time.Second)
	switch {
	case f >= math.MaxInt64:
		*s = math.MaxInt64
	case f <= math.MinInt64:
		*s = math.MinInt64
	default:
		*s = Seconds(f)
	}
	return nil
}
