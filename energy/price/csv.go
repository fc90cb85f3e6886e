package price

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"vjob/cluster"
)

// maxSteps limits a series: half a year in quarters of an hour.
const maxSteps = 20_000

// layouts are the formats of times. All have a zone, since an hour of local time occurs twice
// a year.
var layouts = []string{time.RFC3339, "2006-01-02T15:04Z07:00", "2006-01-02 15:04:05Z07:00", "2006-01-02 15:04Z07:00"}

// Parse reads a series from CSV: a line "time,EUR/MWh", then for each step when it begins
// and its price. Steps are of equal length and follow one another without a gap. The error
// is a [cluster.FieldError]; its field has the line, from 1, and the column.
//
//	time,EUR/MWh
//	2026-11-22T00:00+01:00,61.3
//	2026-11-22T01:00+01:00,55.08
func Parse(text string) (*Series, error) {
	s, last, head := &Series{}, time.Time{}, false
	number := 0
	for line := range strings.Lines(strings.TrimPrefix(text, "\ufeff")) {
		number++
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		first, second, ok := strings.Cut(line, ",")
		first, second = strings.TrimSpace(first), strings.TrimSpace(second)
		switch {
		case !ok || strings.Contains(second, ","):
			return nil, cluster.BadField(fmt.Sprintf("line %d", number), line, `two columns with a comma between them, "time,EUR/MWh" first`)
		case !head:
			if err := s.header(number, first, second); err != nil {
				return nil, err
			}
			head = true
		default:
			at, value, err := row(number, first, second)
			if err == nil {
				err = s.follow(number, first, last, at)
			}
			if err != nil {
				return nil, err
			}
			s.values, last = append(s.values, value), at
		}
	}
	if len(s.values) < 2 {
		return nil, cluster.BadField("prices", fmt.Sprintf("%d of them", len(s.values)), `a line "time,EUR/MWh" and at least two lines below it`)
	}
	return s, nil
}

// header reads the names of the columns.
func (s *Series) header(number int, first, second string) (err error) {
	if first != "time" {
		return cluster.BadField(fmt.Sprintf("line %d, first column", number), first, `the header: "time,EUR/MWh"`)
	}
	if s.unit, err = parseUnit(second); err != nil {
		return cluster.WithPath(fmt.Sprintf("line %d", number), err)
	}
	return nil
}

// row reads one step.
func row(number int, first, second string) (at time.Time, value float64, err error) {
	for _, layout := range layouts {
		if at, err = time.Parse(layout, first); err == nil {
			break
		}
	}
	if err != nil {
		return at, 0, cluster.BadField(fmt.Sprintf("line %d, time", number), first,
			"a date and a time with its zone, such as 2026-11-22T00:00+01:00 or 2026-11-21T23:00Z")
	}
	value, err = strconv.ParseFloat(second, 64)
	if err != nil || !valid(value) {
		return at, 0, cluster.BadField(fmt.Sprintf("line %d, price", number), second, "a number, such as 61.3")
	}
	return at, value, nil
}

// follow checks that a step begins where the one before ends. The first two steps say how
// long all are.
func (s *Series) follow(number int, text string, last, at time.Time) error {
	field := fmt.Sprintf("line %d, time", number)
	gap := at.Sub(last)
	switch {
	case len(s.values) == 0:
		s.from, s.zone = at.UTC(), at.Location()
		return nil
	case len(s.values) == maxSteps:
		return cluster.BadField(field, text, fmt.Sprintf("the end: a series has at most %d steps", maxSteps))
	case gap <= 0:
		return cluster.BadField(field, text, "later than the line before, which is "+last.UTC().Format(time.RFC3339))
	case len(s.values) == 1 && (gap < time.Minute || gap > 24*time.Hour):
		return cluster.BadField(field, text, "a minute to a day after the line before, which is "+last.UTC().Format(time.RFC3339))
	case len(s.values) == 1:
		s.step = gap
	case gap != s.step:
		want := last.Add(s.step).UTC().Format(time.RFC3339)
		if gap > s.step {
			return cluster.BadField(field, text, fmt.Sprintf("%s: steps are %s long, and there is a gap", want, s.step))
		}
		return cluster.BadField(field, text, fmt.Sprintf("%s: steps are %s long", want, s.step))
	}
	return nil
}
