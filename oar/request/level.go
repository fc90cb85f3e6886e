package request

import (
	"strings"
	"time"

	"vjob/oar/date"
	"vjob/oar/message"
)

// levels are "name=count" with a / between them, and perhaps before the first and
// behind the last.
func (p *parser) levels(g *Group) error {
	for p.tok.sign("/") {
		before := p.tok.span.End
		if p.advance(); p.tok.sign("/") && p.tok.span.Off > before {
			return p.bad(before, "there is no level between the two /")
		}
	}
	for {
		l, err := p.one()
		if err != nil {
			return err
		}
		if g.Levels = append(g.Levels, l); len(g.Levels) > MaxLevels {
			return p.bad(l.Span.Off, "there are more than %d levels", MaxLevels)
		}
		if !p.tok.sign("/") {
			return p.behind(l)
		}
		first, last := p.tok.span, p.tok.span
		for ; p.tok.sign("/"); p.advance() {
			last = p.tok.span
		}
		switch {
		case p.ended():
			p.warn(last, "no level stands behind this /")
			return nil
		case first != last:
			return p.fail(last, p.level(first.End), "there is no level between the two /")
		}
	}
}

// ended reports whether the group is over.
func (p *parser) ended() bool { return p.tok.class == end || p.tok.sign("+") || p.tok.sign(",") }

// behind refuses what follows a level and is neither / nor the end of the group.
func (p *parser) behind(l Level) error {
	switch {
	case p.ended():
		return nil
	case p.tok.walltime():
		return p.bad(l.Span.Off, "want a comma before the walltime")
	case p.tok.class == braced:
		return p.bad(l.Span.Off, "a property stands before the first level of its group")
	}
	return p.bad(l.Span.Off, "%s stands behind a level: want / and the next level, + and the next group, or a comma and the walltime", p.shown())
}

// one is "name=count".
func (p *parser) one() (Level, error) {
	l := Level{Name: p.tok.text, Span: p.tok.span}
	from := l.Span.Off
	switch p.tok.class {
	case word:
	case braced, open:
		return l, p.braces()
	default:
		return l, p.bad(from, "%s stands here: want the name of a level, such as nodes", p.shown())
	}
	if p.advance(); p.tok.class == junk {
		return l, p.bad(from, "%s must not be in the name of a level: want letters, digits and _", p.shown())
	}
	if !p.tok.sign("=") {
		return l, p.bad(from, "want = and a count behind %s", message.Short(l.Name))
	}
	p.advance()
	if err := p.count(&l, from); err != nil {
		return l, err
	}
	p.unusual(l)
	if l.Name == "nodes" {
		l.Name = p.site.Nodes
	}
	return l, nil
}

// braces tells what is wrong with a { where a level should be.
func (p *parser) braces() error {
	at := p.tok.span
	switch {
	case p.tok.class == braced:
		return p.fail(at, p.level(at.Off), "a property stands before the first level of its group, and only one")
	case p.tok.text == "}":
		return p.fail(at, p.level(at.End), "a } cannot stand between quotes: OAR would end the property here")
	}
	return p.fail(at, p.level(at.Off), "the %s is open: want a %s before the end of the condition", p.tok.text, closing(p.tok.text))
}

func closing(mark string) string {
	if mark == "{" {
		return "}"
	}
	return mark
}

// count is digits or one of the words.
func (p *parser) count(l *Level, from int) error {
	t := p.tok
	l.Span.End = t.span.End
	digits := t.class == word && strings.Trim(t.text, "0123456789") == ""
	switch {
	case digits && len(t.text) > MaxDigits:
		return p.bad(from, "a count has at most %d digits", MaxDigits)
	case digits:
		if l.Count = Count(strings.TrimLeft(t.text, "0")); l.Count == "" {
			l.Count = "0"
		}
	case t.text == "HALF_BEST":
		l.Count = BestHalf
	case t.text == string(All), t.text == string(Best), t.text == string(BestHalf):
		l.Count = Count(t.text)
	case t.class == end:
		return p.bad(from, "there is no count: want a number, ALL, BEST or BESTHALF")
	default:
		return p.noCount(from, t)
	}
	if p.advance(); p.tok.class == junk && p.tok.span.Off == t.span.End {
		return p.noCount(from, t)
	}
	return nil
}

// noCount refuses what begins at a token and ends at the next blank or sign.
func (p *parser) noCount(from int, t token) error {
	text := p.src.Text[t.span.Off:]
	if i := strings.IndexAny(text, blanks+"/+,"); i > 0 {
		text = text[:i]
	}
	return p.fail(message.Span{Off: t.span.Off, End: t.span.Off + len(text)}, p.level(from),
		"%s is no count: want a number, ALL, BEST or BESTHALF", message.Short(text))
}

// unusual warns of names that are taken for properties and look like something else.
func (p *parser) unusual(l Level) {
	switch {
	case strings.HasPrefix(strings.ToLower(l.Name), "walltime"):
		p.warn(l.Span, "this is a level of the name %s; the walltime is written ,walltime=1:0:0 at the end", l.Name)
	case l.Name != "nodes" && strings.EqualFold(l.Name, "nodes"):
		p.warn(l.Span, "this is a level of the name %s; nodes are written in small letters", l.Name)
	case l.Count == "0":
		p.warn(l.Span, "this asks for nothing, which nobody can be given")
	}
}

// walltime reads "walltime = h:m:s", which ends the text. Begin is where the text
// starts that OAR calls the resource.
func (p *parser) walltime(begin int) (time.Duration, error) {
	name := p.tok
	if name.text != "walltime" {
		return Unsaid, p.fail(name.span, p.rest(begin), "%s is no walltime: want walltime=h:m:s", message.Short(name.text))
	}
	if p.advance(); !p.tok.sign("=") {
		return Unsaid, p.fail(name.span, p.rest(begin), "want = and a time behind walltime, such as walltime=1:30:0")
	}
	value := strings.TrimLeft(p.text[p.tok.span.End:], blanks)
	at := message.Span{Off: len(p.text) - len(value), End: len(p.text)}
	size := len(value) - len(strings.TrimLeft(value, "0123456789:|"))
	rest := strings.TrimLeft(value[size:], blanks)
	switch {
	case value == "":
		return Unsaid, p.fail(at, p.rest(begin), "there is no time: want hours, hours:minutes or hours:minutes:seconds")
	case size > 0 && rest != "" && strings.IndexByte(",+/{", rest[0]) >= 0:
		return Unsaid, p.fail(message.Span{Off: len(p.text) - len(rest), End: len(p.text)}, p.rest(begin), "nothing may stand behind the walltime")
	case rest != "":
		return Unsaid, p.fail(at, p.rest(begin), "%s is no time: want hours, hours:minutes or hours:minutes:seconds", message.Short(value))
	}
	at.End = at.Off + size
	d, odd, err := date.ParseWalltime(p.text[at.Off:at.End])
	if err != nil {
		return Unsaid, p.fail(at, "# Error: cannot recognize walltime resource value", "%s: %v", message.Short(p.text[at.Off:at.End]), err)
	}
	if odd != "" {
		p.warn(at, "%s: this is %s", odd, date.FormatWalltime(d))
	}
	return d, nil
}
