package cli

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"vjob/api/wire"
	"vjob/cluster"
)

// maxWalltime is ten years.
const maxWalltime = 10 * 365 * 24 * time.Hour

// ParseWalltime reads "1:00:00" (hours, minutes, seconds), "90:00" (minutes,
// seconds), or Go's notation and days: "90m", "1h30m", "2d". The field is for the
// error.
func ParseWalltime(field, s string) (time.Duration, error) {
	bad := cluster.BadField(field, s, "hours:minutes:seconds such as 1:00:00, or a time such as 90m, of at least 1 second")
	var d time.Duration
	if parts := strings.Split(s, ":"); len(parts) == 2 || len(parts) == 3 {
		for i, p := range parts {
			n, err := strconv.ParseUint(p, 10, 31)
			if err != nil || i > 0 && (n > 59 || len(p) != 2) {
				return 0, bad
			}
			d = d*60 + time.Duration(n)*time.Second
		}
	} else {
		var err error
		if d, err = cluster.ParseDuration(s); err != nil {
			return 0, bad
		}
	}
	if d < time.Second || d > maxWalltime || d%time.Second != 0 {
		return 0, bad
	}
	return d, nil
}

// ParseCPU reads processors that are more than none.
func ParseCPU(field, s string) (int64, error) {
	n, err := cluster.ParseCPU(s)
	if err != nil {
		return 0, cluster.Renamed(field, err)
	}
	if n < 1 {
		return 0, cluster.BadField(field, s, "more than 0 processors")
	}
	return int64(n), nil
}

// ParseMemory reads an amount of memory that is more than none.
func ParseMemory(field, s string) (int64, error) {
	n, err := cluster.ParseMiB(s)
	if err != nil {
		return 0, cluster.Renamed(field, err)
	}
	if n < 1 {
		return 0, cluster.BadField(field, s, "more than 0, such as 512MiB")
	}
	return int64(n), nil
}

// ParseSteps reads the work of a simulated guest: "2m@1,1m@0.5" is two minutes of
// one processor, then one minute of half of one.
func ParseSteps(field, s string) ([]wire.Step, error) {
	var steps []wire.Step
	for i, text := range strings.Split(s, ",") {
		name := fmt.Sprintf("%s, part %d", field, i+1)
		length, need, ok := strings.Cut(strings.TrimSpace(text), "@")
		d, err := cluster.ParseDuration(length)
		if !ok || err != nil {
			return nil, cluster.BadField(name, text, "a time and processors, such as 2m@1 or 30s@0.5")
		}
		n, err := cluster.ParseCPU(need)
		if err != nil {
			return nil, cluster.Renamed(name, err)
		}
		steps = append(steps, wire.Step{CPUMilli: int64(n), Seconds: math.Round(d.Seconds()*1e6) / 1e6})
	}
	return steps, nil
}

// ParseEnv reads NAME=VALUE pairs.
func ParseEnv(pairs []string) (map[string]string, error) {
	if len(pairs) == 0 {
		return nil, nil
	}
	env := map[string]string{}
	for _, p := range pairs {
		name, value, ok := strings.Cut(p, "=")
		if !ok || name == "" {
			return nil, cluster.BadField("--env", p, "NAME=VALUE")
		}
		env[name] = value
	}
	return env, nil
}

// ParseMomentFlag reads the moment that a flag gives; without one what was said before stays.
func ParseMomentFlag(flag, text string, before *time.Time, now time.Time) (*time.Time, error) {
	if text == "" {
		return before, nil
	}
	t, err := ParseMoment(flag, text, now)
	return &t, err
}

// ParseMoment reads an instant: a date and a time of where the user is, "today 18:00",
// "tomorrow 08:00", a time alone for the next such, or "+6h" from now.
func ParseMoment(field, text string, now time.Time) (time.Time, error) {
	bad := cluster.BadField(field, text, "a date and a time such as 2026-12-01 08:00, tomorrow 08:00, 08:00 for the next such, or +6h")
	if rest, ok := strings.CutPrefix(text, "+"); ok {
		d, err := ParseWalltime(field, rest)
		if err != nil {
			return time.Time{}, bad
		}
		return now.Add(d), nil
	}
	for _, layout := range layouts {
		if t, err := time.ParseInLocation(layout, text, now.Location()); err == nil {
			return t, nil
		}
	}
	days, clock := -1, text
	for word, n := range map[string]int{"today ": 0, "tomorrow ": 1} {
		if rest, ok := strings.CutPrefix(text, word); ok {
			days, clock = n, rest
		}
	}
	at, err := time.Parse("15:04", clock)
	if err != nil {
		return time.Time{}, bad
	}
	next := time.Date(now.Year(), now.Month(), now.Day()+max(days, 0), at.Hour(), at.Minute(), 0, 0, now.Location())
	if days < 0 && !next.After(now) {
		next = next.AddDate(0, 0, 1)
	}
	return next, nil
}

// layouts are the ways to write a date and a time.
var layouts = []string{time.RFC3339, "2006-01-02 15:04:05", "2006-01-02 15:04", "2006-01-02T15:04:05", "2006-01-02T15:04"}
