package oar

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Source is a text in which something may be wrong. The name tells where it comes
// from: "-l", "job.sh".
type Source struct{ Name, Text string }

// Span is a part of a source: the bytes from Off up to End.
type Span struct{ Off, End int }

// Position is where something is wrong. The zero Place is nowhere in particular.
type Position struct {
	Source       string
	Line, Column int    // from 1; the column in letters
	Excerpt      string // the line, with carets under the part
}

// At is the place of a part of the source.
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

// An excerpt has at most this many letters, of which so many before the place.
const (
	excerptWidth  = 100
	excerptBefore = 40
)

// excerpt is a line with carets under a part of it. Long lines are cut, and nothing
// in them can write over a terminal.
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

// Printable is a text as a message shows it: what a terminal might obey, and what
// turns the direction of writing, becomes a dot.
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

// Quoted is a text for the middle of a sentence, in quotes and cut when it is long.
func Quoted(text string) string {
	const most = 40
	if r := []rune(text); len(r) > most {
		text = string(r[:most]) + "…"
	}
	return `"` + Printable(text) + `"`
}
