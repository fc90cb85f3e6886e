package request

import (
	"strings"
	"time"

	"vjob/oar"
)

// parseLevels parses "name=count" separated by /, with optional / before the first and after the last.
func (p *parser) parseLevels(g *Group) error {
	for p.tok.isSign("/") {
		before := p.tok.span.End
		p.advance()
		if p.tok.isSign("/") && p.tok.span.Off > before {
			return p.failLevel(before, "there is no level between the two /")
		}
	}
	for {
		l, err := p.parseLevel()
		if err != nil {
			return err
		}
		g.Levels = append(g.Levels, l)
		if len(g.Levels) > MaxLevels {
			return p.failLevel(l.Span.Off, "there are more than %d levels", MaxLevels)
		}
		if !p.tok.isSign("/") {
			return p.checkAfterLevel(l)
		}
		first, last := p.tok.span, p.tok.span
		for ; p.tok.isSign("/"); p.advance() {
			last = p.tok.span
		}
		switch {
		case p.ended():
			p.warn(last, "no level stands behind this /")
			return nil
		case first != last:
			return p.fail(last, p.levelLine(first.End), "there is no level between the two /")
		}
	}
}

// ended reports whether the group ends here.
func (p *parser) ended() bool { return p.tok.class == end || p.tok.isSign("+") || p.tok.isSign(",") }

// checkAfterLevel refuses tokens after a level other than / and the end of the group.
func (p *parser) checkAfterLevel(l Level) error {
	switch {
	case p.ended():
		return nil
	case p.tok.isWalltime():
		return p.failLevel(l.Span.Off, "want a comma before the walltime")
	case p.tok.class == braced:
		return p.failLevel(l.Span.Off, "a property stands before the first level of its group")
	}
	return p.failLevel(l.Span.Off, "%s stands behind a level: want / and the next level, + and the next group, or a comma and the walltime", p.quotedToken())
}

// parseLevel parses "name=count".
func (p *parser) parseLevel() (Level, error) {
	l := Level{Name: p.tok.text, Span: p.tok.span}
	from := l.Span.Off
	switch p.tok.class {
	case word:
	case braced, unclosed:
		return l, p.braceError()
	default:
		return l, p.failLevel(from, "%s stands here: want the name of a level, such as nodes", p.quotedToken())
	}
	p.advance()
	if p.tok.class == invalid {
		return l, p.failLevel(from, "%s must not be in the name of a level: want letters, digits and _", p.quotedToken())
	}
	if !p.tok.isSign("=") {
		return l, p.failLevel(from, "want = and a count behind %s", oar.Quoted(l.Name))
	}
	p.advance()
	if err := p.parseCount(&l, from); err != nil {
		return l, err
	}
	p.warnUnusual(l)
	if l.Name == "nodes" {
		l.Name = p.site.NodesAlias
	}
	return l, nil
}

// braceError returns the error for a { in place of a level.
func (p *parser) braceError() error {
	at := p.tok.span
	switch {
	case p.tok.class == braced:
		return p.fail(at, p.levelLine(at.Off), "a property stands before the first level of its group, and only one")
	case p.tok.text == "}":
		return p.fail(at, p.levelLine(at.End), "a } cannot stand between quotes: OAR would end the property here")
	}
	return p.fail(at, p.levelLine(at.Off), "the %s is open: want a %s before the end of the condition", p.tok.text, closing(p.tok.text))
}

func closing(mark string) string {
	if mark == "{" {
		return "}"
	}
	return mark
}

// parseCount parses digits or a word.
func (p *parser) parseCount(l *Level, from int) error {
	t := p.tok
	l.Span.End = t.span.End
	digits := t.class == word && strings.Trim(t.text, "0123456789") == ""
	switch {
	case digits && len(t.text) > MaxDigits:
		return p.failLevel(from, "a count has at most %d digits", MaxDigits)
	case digits:
		if l.Count = Count(strings.TrimLeft(t.text, "0")); l.Count == "" {
			l.Count = "0"
		}
	case t.text == "HALF_BEST":
		l.Count = BestHalf
	case t.text == string(All), t.text == string(Best), t.text == string(BestHalf):
		l.Count = Count(t.text)
	case t.class == end:
		return p.failLevel(from, "there is no count: want a number, ALL, BEST or BESTHALF")
	default:
		return p.countError(from, t)
	}
	p.advance()
	if p.tok.class == invalid && p.tok.span.Off == t.span.End {
		return p.countError(from, t)
	}
	return nil
}

// countError refuses the text from a token to the next blank or sign.
func (p *parser) countError(from int, t token) error {
	text := p.src.Text[t.span.Off:]
	if i := strings.IndexAny(text, whitespace+"/+,"); i > 0 {
		text = text[:i]
	}
	return p.fail(oar.Span{Off: t.span.Off, End: t.span.Off + len(text)}, p.levelLine(from),
		"%s is no count: want a number, ALL, BEST or BESTHALF", oar.Quoted(text))
}

// warnUnusual warns of level names that are probably mistakes.
func (p *parser) warnUnusual(l Level) {
	switch {
	case strings.HasPrefix(strings.ToLower(l.Name), "walltime"):
		p.warn(l.Span, "this is a level of the name %s; the walltime is written ,walltime=1:0:0 at the end", l.Name)
	case l.Name != "nodes" && strings.EqualFold(l.Name, "nodes"):
		p.warn(l.Span, "this is a level of the name %s; nodes are written in small letters", l.Name)
	case l.Count == "0":
		p.warn(l.Span, "this asks for nothing")
	}
}

// parseWalltime parses "walltime = h:m:s" at the end of the text. begin is the start of what OAR calls
// the resource.
func (p *parser) parseWalltime(begin int) (time.Duration, error) {
	name := p.tok
	if name.text != "walltime" {
		return NoWalltime, p.fail(name.span, p.resourceLine(begin), "%s is no walltime: want walltime=h:m:s", oar.Quoted(name.text))
	}
	p.advance()
	if !p.tok.isSign("=") {
		return NoWalltime, p.fail(name.span, p.resourceLine(begin), "want = and a time behind walltime, such as walltime=1:30:0")
	}
	value := strings.TrimLeft(p.text[p.tok.span.End:], whitespace)
	at := oar.Span{Off: len(p.text) - len(value), End: len(p.text)}
	size := len(value) - len(strings.TrimLeft(value, "0123456789:|"))
	rest := strings.TrimLeft(value[size:], whitespace)
	switch {
	case value == "":
		return NoWalltime, p.fail(at, p.resourceLine(begin), "there is no time: want hours, hours:minutes or hours:minutes:seconds")
	case size > 0 && rest != "" && strings.IndexByte(",+/{", rest[0]) >= 0:
		return NoWalltime, p.fail(oar.Span{Off: len(p.text) - len(rest), End: len(p.text)}, p.resourceLine(begin), "nothing may stand behind the walltime")
	case rest != "":
		return NoWalltime, p.fail(at, p.resourceLine(begin), "%s is no time: want hours, hours:minutes or hours:minutes:seconds", oar.Quoted(value))
	}
	at.End = at.Off + size
	d, warning, err := oar.ParseWalltime(p.text[at.Off:at.End])
	if err != nil {
		return NoWalltime, p.fail(at, "# Error: cannot recognize walltime resource value", "%s: %v", oar.Quoted(p.text[at.Off:at.End]), err)
	}
	if warning != "" {
		p.warn(at, "%s: this is %s", warning, oar.FormatWalltime(d))
	}
	return d, nil
}
