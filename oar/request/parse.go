package request

import (
	"fmt"
	"strings"

	"vjob/oar"
	"vjob/oar/property"
)

// Parse parses the values of all -l, in order. Without values it returns the default of the site. The
// error is an [*oar.Error] with the exit code 18.
func Parse(values []string, site Config) (*Request, error) {
	if len(values) == 0 {
		g := Group{Levels: site.Default}
		source := oar.Source{Name: "the default of -l", Text: g.String()}
		return &Request{Alternatives: []Alternative{{Groups: []Group{g}, Walltime: NoWalltime, Source: source}}}, nil
	}
	r := &Request{}
	for i, text := range values {
		name := "-l"
		if len(values) > 1 {
			name = fmt.Sprintf("-l (%d of %d)", i+1, len(values))
		}
		p := newParser(name, text, site)
		if i == MaxAlternatives {
			return nil, p.fail(oar.Span{}, p.resourceLine(0), "-l is given %d times; %d are allowed", len(values), MaxAlternatives)
		}
		a, err := p.parseAlternative()
		if err != nil {
			return nil, err
		}
		r.Alternatives = append(r.Alternatives, a)
		r.Warnings = append(r.Warnings, p.warnings...)
	}
	return r, nil
}

// ParseDefault parses the default levels that an administrator sets: one group without property and
// walltime.
func ParseDefault(name, text string, site Config) ([]Level, error) {
	p := newParser(name, text, site)
	a, err := p.parseAlternative()
	if err != nil {
		return nil, err
	}
	if len(a.Groups) != 1 || a.Groups[0].Property.Expr != nil || a.Walltime != NoWalltime {
		return nil, p.fail(oar.Span{End: len(text)}, p.resourceLine(0), "the default is one group without properties and walltime, such as /resource_id=1")
	}
	levels := a.Groups[0].Levels
	for i := range levels {
		levels[i].Span = oar.Span{} // positions in the source of a request are different
	}
	return levels, nil
}

// parser parses one -l with a lookahead of one token.
type parser struct {
	lexer
	tok      token
	src      oar.Source
	site     Config
	warnings []oar.Warning
}

func newParser(name, text string, site Config) *parser {
	return &parser{lexer: lexer{text: text}, src: oar.Source{Name: name, Text: text}, site: site}
}

func (p *parser) advance() { p.tok = p.next() }

// parseAlternative parses groups, separated by runs of + or of commas, then the walltime.
func (p *parser) parseAlternative() (Alternative, error) {
	a := Alternative{Walltime: NoWalltime, Source: p.src}
	if n := len(p.src.Text); n > MaxText {
		return a, p.fail(oar.Span{Off: 0, End: 1}, p.resourceLine(0), "the request has %d bytes; %d are allowed", n, MaxText)
	}
	p.advance()
	for {
		begin := p.tok.span.Off
		separator := p.separators()
		if separator.text != "" && len(a.Groups) == 0 && p.tok.class != end {
			p.warn(separator.span, "nothing stands before this %s", separator.text)
		}
		switch {
		case p.tok.class == end && (separator.text != "" || len(a.Groups) == 0):
			return a, p.missingGroup(begin, separator)
		case p.tok.class == end:
			return a, nil
		case p.tok.isWalltime() && separator.text != "+":
			if len(a.Groups) == 0 {
				a.Groups = []Group{{Levels: p.site.Default}}
			}
			d, err := p.parseWalltime(begin)
			a.Walltime = d
			return a, err
		}
		g, err := p.parseGroup(begin)
		if err != nil {
			return a, err
		}
		a.Groups = append(a.Groups, g)
		if len(a.Groups) > MaxGroups {
			return a, p.fail(g.Span, p.resourceLine(begin), "there are more than %d groups", MaxGroups)
		}
	}
}

// separators skips a run of one separator and returns the first.
func (p *parser) separators() token {
	first := p.tok
	if !first.isSign("+") && !first.isSign(",") {
		return token{}
	}
	p.advance()
	for ; p.tok.isSign(first.text); p.advance() {
		p.warn(p.tok.span, "there is nothing between the two %s", first.text)
	}
	return first
}

// missingGroup returns the error for a missing group.
func (p *parser) missingGroup(begin int, separator token) error {
	if separator.text == "" {
		return p.fail(p.tok.span, p.resourceLine(begin), "there is nothing: want levels, such as nodes=2/core=4")
	}
	return p.fail(separator.span, p.resourceLine(begin), "nothing stands behind the %s: want levels, such as nodes=2/core=4", separator.text)
}

// parseGroup parses a property, levels, or both. begin is the start of what OAR calls the resource.
func (p *parser) parseGroup(begin int) (Group, error) {
	g := Group{Span: p.tok.span}
	if p.tok.class == braced {
		inner := oar.Span{Off: p.tok.span.Off + 1, End: p.tok.span.End - 1}
		var err error
		if g.Property, err = p.parseProperty(inner); err != nil {
			return g, err
		}
		before := *p
		p.advance()
		separator := p.separators()
		if p.tok.class == end || p.tok.isWalltime() {
			if separator.text != "" { // the separator belongs to the next group or the walltime
				before.advance()
				*p = before
			}
			g.Levels = p.site.Default
			return g, nil
		}
		if separator.text != "" {
			p.warn(separator.span, "as in OAR the levels behind this %s belong to the property before it; with /resource_id=1 before it they would be a group of their own", separator.text)
		}
	}
	switch {
	case p.tok.isWalltime():
		return g, p.fail(p.tok.span, p.resourceLine(begin), "want a comma before the walltime, and no +")
	case p.ended():
		return g, p.fail(p.tok.span, p.resourceLine(begin), "%s stands here: want levels, such as nodes=2/core=4", p.quotedToken())
	}
	err := p.parseLevels(&g)
	g.Span.End = max(g.Span.End, p.lastEnd(g))
	return g, err
}

func (p *parser) lastEnd(g Group) int {
	if len(g.Levels) == 0 {
		return 0
	}
	return g.Levels[len(g.Levels)-1].Span.End
}

// parseProperty parses the condition between braces. In OAR the database refuses bad conditions; here
// the whole request is refused.
func (p *parser) parseProperty(inner oar.Span) (property.Filter, error) {
	whole := oar.Span{Off: inner.Off - 1, End: inner.End + 1}
	if strings.TrimSpace(p.text[inner.Off:inner.End]) == "" {
		return property.Filter{}, p.fail(whole, p.levelLine(whole.Off), "there is no condition between the braces: want one, such as {cluster = 'azur'}, or none of both")
	}
	f, err := property.ParsePart(p.src, inner)
	if err != nil {
		return f, asRequestError(err)
	}
	return f, nil
}

// warn adds a warning about input that is accepted but rarely meant.
func (p *parser) warn(at oar.Span, format string, args ...any) {
	const most = 20
	if len(p.warnings) < most {
		p.warnings = append(p.warnings, oar.Warning{Position: p.src.At(at), Text: fmt.Sprintf(format, args...)})
	}
}
