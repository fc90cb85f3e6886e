package script

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Diagnostic is an error or a warning at one place of a script.
type Diagnostic struct {
	File         string
	Line, Column int  // from 1
	Warning      bool // the script can be used all the same
	Text         string
	Notes        []string // more to know, such as what a rule takes
	Excerpt      string   // the line, with carets under the place
}

// String is "file:line:column: text", the line with carets, and the notes.
func (p Diagnostic) String() string {
	sort := ""
	if p.Warning {
		sort = "warning: "
	}
	text := fmt.Sprintf("%s:%d:%d: %s%s\n%s", p.File, p.Line, p.Column, sort, p.Text, p.Excerpt)
	return strings.Join(append([]string{text}, p.Notes...), "\n        ")
}

// Error is the diagnostics because of which a script cannot be used, in the order of the text,
// warnings included.
type Error struct{ Diagnostics []Diagnostic }

// Error has them one below the other, in [MaxText] bytes, and says how many more there are.
// Errors have their room before warnings.
func (e *Error) Error() string {
	texts, shown, left := make([]string, len(e.Diagnostics)), 0, MaxText
	for _, warning := range []bool{false, true} {
		for i, p := range e.Diagnostics {
			if p.Warning != warning || left <= 0 {
				continue
			}
			text := p.String()
			if left -= len(text); left > 0 || shown == 0 {
				texts[i] = text
				shown++
			}
		}
	}
	texts = slices.DeleteFunc(texts, func(text string) bool { return text == "" })
	if more := len(e.Diagnostics) - shown; more > 0 {
		texts = append(texts, fmt.Sprintf("and %d more like these", more))
	}
	return strings.Join(texts, "\n")
}

// Refused reports whether any of the diagnostics is more than a warning.
func Refused(diagnostics []Diagnostic) bool {
	return slices.ContainsFunc(diagnostics, func(p Diagnostic) bool { return !p.Warning })
}

// report collects the diagnostics of one source.
type report struct {
	src    *source
	seen   map[Pos]bool
	list   []Diagnostic
	bad    int
	warned int
	full   bool // no more diagnostics are kept
}

func newReport(src *source) *report { return &report{src: src, seen: map[Pos]bool{}} }

// add keeps the first error of each place: a loop meets the same one many times.
func (r *report) add(at Pos, text string, notes ...string) {
	if r.full || r.seen[at] {
		return
	}
	r.seen[at] = true
	r.bad++
	if r.bad == MaxProblems {
		r.full = true
		notes = append(slices.Clone(notes), "there may be more errors; these are the first")
	}
	r.put(at, false, text, notes)
}

func (r *report) addf(at Pos, format string, args ...any) {
	if !r.full && !r.seen[at] {
		r.add(at, fmt.Sprintf(format, args...))
	}
}

// warn adds what looks like a slip.
func (r *report) warn(at Pos, text string) {
	if r.seen[at] || r.warned == MaxProblems {
		return
	}
	r.seen[at] = true
	r.warned++
	r.put(at, true, text, nil)
}

func (r *report) put(at Pos, warning bool, text string, notes []string) {
	line, column := r.src.place(at.Off)
	r.list = append(r.list, Diagnostic{r.src.name, line, column, warning, text, notes, r.src.excerpt(at)})
}

// sorted is all diagnostics in the order of the text.
func (r *report) sorted() []Diagnostic {
	list := slices.Clone(r.list)
	slices.SortStableFunc(list, func(a, b Diagnostic) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return list
}
