package script

import (
	"fmt"
	"strings"
)

// expr reads terms between + and -.
func (p *parser) expr() Expr {
	if !p.enter() {
		p.leave()
		return &Bad{p.tok.pos}
	}
	defer p.leave()
	terms := 0
	x := p.product(&terms)
	for !p.lost && (p.is('+') || p.is('-')) {
		x = p.binary(x, &terms, func() Expr { return p.product(&terms) })
	}
	return x
}

// product reads factors between &, * and /.
func (p *parser) product(terms *int) Expr {
	x := p.factor()
	for !p.lost && (p.is('&') || p.is('*') || p.is('/')) {
		x = p.binary(x, terms, p.factor)
	}
	return x
}

func (p *parser) binary(x Expr, terms *int, right func() Expr) Expr {
	if *terms++; *terms > MaxTerms {
		p.fail(fmt.Sprintf("an expression has at most %d operators", MaxTerms))
		p.stopped = true
		return x
	}
	b := &Binary{Pos: p.tok.pos, Op: byte(p.tok.class), X: x}
	if b.Op == '*' {
		b.Op = '&'
	}
	p.next()
	b.Y = right()
	return b
}

func (p *parser) factor() Expr {
	switch p.tok.class {
	case word, quoted, '[':
		return p.names()
	case variable:
		return p.variable()
	case '{':
		return p.braces()
	case '(':
		return p.parens()
	case '-':
		p.fail("numbers are from 0 on; a difference has something before the -")
	default:
		p.fail(fmt.Sprintf("want a name, a number, a variable or {…}, not %s", p.tok.name()))
	}
	return &Bad{p.tok.pos}
}

func (p *parser) parens() Expr {
	p.next()
	x := p.expr()
	p.want(')', "to the ( before")
	return x
}

func (p *parser) variable() Expr {
	name, at := p.tok.text, p.tok.pos
	p.next()
	if !p.is('[') || !p.tok.glued {
		return &Var{at, name}
	}
	items := p.items()
	return &Family{at.to(p.last), name, items}
}

// names reads a name with or without ranges, or vms(…) and nodes(…).
func (p *parser) names() Expr {
	first := p.tok
	var parts []Part
	for {
		switch p.tok.class {
		case '[':
			parts = append(parts, Part{Items: p.items()})
		default:
			if n := len(parts) - 1; n >= 0 && parts[n].Items == nil {
				if parts[n].Text += p.tok.text; len(parts[n].Text) > MaxName {
					p.fail(fmt.Sprintf("a name has at most %d bytes", MaxName))
				}
			} else {
				parts = append(parts, Part{Text: p.tok.text})
			}
			p.next()
		}
		if p.lost || !p.tok.glued || !p.is(word) && !p.is(quoted) && !p.is('[') {
			break
		}
	}
	at := first.pos.to(p.last)
	if n := len(parts) - 1; n > 0 && parts[n].Items == nil && parts[n].Text == "" {
		parts = parts[:n]
	}
	if parts[0].Items == nil && parts[0].Text == "" && len(parts) > 1 {
		parts = parts[1:]
	}
	switch {
	case len(parts) > 1 || parts[0].Items != nil:
		return &Pattern{at, parts}
	case first.class == word && p.is('(') && (first.text == "vms" || first.text == "nodes"):
		return p.cast(first)
	case p.is('['):
		p.fail(fmt.Sprintf("a range stands right behind its name: %s[", first.name()))
	case parts[0].Text == "":
		p.rep.addf(at, "a name has at least one letter")
		return &Bad{at}
	}
	return &Word{at, parts[0].Text}
}

func (p *parser) cast(first token) Expr {
	c := &Cast{Nodes: first.text == "nodes"}
	p.next()
	c.X = p.expr()
	if key, ok := c.X.(*Word); ok && c.Nodes && p.is('=') {
		return p.labelled(first, key)
	}
	p.want(')', "after "+first.text+"(…")
	c.Pos = first.pos.to(p.last)
	return c
}

// labelled reads what follows "nodes(rack".
func (p *parser) labelled(first token, key *Word) Expr {
	p.next()
	x := p.expr()
	p.want(')', "after nodes(…")
	at := first.pos.to(p.last)
	value, ok := x.(*Word)
	if !ok {
		p.rep.addf(x.At(), "want the value of the label %s: nodes(%s=r1)", key.Text, key.Text)
		return &Bad{at}
	}
	return &Labelled{at, key.Text, value.Text}
}

func (p *parser) braces() Expr {
	b := &Braces{Pos: p.tok.pos}
	p.next()
	p.sets++
	for !p.is('}') {
		b.List = append(b.List, p.expr())
		if p.lost || !p.got(',') {
			break
		}
	}
	if !p.is('}') {
		p.fail(fmt.Sprintf("want , or } in the set, not %s", p.tok.name()))
	} else {
		p.sets--
		p.next()
	}
	b.Pos = b.Pos.to(p.last)
	return b
}

// items reads "[1..5,7]".
func (p *parser) items() []Item {
	p.next()
	items := []Item{}
	for {
		i := Item{Pos: p.tok.pos}
		i.From = p.bound()
		if !p.lost && p.got(dots) {
			i.Range = true
			i.To = p.bound()
		}
		i.Pos = i.Pos.to(p.last)
		items = append(items, i)
		if p.lost || !p.got(',') {
			break
		}
	}
	if !p.lost && !p.is(']') {
		p.fail(fmt.Sprintf("want , or .. or ] in the range, not %s", p.tok.name()))
	}
	p.got(']')
	return items
}

func (p *parser) bound() Bound {
	b := Bound{p.tok.text, p.is(variable)}
	if from, to, ok := dashed(b.Text); ok && p.is(word) {
		p.fail(fmt.Sprintf("a range is written with dots: want %s..%s", from, to))
		return b
	}
	if !p.is(word) && !p.is(variable) && !p.is(quoted) {
		p.fail(fmt.Sprintf("want a number in the range, not %s", p.tok.name()))
		return b
	}
	p.next()
	return b
}

// dashed cuts "1-5", which people write for 1..5.
func dashed(text string) (from, to string, ok bool) {
	from, to, ok = strings.Cut(text, "-")
	return from, to, ok && number(from) && number(to)
}

// number reports whether a text is a whole number.
func number(text string) bool {
	for i := range len(text) {
		if !isDigit(text[i]) {
			return false
		}
	}
	return text != ""
}
