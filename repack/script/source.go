package script

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Pos is a part of a source: the bytes from Off up to End.
type Pos struct{ Off, End int }

// to is the part from the beginning of p to the end of q.
func (p Pos) to(q Pos) Pos { return Pos{p.Off, max(p.End, q.End)} }

// source is the text that positions point into.
type source struct {
	name, text string
	lines      []int // where each line begins
}

func newSource(name, text string) *source {
	s := &source{name: name, text: text, lines: []int{0}}
	for i := range len(text) {
		if text[i] == '\n' {
			s.lines = append(s.lines, i+1)
		}
	}
	return s
}

// place is the line and the column, in letters, of a byte; both count from 1.
func (s *source) place(off int) (line, column int) {
	off = min(max(off, 0), len(s.text))
	i, found := slices.BinarySearch(s.lines, off)
	if !found {
		i--
	}
	return i + 1, utf8.RuneCountInString(s.text[s.lines[i]:off]) + 1
}

// line is the text of a line, from 1 on, without its end.
func (s *source) line(n int) string {
	rest := s.text[s.lines[n-1]:]
	if n < len(s.lines) {
		rest = s.text[s.lines[n-1]:s.lines[n]]
	}
	return strings.TrimRight(rest, "\r\n")
}

// The excerpt of a line has at most this many letters, of which so many before the
// place.
const (
	wide   = 100
	before = 40
)

// excerpt is the line of a position with carets under it. Long lines are cut, and
// nothing in them can write over a terminal.
func (s *source) excerpt(p Pos) string {
	n, column := s.place(p.Off)
	letters := []rune(s.line(n))
	length := max(1, utf8.RuneCountInString(s.text[min(p.Off, len(s.text)):min(max(p.Off, p.End), len(s.text))]))
	from := 0
	if len(letters) > wide && column > before {
		from = column - before
	}
	to := min(len(letters), from+wide)
	shown, under := strings.Builder{}, strings.Builder{}
	if from > 0 {
		shown.WriteRune('…')
		under.WriteByte(' ')
	}
	for i := from; i < to; i++ {
		shown.WriteRune(harmless(letters[i]))
		if i < column-1 {
			under.WriteByte(' ')
		}
	}
	if to < len(letters) {
		shown.WriteRune('…')
	}
	if at := column - 1; at >= to {
		under.WriteString(strings.Repeat(" ", at-to))
	}
	under.WriteString(strings.Repeat("^", max(1, min(length, to-column+1))))
	return strings.TrimRight(fmt.Sprintf("%5d | %s", n, shown.String()), " ") + fmt.Sprintf("\n%5s | %s", "", under.String())
}

// harmless is a letter as a message shows it.
func harmless(r rune) rune {
	switch {
	case r == '\t':
		return ' '
	case !unicode.IsPrint(r):
		return '·'
	}
	return r
}
