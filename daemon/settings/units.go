package settings

import (
	"strconv"
	"strings"
	"time"

	"vjob/cluster"
)

// Duration is a time.Duration that is written "30s" or "90d".
type Duration struct{ time.Duration }

// UnmarshalText reads a duration of at least 0.
func (d *Duration) UnmarshalText(b []byte) (err error) {
	d.Duration, err = cluster.ParseDuration(string(b))
	return err
}

// MarshalText writes the duration.
func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// Age is the age at which something is deleted; it is written "90d", or
// "never" for 0.
type Age struct{ time.Duration }

const never = "never"

// UnmarshalText parses an age.
func (a *Age) UnmarshalText(b []byte) error {
	if string(b) == never {
		a.Duration = 0
		return nil
	}
	d, err := cluster.ParseDuration(string(b))
	if err != nil {
		return cluster.BadField("age", string(b), `a time, such as "90d" or "36h", or "never"`)
	}
	a.Duration = d
	return nil
}

// String returns the age, in days if it is a whole number of days.
func (a Age) String() string {
	const day = 24 * time.Hour
	switch {
	case a.Duration == 0:
		return never
	case a.Duration%day == 0:
		return strconv.FormatInt(int64(a.Duration/day), 10) + "d"
	}
	return a.Duration.String()
}

// MarshalText writes the age.
func (a Age) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

// Size is an amount of memory that is written "512MiB".
type Size struct{ cluster.MiB }

// UnmarshalText reads a size.
func (s *Size) UnmarshalText(b []byte) (err error) {
	s.MiB, err = cluster.ParseMiB(string(b))
	return err
}

// MarshalText writes the size exactly.
func (s Size) MarshalText() ([]byte, error) {
	if s.MiB%cluster.GiB == 0 && s.MiB != 0 {
		return []byte(strconv.FormatInt(int64(s.MiB/cluster.GiB), 10) + "GiB"), nil
	}
	return []byte(strconv.FormatInt(int64(s.MiB), 10) + "MiB"), nil
}

// CPU is a number of processors that is written "2" or "0.5".
type CPU struct{ cluster.MilliCPU }

// UnmarshalText reads a number of processors.
func (c *CPU) UnmarshalText(b []byte) (err error) {
	c.MilliCPU, err = cluster.ParseCPU(string(b))
	return err
}

// MarshalText writes the number of processors.
func (c CPU) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// Rate is the bandwidth of a link, written "10Gbit".
type Rate struct{ cluster.Rate }

// UnmarshalText reads a rate.
func (r *Rate) UnmarshalText(b []byte) (err error) {
	r.Rate, err = cluster.ParseRate(string(b))
	return err
}

// MarshalText writes the rate.
func (r Rate) MarshalText() ([]byte, error) {
	if r.Rate == 0 {
		return []byte("0"), nil
	}
	return []byte(r.String()), nil
}

// ExpandRange lists the names of a range: n[08-11] is n08, n09, n10, n11. A name
// without a range stays as it is. For a range that is invalid or too long it returns nil.
func ExpandRange(name string) []string {
	if !strings.Contains(name, "[") {
		return []string{name}
	}
	r, ok := parseRange(name)
	if !ok || r.tooLong() {
		return nil
	}
	names := make([]string, 0, r.to-r.from+1)
	for i := r.from; i <= r.to; i++ {
		digits := strconv.Itoa(i)
		if pad := r.width - len(digits); pad > 0 {
			digits = strings.Repeat("0", pad) + digits
		}
		names = append(names, r.head+digits+r.tail)
	}
	return names
}

// nameRange is a range of names, such as n[08-11].
type nameRange struct {
	head, tail      string
	from, to, width int
}

func parseRange(name string) (r nameRange, ok bool) {
	head, rest, _ := strings.Cut(name, "[")
	inner, tail, closed := strings.Cut(rest, "]")
	first, last, dashed := strings.Cut(inner, "-")
	from, err1 := strconv.Atoi(first)
	to, err2 := strconv.Atoi(last)
	return nameRange{head, tail, from, to, len(first)},
		closed && dashed && err1 == nil && err2 == nil && from >= 0 && to >= from && !strings.ContainsAny(tail, "[]")
}

// tooLong reports whether a cluster cannot have so many nodes.
func (r *nameRange) tooLong() bool { return r.to-r.from >= maxNodes }
