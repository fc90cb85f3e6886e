package script

import "fmt"

// Builder makes a file out of another notation: its expressions are those of
// scripts, and stand in a text of their own.
type Builder struct {
	file *File
	rep  *report
}

// NewBuilder begins a file. The text is where the positions point; what is too long
// or no text is a diagnostic, and ok is false.
func NewBuilder(name, text string) (b *Builder, ok bool) {
	src := newSource(name, text)
	b = &Builder{&File{src: src}, newReport(src)}
	return b, admissible(b.rep, text)
}

// Bad adds a diagnostic.
func (b *Builder) Bad(at Pos, format string, args ...any) { b.rep.addf(at, format, args...) }

// Full reports whether no more diagnostics are kept.
func (b *Builder) Full() bool { return b.rep.full }

// Add puts a call at the end of the file, if a script can say it.
func (b *Builder) Add(c *Call) {
	if !bare(c.Rule) || c.Rule == "for" || c.Rule == "soft" {
		b.rep.addf(c.RulePos, "%s cannot be the name of a rule", Name(c.Rule))
		return
	}
	b.file.Body.List = append(b.file.Body.List, c)
}

// Offset is the byte of a line and a column, in letters, which count from 1.
func (b *Builder) Offset(line, column int) int {
	src := b.file.src
	if line < 1 || line > len(src.lines) {
		return len(src.text)
	}
	at := src.lines[line-1]
	for i := range src.text[at:] {
		if column--; column < 1 {
			return at + i
		}
	}
	return len(src.text)
}

// Expr reads an expression that stands at an offset of the text. Where the text has
// it letter by letter, perhaps behind a quote, its diagnostics have their exact place.
func (b *Builder) Expr(text string, off int) Expr {
	lex := lexer{text: text, base: off, flat: true, rep: b.rep}
	for skip := range 2 {
		if rest := b.file.src.text; off+skip <= len(rest) && len(rest)-off-skip >= len(text) && rest[off+skip:off+skip+len(text)] == text {
			lex.base, lex.flat = off+skip, false
			break
		}
	}
	if !legible(newReport(newSource("", text)), text) {
		b.rep.addf(Pos{off, off + 1}, "a character of this must not be in a script")
		return &Bad{Pos{off, off + 1}}
	}
	p := newParser(lex)
	x := p.expr()
	if !p.lost && !p.is(end) {
		p.fail(fmt.Sprintf("want nothing more after the value, not %s", p.tok.name()))
	}
	return x
}

// Done is the file and what was wrong with it.
func (b *Builder) Done() (*File, []Diagnostic) { return b.file, b.rep.sorted() }
