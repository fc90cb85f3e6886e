package main

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"vjob/api/wire"
	"vjob/cluster"
	"vjob/settings"
)

// maxWalltime is ten years.
const maxWalltime = 10 * 365 * 24 * time.Hour

// parseWalltime reads "1:00:00" (hours, minutes, seconds), "90:00" (minutes,
// seconds), or Go's notation and days: "90m", "1h30m", "2d". The field is for the
// error.
func parseWalltime(field, s string) (time.Duration, error) {
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
		if d, err = settings.ParseDuration(s); err != nil {
			return 0, bad
		}
	}
	if d < time.Second || d > maxWalltime || d%time.Second != 0 {
		return 0, bad
	}
	return d, nil
}

// parseCPU reads processors that are more than none.
func parseCPU(field, s string) (int64, error) {
	n, err := cluster.ParseCPU(s)
	if err != nil {
		return 0, renamed(err, field)
	}
	if n < 1 {
		return 0, cluster.BadField(field, s, "more than 0 processors")
	}
	return int64(n), nil
}

// parseMemory reads an amount of memory that is more than none.
func parseMemory(field, s string) (int64, error) {
	n, err := cluster.ParseMiB(s)
	if err != nil {
		return 0, renamed(err, field)
	}
	if n < 1 {
		return 0, cluster.BadField(field, s, "more than 0, such as 512MiB")
	}
	return int64(n), nil
}

// renamed is an error about a value, told of the field that it was given in.
func renamed(err error, field string) error {
	var f *cluster.FieldError
	if !errors.As(err, &f) {
		return err
	}
	return &cluster.FieldError{Field: field, Value: f.Value, Want: f.Want}
}

// parseSteps reads the work of a simulated guest: "2m@1,1m@0.5" is two minutes of
// one processor, then one minute of half of one.
func parseSteps(field, s string) ([]wire.Step, error) {
	var steps []wire.Step
	for i, text := range strings.Split(s, ",") {
		name := fmt.Sprintf("%s, part %d", field, i+1)
		length, need, ok := strings.Cut(strings.TrimSpace(text), "@")
		d, err := settings.ParseDuration(length)
		if !ok || err != nil {
			return nil, cluster.BadField(name, text, "a time and processors, such as 2m@1 or 30s@0.5")
		}
		n, err := cluster.ParseCPU(need)
		if err != nil {
			return nil, renamed(err, name)
		}
		steps = append(steps, wire.Step{CPUMilli: int64(n), Seconds: math.Round(d.Seconds()*1e6) / 1e6})
	}
	return steps, nil
}

// parseEnv reads NAME=VALUE pairs.
func parseEnv(pairs []string) (map[string]string, error) {
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
