package calendar

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"vjob/cluster"
)

// longest is the maximal length of the text of a window, in bytes.
const longest = 1000

const example = `such as "Mo-Fr 08:00-18:00", "18:00-08:00", "12-24..01-02" or "day 1-7 Mo"`

// Parse parses a window: conditions that must all hold, in any order, each a comma-separated
// list and each at most once. Semicolons separate alternatives.
//
//	Mo-Fr              days of the week, Mo to Su
//	08:00-18:00        times of day; 18:00-08:00 ends on the next day; default: the whole day
//	2026-12-24         a date; 2026-12-24..2027-01-02 a range of dates
//	12-24..01-02       the same in every year
//	Jun-Aug            months, Jan to Dec
//	day 1-7,15         days of the month
//	hour 8-17          hours of the day: 8-17 is 08:00-18:00; hour 0-23/2 is every other one
//	except 12-24..01-02, Sa   excludes what begins on these days
//
// Sets may have steps (1-31/2) and ranges of names may go past the end (Fr-Mo). The
// error matches cluster.ErrInvalid and names the part that is wrong.
func Parse(text string) (Window, error) {
	w := Window{text: strings.TrimSpace(text)}
	if len(text) > longest {
		return Window{}, bad(text, "at most "+strconv.Itoa(longest)+" bytes")
	}
	for alternative := range strings.SplitSeq(text, ";") {
		r := parser{words: strings.Fields(alternative)}
		if len(r.words) == 0 {
			return Window{}, bad(text, "a time, "+example)
		}
		p, err := r.part()
		if err != nil {
			return Window{}, err
		}
		w.parts = append(w.parts, p)
	}
	return w, nil
}

func bad(text, want string) error { return cluster.BadField("window", text, want) }

// parser reads the words of one alternative in order.
type parser struct{ words []string }

func (r *parser) next() string {
	if len(r.words) == 0 {
		return ""
	}
	word := r.words[0]
	r.words = r.words[1:]
	return word
}

func (r *parser) part() (p part, err error) {
	for len(r.words) > 0 && err == nil {
		switch word := r.next(); {
		case word == "except":
			err = r.except(&p.days)
		case word == "hour":
			err = p.hours(r.next())
		case strings.Contains(word, ":"):
			err = p.times(word)
		default:
			err = r.days(word, &p.days)
		}
	}
	if p.spans == nil {
		p.spans = []span{{0, perDay}}
	}
	p.spans = joined(p.spans)
	return p, err
}

// except reads the comma-separated sets of days after "except".
func (r *parser) except(d *days) error {
	if len(r.words) == 0 {
		return bad("except", `days after it, such as "except 12-24..01-02"`)
	}
	var out days
	for len(r.words) > 0 {
		word := r.next()
		if word == "except" {
			return bad(word, "it only once")
		}
		word, another := strings.CutSuffix(word, ",")
		if err := r.days(word, &out); err != nil {
			return err
		}
		if another || len(r.words) == 0 {
			d.except = append(d.except, out)
			out = days{}
		}
	}
	return nil
}

// days reads one condition on days.
func (r *parser) days(word string, d *days) (err error) {
	switch {
	case word == "day":
		return d.monthdays.read(r.next(), scale{low: 1, high: 31})
	case word != "" && '0' <= word[0] && word[0] <= '9':
		if d.dates != nil {
			return bad(word, "dates only once, with commas between them")
		}
		d.dates, err = intervals(word)
		return err
	case weekdays.names(word):
		return d.weekdays.read(word, weekdays)
	case months.names(word):
		return d.months.read(word, months)
	default:
		return bad(word, "days or times, "+example)
	}
}

// intervals reads dates and ranges of them.
func intervals(text string) (list []interval, err error) {
	for item := range strings.SplitSeq(text, ",") {
		from, to, ranged := strings.Cut(item, "..")
		if !ranged {
			to = from
		}
		a, ok1 := date(from)
		b, ok2 := date(to)
		switch {
		case !ok1 || !ok2:
			return nil, bad(item, `a date of the years 2000 to 2399, such as "2026-12-24", or one of every year, such as "12-24"`)
		case (a.year == 0) != (b.year == 0):
			return nil, bad(item, "the year at both ends or at none")
		case a.year != 0 && b.ever() < a.ever():
			return nil, bad(item, "the earlier date first")
		}
		list = append(list, interval{a, b})
	}
	return list, nil
}

func date(text string) (d day, ok bool) {
	if t, err := time.Parse(time.DateOnly, text); err == nil {
		return dayOf(t), firstYear <= t.Year() && t.Year() <= lastYear
	}
	// A leap year has every date.
	t, err := time.Parse(time.DateOnly, "2000-"+text)
	d = dayOf(t)
	d.year = 0
	return d, err == nil
}

func (p *part) times(text string) error {
	if p.spans != nil {
		return bad(text, "times only once, with commas between them")
	}
	for item := range strings.SplitSeq(text, ",") {
		from, to, _ := strings.Cut(item, "-")
		a, ok1 := clock(from)
		b, ok2 := clock(to)
		if !ok1 || !ok2 || a == perDay || a == b {
			return bad(item, `times such as "08:00-18:00", over midnight "18:00-08:00", or until "24:00"`)
		}
		if b < a {
			b += perDay
		}
		p.spans = append(p.spans, span{a, b})
	}
	return nil
}

// clock reads "08:30" as minutes; "24:00" is the end of the day.
func clock(text string) (minutes int, ok bool) {
	if text == "24:00" {
		return perDay, true
	}
	t, err := time.Parse("15:04", text)
	return 60*t.Hour() + t.Minute(), err == nil && len(text) == len("15:04")
}

func (p *part) hours(text string) error {
	if p.spans != nil {
		return bad(text, "times only once, with commas between them")
	}
	var hours set
	if err := hours.read(text, scale{high: 23}); err != nil {
		return err
	}
	for h := range 24 {
		if hours.allows(h) {
			p.spans = append(p.spans, span{60 * h, 60 * (h + 1)})
		}
	}
	return nil
}

// scale is the valid numbers of a set, with their names if any. Ranges of names may wrap around.
type scale struct {
	low, high int
	words     []string // of low, low+1, …
}

var (
	weekdays = scale{low: 0, high: 6, words: []string{"Su", "Mo", "Tu", "We", "Th", "Fr", "Sa"}}
	months   = scale{low: 1, high: 12, words: []string{
		"Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
	}}
)

// names reports whether a set begins with a name of the scale.
func (s scale) names(text string) bool {
	first := strings.FieldsFunc(text, func(c rune) bool { return strings.ContainsRune(",-/", c) })
	return len(first) > 0 && slices.Contains(s.words, first[0])
}

func (s scale) number(text string) (n int, ok bool) {
	if s.words != nil {
		i := slices.Index(s.words, text)
		return s.low + i, i >= 0
	}
	n, err := strconv.Atoi(text)
	return n, err == nil && s.low <= n && n <= s.high
}

func (s scale) want() string {
	if s.words != nil {
		return "names from " + strings.Join(s.words, ", ") + ` and ranges of them, such as "` + s.words[1] + "-" + s.words[5] + `"`
	}
	return "numbers from " + strconv.Itoa(s.low) + " to " + strconv.Itoa(s.high) + ` and rising ranges of them, such as "1-7,15" or "2-20/2"`
}

// read reads a list of numbers, ranges, and ranges with steps.
func (s *set) read(text string, on scale) error {
	if *s != 0 {
		return bad(text, "each condition only once, with commas between its values")
	}
	for item := range strings.SplitSeq(text, ",") {
		ends, every, stepped := strings.Cut(item, "/")
		from, to, ranged := strings.Cut(ends, "-")
		if !ranged {
			to = from
		}
		a, ok1 := on.number(from)
		b, ok2 := on.number(to)
		step, err := strconv.Atoi(every)
		if b < a && on.words != nil {
			b += on.high - on.low + 1
		}
		switch {
		case !ok1 || !ok2 || b < a || stepped && (err != nil || !ranged):
			return bad(item, on.want())
		case !stepped:
			step = 1
		case step < 1 || step > on.high:
			return bad(item, "a step from 1 to "+strconv.Itoa(on.high))
		}
		for n := a; n <= b; n += step {
			*s |= 1 << (on.low + (n-on.low)%(on.high-on.low+1))
		}
	}
	return nil
}
