package date

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// MaxWalltime is the longest walltime that can be counted, some 290 years.
const MaxWalltime = time.Duration(1<<63-1) / time.Second * time.Second

// manyHours is more than anybody means who writes one number; seconds are meant.
const manyHours = 30 * 24 * time.Hour

// ParseWalltime reads hours[:minutes[:seconds]], each of any size: "2", "0:90",
// "1:30:00". The hours come first: "90" is 90 hours. As in OAR, an empty field is 0,
// and so is what follows the seconds, or a | within a field; odd says in words what
// is taken otherwise than it was perhaps meant. The error says what would be right.
func ParseWalltime(text string) (d time.Duration, odd string, err error) {
	fields := strings.Split(text, ":")
	if strings.Trim(text, ":") == "" {
		return 0, "", fmt.Errorf("want hours, hours:minutes or hours:minutes:seconds, such as 2 or 1:30:00")
	}
	if len(fields) > 3 {
		odd = "what follows the seconds is not read"
		fields = fields[:3]
	}
	units := []time.Duration{time.Hour, time.Minute, time.Second}
	for i, f := range fields {
		digits, rest, cut := strings.Cut(f, "|")
		if cut {
			odd = fmt.Sprintf("%q is not read", "|"+rest)
		}
		if digits == "" {
			odd = first(odd, "an empty field is 0")
			continue
		}
		n, err := strconv.ParseUint(digits, 10, 63)
		if err != nil && !onlyDigits(digits) {
			return 0, "", fmt.Errorf("want hours, hours:minutes or hours:minutes:seconds, such as 2 or 1:30:00")
		}
		if err != nil || time.Duration(n) > (MaxWalltime-d)/units[i] {
			return 0, "", fmt.Errorf("want less than %d hours", int64(MaxWalltime/time.Hour))
		}
		d += time.Duration(n) * units[i]
	}
	if len(fields) == 1 && d > manyHours {
		odd = first(odd, "a number alone is hours")
	}
	return d, odd, nil
}

// FormatWalltime is hours:minutes:seconds without zeros in front, as OAR prints it
// in the message of a job: 1:0:0.
func FormatWalltime(d time.Duration) string {
	s := int64(d / time.Second)
	return fmt.Sprintf("%d:%d:%d", s/3600, s/60%60, s%60)
}

func first(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

func onlyDigits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}
