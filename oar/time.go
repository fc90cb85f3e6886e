package oar

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// timeText is a moment as it was written: a day, a time of day, or both.
type timeText struct {
	year, month, day     int
	hour, minute, second int
	hasDay, hasClock     bool
}

// maxTimeText is the maximal length of a date in bytes.
const maxTimeText = 100

// parseTimeText parses "YYYY-MM-DD", "hh[:mm[:ss]]", or both separated by blanks. The error says
// which field is out of range.
func parseTimeText(text string) (r timeText, err error) {
	day, words := "", strings.Fields(text)
	if len(words) > 0 && strings.Contains(words[0], "-") {
		day, words = words[0], words[1:]
	}
	clock := strings.Join(words, " ")
	r.hasDay, r.hasClock = day != "", clock != ""
	switch {
	case !r.hasDay && !r.hasClock, len(text) > maxTimeText,
		r.hasDay && (strings.Index(day, "-") != len("YYYY") || parseFields(day, "-", &r.year, &r.month, &r.day) < 3),
		r.hasClock && parseFields(clock, ":", &r.hour, &r.minute, &r.second) == 0:
		return timeText{}, fmt.Errorf("want YYYY-MM-DD hh:mm:ss")
	case r.hasDay && (r.month < 1 || r.month > 12):
		return r, fmt.Errorf("there is no month %d", r.month)
	case r.hasDay && (r.day < 1 || r.day > daysIn(r.year, r.month)):
		return r, fmt.Errorf("%s %d has no day %d", time.Month(r.month), r.year, r.day)
	case r.hour > 23:
		return r, fmt.Errorf("there is no hour %d: want 0 to 23", r.hour)
	case r.minute > 59:
		return r, fmt.Errorf("there is no minute %d: want 0 to 59", r.minute)
	case r.second > 59:
		return r, fmt.Errorf("there is no second %d: want 0 to 59", r.second)
	}
	return r, nil
}

// parseFields parses fields of one or two digits, of which the first may be a year. It returns the
// number of fields, or 0 if the text has another form.
func parseFields(text, between string, into ...*int) int {
	fields := strings.Split(text, between)
	if len(fields) > len(into) {
		return 0
	}
	for i, f := range fields {
		n, err := strconv.Atoi(f)
		if err != nil || strings.Trim(f, "0123456789") != "" || len(f) > 2 && (i > 0 || between != "-") {
			return 0
		}
		*into[i] = n
	}
	return len(fields)
}

func daysIn(year, month int) int {
	return time.Date(year, time.Month(month)+1, 0, 0, 0, 0, 0, time.UTC).Day()
}

// on sets the day to that of now, unless the text has a day.
func (r timeText) on(now time.Time) timeText {
	if !r.hasDay {
		year, month, day := now.Date()
		r.year, r.month, r.day, r.hasDay = year, int(month), day, true
	}
	return r
}

// nextDay returns the same time on the next day.
func (r timeText) nextDay() timeText {
	year, month, day := time.Date(r.year, time.Month(r.month), r.day+1, 0, 0, 0, 0, time.UTC).Date()
	r.year, r.month, r.day = year, int(month), day
	return r
}

// in returns the instant at which the clocks of a zone show the time. If there are two, it is the
// first, with a warning. If the time is skipped, the error tells how the clocks change.
func (r timeText) in(zone *time.Location) (at time.Time, warning string, err error) {
	wall := time.Date(r.year, time.Month(r.month), r.day, r.hour, r.minute, r.second, 0, time.UTC)
	found := instants(wall, zone)
	const layout = "2006-01-02 15:04:05"
	switch len(found) {
	case 0:
		before, after := gap(wall, zone)
		return at, "", fmt.Errorf("%s does not exist in %s: the clocks go forward from %s to %s",
			wall.Format(layout), zone, before.Format("15:04:05"), after.Format("15:04:05"))
	case 1:
		return found[0], "", nil
	default:
		return found[0], fmt.Sprintf("%s comes twice in %s, where the clocks go back: this is the first, %s; the second is %s",
			wall.Format(layout), zone, clockUTC(found[0]), clockUTC(found[1])), nil
	}
}

func clockUTC(t time.Time) string { return t.UTC().Format("15:04:05 UTC") }

// instants returns the instants at which the clocks of a zone show wall, in order: none in a gap,
// two in an overlap.
func instants(wall time.Time, zone *time.Location) (list []time.Time) {
	for _, offset := range offsets(wall, zone) {
		at := wall.Add(-offset).In(zone)
		if _, now := at.Zone(); time.Duration(now)*time.Second == offset {
			list = append(list, at)
		}
	}
	return list
}

// offsets returns the offsets of a zone around a time, in order. Where clocks go back, the offset
// before the change gives the earlier instant.
func offsets(wall time.Time, zone *time.Location) (list []time.Duration) {
	const around = 26 * time.Hour // more than any offset from UTC, less than the time between two changes
	for _, at := range []time.Time{wall.Add(-around), wall, wall.Add(around)} {
		_, offset := at.In(zone).Zone()
		if d := time.Duration(offset) * time.Second; !slices.Contains(list, d) {
			list = append(list, d)
		}
	}
	return list
}

// gap returns what the clocks of a zone show before and after they skip wall.
func gap(wall time.Time, zone *time.Location) (before, after time.Time) {
	_, earlier := wall.Add(-26 * time.Hour).In(zone).Zone()
	begin := wall.Add(-time.Duration(earlier) * time.Second).In(zone) // after the change, by the offset before it
	change, _ := begin.ZoneBounds()
	if change.IsZero() {
		return wall, begin
	}
	return change.UTC().Add(time.Duration(earlier) * time.Second), change
}

// ParseTime parses YYYY-MM-DD with an optional hh[:mm[:ss]] in a zone: the form of dates in the job
// types postpone, deadline and expire, and in oarstat --accounting and --gantt. The warning, if any,
// is about a time that occurs twice.
func ParseTime(text string, zone *time.Location) (at time.Time, warning string, err error) {
	r, err := parseTimeText(text)
	if err == nil && !r.hasDay {
		err = fmt.Errorf("want YYYY-MM-DD, or YYYY-MM-DD hh:mm:ss")
	}
	if err != nil {
		return at, "", err
	}
	return r.in(zone)
}

// MaxWalltime is the longest walltime, about 290 years.
const MaxWalltime = time.Duration(1<<63-1) / time.Second * time.Second

// manyHours is the limit above which a single number probably means seconds.
const manyHours = 30 * 24 * time.Hour

// ParseWalltime parses hours[:minutes[:seconds]], each of any size: "2", "0:90", "1:30:00". The hours
// come first: "90" is 90 hours. As in OAR, an empty field is 0, and text after the seconds, or after
// a | within a field, is ignored; the warning says so. The error states the fix.
func ParseWalltime(text string) (d time.Duration, warning string, err error) {
	fields := strings.Split(text, ":")
	if strings.Trim(text, ":") == "" {
		return 0, "", fmt.Errorf("want hours, hours:minutes or hours:minutes:seconds, such as 2 or 1:30:00")
	}
	if len(fields) > 3 {
		warning = "what follows the seconds is not read"
		fields = fields[:3]
	}
	units := []time.Duration{time.Hour, time.Minute, time.Second}
	for i, f := range fields {
		digits, rest, cut := strings.Cut(f, "|")
		if cut {
			warning = fmt.Sprintf("%q is not read", "|"+rest)
		}
		if digits == "" {
			warning = firstNonEmpty(warning, "an empty field is 0")
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
		warning = firstNonEmpty(warning, "a number alone is hours")
	}
	return d, warning, nil
}

// FormatWalltime formats a walltime as hours:minutes:seconds without leading zeros, as in OAR's
// messages: 1:0:0.
func FormatWalltime(d time.Duration) string {
	s := int64(d / time.Second)
	return fmt.Sprintf("%d:%d:%d", s/3600, s/60%60, s%60)
}

func firstNonEmpty(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

func onlyDigits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}
