package oar

import (
	"fmt"
	"strings"
	"time"
)

// Reservation is the value of oarsub -r.
type Reservation struct {
	Start time.Time
	End   time.Time // zero if not given
	// Warnings are for the user.
	Warnings []Warning
}

// Walltime returns the time from start to end, or 0 without an end. A walltime in the resource
// request takes precedence.
func (r *Reservation) Walltime() time.Duration {
	if r.End.IsZero() {
		return 0
	}
	return r.End.Sub(r.Start)
}

// ParseReservation parses "start[, end]", each [YYYY-MM-DD ]hh[:mm[:ss]]; start may be "now". A start
// without a date is today in the zone of now. An end without a date is on the day of the start, or
// on the next day if it would not be after the start. The error is an [*Error] with the exit code 7.
func ParseReservation(text string, now time.Time) (Reservation, error) {
	p := reservationParser{src: Source{Name: "-r", Text: text}, now: now.Truncate(time.Second)}
	first, second, ended := strings.Cut(text, ",")
	start := bound{"start", Span{Off: 0, End: len(first)}, first}
	end := bound{"end", Span{Off: len(first) + 1, End: len(text)}, second}
	if err := p.start(start); err != nil {
		return Reservation{}, err
	}
	if ended {
		if err := p.end(end); err != nil {
			return Reservation{}, err
		}
	}
	return p.result, nil
}

// reservationParser parses one value of -r.
type reservationParser struct {
	src    Source
	now    time.Time
	result Reservation
}

// bound is the start or the end as written.
type bound struct {
	name string
	span Span
	text string
}

func (p *reservationParser) start(s bound) error {
	if strings.TrimSpace(s.text) == "now" {
		p.result.Start = p.now
		return nil
	}
	r, err := p.read(s)
	if err != nil {
		return err
	}
	at, warning, err := r.on(p.now).in(p.now.Location())
	if err != nil {
		return p.bad(s, err)
	}
	p.result.Start = at
	p.warn(s, warning)
	return nil
}

func (p *reservationParser) end(s bound) error {
	r, err := p.read(s)
	if err != nil {
		return err
	}
	start := p.result.Start
	at, warning, err := r.on(start).in(p.now.Location())
	if err == nil && !r.hasDay && !at.After(start) {
		at, warning, err = r.on(start).nextDay().in(p.now.Location())
	}
	if err == nil && !at.After(start) {
		err = fmt.Errorf("the end is not after the start, %s", start.Format("2006-01-02 15:04:05"))
	}
	if err != nil {
		return p.bad(s, err)
	}
	p.result.End = at
	p.warn(s, warning)
	return nil
}

func (p *reservationParser) read(s bound) (timeText, error) {
	r, err := parseTimeText(s.text)
	if err == nil && !r.hasClock {
		err = fmt.Errorf("there is no time of day: want YYYY-MM-DD hh:mm:ss")
	}
	if err != nil {
		return r, p.bad(s, err)
	}
	return r, nil
}

func (p *reservationParser) warn(s bound, warning string) {
	if warning != "" {
		p.result.Warnings = append(p.result.Warnings, Warning{Position: p.src.At(s.trimmed()), Text: warning})
	}
}

// trimmed returns the span of the text without the blanks around it.
func (s bound) trimmed() Span {
	left := len(s.text) - len(strings.TrimLeft(s.text, " \t\r\n"))
	right := len(strings.TrimRight(s.text, " \t\r\n"))
	return Span{Off: s.span.Off + min(left, right), End: s.span.Off + right}
}

func (p *reservationParser) bad(s bound, err error) error {
	return &Error{
		Exit: ExitReservation,
		OAR: fmt.Sprintf("# Error: syntax error in <%s date> for the -r or --reservation option. "+
			`It takes a date as argument with the format: "YYYY-MM-DD hh:mm:ss".`, s.name),
		Position: p.src.At(s.trimmed()), Text: err.Error(),
	}
}
