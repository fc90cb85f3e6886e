package property

import (
	"fmt"

	"vjob/oar"
)

// Parse parses an expression; name is its origin, such as "-p". An empty text is the zero condition.
// The error is an [*oar.Error] with the exit code 8.
func Parse(name, text string) (Filter, error) {
	return ParsePart(oar.Source{Name: name, Text: text}, oar.Span{Off: 0, End: len(text)})
}

// ParsePart parses an expression within a source. Spans refer to the source.
func ParsePart(src oar.Source, part oar.Span) (Filter, error) {
	p := parser{lexer: lexer{src: src, at: part.Off, end: part.End}}
	if n := part.End - part.Off; n > MaxText {
		return Filter{}, p.fail(oar.Span{Off: part.Off, End: part.Off + 1}, "the condition has %d bytes; %d are allowed", n, MaxText)
	}
	f := Filter{Text: src.Text[part.Off:part.End], src: src}
	p.advance()
	if p.tok.class == end {
		return f, nil
	}
	var err error
	if f.Expr, err = p.or(); err == nil && p.tok.class != end {
		err = p.unexpected("AND, OR or the end")
	}
	if err != nil {
		return Filter{}, err
	}
	return f, nil
}

// parser is a recursive descent parser with a lookahead of one token.
type parser struct {
	lexer
	tok   token
	depth int
	terms int
}

func (p *parser) advance() { p.tok = p.next() }

// accept skips the next token if it is the keyword or one of the signs.
func (p *parser) accept(keyword, signs string) bool {
	if p.tok.keyword(keyword) || signs != "" && p.tok.sign(signs) {
		p.advance()
		return true
	}
	return false
}

func (p *parser) or() (Expr, error) {
	first, err := p.and()
	list := []Expr{first}
	for err == nil && p.accept("OR", "|") {
		var x Expr
		x, err = p.and()
		list = append(list, x)
	}
	if err != nil || len(list) == 1 {
		return first, err
	}
	return Or(list), nil
}

func (p *parser) and() (Expr, error) {
	first, err := p.not()
	list := []Expr{first}
	for err == nil && p.accept("AND", "&") {
		var x Expr
		x, err = p.not()
		list = append(list, x)
	}
	if err != nil || len(list) == 1 {
		return first, err
	}
	return And(list), nil
}

func (p *parser) not() (Expr, error) {
	at := p.tok.span
	if !p.accept("NOT", "") {
		return p.term()
	}
	if err := p.deeper(at); err != nil {
		return nil, err
	}
	x, err := p.not()
	p.depth--
	return Not{x}, err
}

// deeper counts nesting. The caller decrements depth afterwards.
func (p *parser) deeper(at oar.Span) error {
	p.depth++
	if p.depth > MaxDepth {
		return p.fail(at, "parentheses and NOT stand in each other more than %d deep", MaxDepth)
	}
	return nil
}

// term parses a condition or an expression in parentheses.
func (p *parser) term() (Expr, error) {
	at := p.tok.span
	if p.accept("", "(") {
		if err := p.deeper(at); err != nil {
			return nil, err
		}
		x, err := p.or()
		if err != nil {
			return nil, err
		}
		if !p.accept("", ")") {
			return nil, p.unexpected("AND, OR or the ) of this (")
		}
		p.depth--
		return x, nil
	}
	p.terms++
	if p.terms > MaxTerms {
		return nil, p.fail(at, "there are more than %d conditions", MaxTerms)
	}
	return p.condition()
}

// condition parses an operand and what follows it, which decides the kind of condition.
func (p *parser) condition() (Expr, error) {
	x, err := p.operand("the name of a property")
	if err != nil {
		return nil, err
	}
	if op, ok := comparison(p.tok); ok {
		p.advance()
		y, err := p.operand("a number, a text in quotes or the name of a property")
		if err != nil {
			return nil, err
		}
		if x.Kind != Name && y.Kind != Name {
			return nil, p.fail(oar.Span{Off: x.Span.Off, End: y.Span.End}, "this compares no property of a node: want one on one side, such as cluster = 'azur'")
		}
		return Compare{op, x, y}, nil
	}
	if x.Kind != Name {
		return nil, p.fail(x.Span, "%s is no condition: want the name of a property, such as cluster = 'azur'", x)
	}
	if p.accept("IS", "") {
		not := p.accept("NOT", "")
		if !p.accept("NULL", "") {
			return nil, p.unexpected("NULL or NOT NULL behind IS")
		}
		return Null{x, not}, nil
	}
	return p.relation(x)
}

// relation parses LIKE, IN or BETWEEN with an optional NOT before it, or nothing.
func (p *parser) relation(x Operand) (Expr, error) {
	not := p.accept("NOT", "")
	switch {
	case p.accept("LIKE", ""):
		pattern, err := p.value("a pattern in quotes, such as 'n%'")
		if err == nil && pattern.Kind != Text {
			err = p.fail(pattern.Span, "a pattern stands in quotes, such as 'n%%'")
		}
		return Like{x, pattern, not}, err
	case p.accept("BETWEEN", ""):
		low, err := p.value("a number or a text in quotes")
		if err != nil {
			return nil, err
		}
		if !p.accept("AND", "") {
			return nil, p.unexpected("AND and the upper limit of BETWEEN")
		}
		high, err := p.value("a number or a text in quotes")
		return Between{x, low, high, not}, err
	case p.accept("IN", ""):
		list, err := p.list()
		return In{x, list, not}, err
	case not:
		return nil, p.unexpected("LIKE, IN or BETWEEN behind NOT")
	}
	return Set{x}, nil
}

// list parses the values after IN.
func (p *parser) list() ([]Operand, error) {
	if !p.accept("", "(") {
		return nil, p.unexpected("( and a list of values behind IN")
	}
	var list []Operand
	for {
		o, err := p.value("a number or a text in quotes")
		if err != nil {
			return nil, err
		}
		list = append(list, o)
		if len(list) > MaxTerms {
			return nil, p.fail(o.Span, "a list has at most %d values", MaxTerms)
		}
		if p.accept("", ")") {
			return list, nil
		}
		if !p.accept("", ",") {
			return nil, p.unexpected("a , or the ) of the list")
		}
	}
}

// value parses an operand other than a property.
func (p *parser) value(want string) (Operand, error) {
	o, err := p.operand(want)
	if err == nil && o.Kind == Name {
		err = p.fail(o.Span, "%s is a name: want %s", o.Text, want)
	}
	return o, err
}

func (p *parser) operand(want string) (Operand, error) {
	o := Operand{Text: p.tok.text, Span: p.tok.span}
	switch {
	case p.tok.name():
		o.Kind = Name
	case p.tok.class == text:
		o.Kind = Text
	case p.tok.class == number:
		o.Kind = Number
	default:
		return o, p.unexpected(want)
	}
	p.advance()
	return o, nil
}

// comparison returns the operator of a token; != is <>.
func comparison(t token) (op string, ok bool) {
	if t.class != sign {
		return "", false
	}
	switch t.text {
	case "=", "<>", "<", "<=", ">", ">=":
		return t.text, true
	case "!=":
		return "<>", true
	}
	return "", false
}

// unexpected returns an error about the current token.
func (p *parser) unexpected(want string) error {
	switch {
	case p.tok.class == end:
		return p.fail(p.tok.span, "the condition ends here: want %s", want)
	case p.tok.class == bad && (p.tok.text[0] == '\'' || p.tok.text[0] == '"'):
		return p.fail(oar.Span{Off: p.tok.span.Off, End: p.tok.span.Off + 1}, "the quote is open: want %s at the end of the text", p.tok.text[:1])
	case p.tok.class == bad:
		return p.fail(p.tok.span, "%s means nothing in a condition: want %s", oar.Quoted(p.tok.text), want)
	}
	return p.fail(p.tok.span, "%s stands here: want %s", oar.Quoted(p.src.Text[p.tok.span.Off:p.tok.span.End]), want)
}

func (p *parser) fail(at oar.Span, format string, args ...any) error {
	return refuse(p.src, at, "syntax error in the properties", fmt.Sprintf(format, args...))
}

// refuse returns an error with the line that OAR prints for errors of its database.
func refuse(src oar.Source, at oar.Span, line, text string) error {
	return &oar.Error{
		Exit: oar.ExitResources, OAR: oar.BadRequest + " (ERROR: " + line + ")",
		Position: src.At(at), Text: text,
	}
}

// The limits of an expression.
const (
	// MaxText is the maximal length of an expression in bytes.
	MaxText = 64 << 10
	// MaxDepth is the maximal nesting of parentheses and of NOT.
	MaxDepth = 64
	// MaxTerms is the maximal number of conditions, and of values in a list.
	MaxTerms = 1000
)
