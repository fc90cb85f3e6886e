package oar

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"vjob/cluster"
)

// Source is a text with the name of its origin, such as "-l" or "job.sh", for messages.
type Source struct{ Name, Text string }

// Span is the part of a source from byte Off to byte End, exclusive.
type Span struct{ Off, End int }

// Position is the place of a fault. The zero Position is unknown.
type Position struct {
	Source       string
	Line, Column int    // from 1; Column counts characters
	Excerpt      string // the line, with carets below the span
}

// At returns the position of a span of the source.
func (s Source) At(p Span) Position {
	off := min(max(p.Off, 0), len(s.Text))
	begin := strings.LastIndexByte(s.Text[:off], '\n') + 1
	line := s.Text[begin:]
	if i := strings.IndexByte(line, '\n'); i >= 0 {
		line = line[:i]
	}
	pl := Position{
		Source: s.Name,
		Line:   strings.Count(s.Text[:begin], "\n") + 1,
		Column: utf8.RuneCountInString(s.Text[begin:off]) + 1,
	}
	length := max(1, utf8.RuneCountInString(s.Text[off:min(max(p.End, off), len(s.Text))]))
	pl.Excerpt = excerpt(pl.Line, pl.Column, length, []rune(strings.TrimRight(line, "\r")))
	return pl
}

// The maximal length of an excerpt in characters, and how many of them stand before the position.
const (
	excerptWidth  = 100
	excerptBefore = 40
)

// excerpt returns a line with carets below a span. Long lines are cut, and control characters are
// replaced.
func excerpt(number, column, length int, letters []rune) string {
	from := 0
	if len(letters) > excerptWidth && column > excerptBefore {
		from = column - excerptBefore
	}
	to := min(len(letters), from+excerptWidth)
	shown := Printable(string(letters[from:to]))
	under := column - 1 - from
	if from > 0 {
		shown = "…" + shown
		under++
	}
	if to < len(letters) {
		shown += "…"
	}
	carets := strings.Repeat("^", max(1, min(length, to-column+1)))
	return fmt.Sprintf("%5d | %s\n      | %s", number, shown, strings.Repeat(" ", under)+carets)
}

// Printable replaces characters that a terminal may interpret, and those that change the direction
// of writing, by dots.
func Printable(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t':
			return ' '
		case !unicode.IsPrint(r) || unicode.Is(unicode.Bidi_Control, r):
			return '·'
		}
		return r
	}, text)
}

// Quoted returns a printable text in quotes, cut after 40 characters.
func Quoted(text string) string {
	return `"` + Printable(cluster.Shortened(text, 40)) + `"`
}
