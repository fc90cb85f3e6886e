package script

import (
	"fmt"
	"slices"
)

// Parse reads a script. The file has what could be read, even where there are
// diagnostics. The name is for messages.
func Parse(name, text string) (*File, []Diagnostic) {
	f, rep := parse(name, text)
	return f, rep.sorted()
}

func parse(name, text string) (*File, *report) {
	src := newSource(name, text)
	f, rep := &File{src: src}, newReport(src)
	if !admissible(rep, text) {
		return f, rep
	}
	p := newParser(lexer{text: text, rep: rep})
	f.Body = p.block(end)
	return f, rep
}

// admissible refuses what is too long or not a text, before anything is read.
func admissible(rep *report, text string) bool {
	if len(text) > MaxSource {
		rep.addf(Pos{}, "the script has %d bytes; %d are allowed", len(text), MaxSource)
		return false
	}
	return legible(rep, text)
}

// parser reads tokens one ahead. On an error it reports and goes on at the next
// statement.
type parser struct {
	lex     lexer
	rep     *report
	tok     token
	last    Pos      // the token before
	pending []remark // comments before tok
	depth   int
	stopped bool // nested too deep, or too much is wrong: the rest is not read
	lost    bool // within a statement that is not understood
	blocks  int  // loops that are open
	sets    int  // braces of sets that are open
}

// remark is a comment, or an empty line, between two tokens.
type remark struct {
	text   string
	behind bool // on the line of the token before
}

func newParser(lex lexer) *parser {
	p := &parser{lex: lex, rep: lex.rep}
	p.next()
	return p
}

// next goes on to the next token and keeps the comments on the way.
func (p *parser) next() {
	if p.is(end) {
		return
	}
	p.last = p.tok.pos
	for first := true; ; first = false {
		t := p.lex.next()
		if p.stopped || p.rep.full {
			t.class, p.stopped = end, true
		}
		if p.lex.bad {
			p.lex.bad, p.lost = false, true
		}
		if t.lines > 1 {
			p.pending = append(p.pending, remark{})
		}
		if t.class != comment {
			p.tok = t
			return
		}
		p.pending = append(p.pending, remark{t.text, first && t.lines == 0})
	}
}

// remarks takes the comments so far.
func (p *parser) remarks() []string {
	var list []string
	for _, r := range p.pending {
		list = append(list, r.text)
	}
	p.pending = nil
	return list
}

// inside takes the comments within a statement.
func (p *parser) inside() []string {
	return slices.DeleteFunc(p.remarks(), func(s string) bool { return s == "" })
}

// behind takes the comment behind the token before.
func (p *parser) behind() string {
	if len(p.pending) == 0 || !p.pending[0].behind {
		return ""
	}
	text := p.pending[0].text
	p.pending = p.pending[1:]
	return text
}

// is reports whether the token is of that class.
func (p *parser) is(c class) bool { return p.tok.class == c }

// word reports whether the token is that word, without quotes.
func (p *parser) word(text string) bool { return p.tok.class == word && p.tok.text == text }

// got goes past the token if it is of that class.
func (p *parser) got(c class) bool {
	if !p.is(c) {
		return false
	}
	p.next()
	return true
}

// want goes past a token that must be there.
func (p *parser) want(c class, why string) bool {
	if p.got(c) {
		return true
	}
	p.fail(fmt.Sprintf("want %c %s, not %s", c, why, p.tok.name()))
	return false
}

// fail reports the token. The rest of the statement is not read.
func (p *parser) fail(text string) {
	if p.lost || p.stopped {
		return
	}
	p.lost = true
	at := p.tok.pos
	if p.tok.lines > 0 || p.is(end) { // what is missing is missing on the line before
		at = Pos{p.last.End, p.last.End + 1}
	}
	p.rep.add(at, text)
}

// name is how messages call a token.
func (t token) name() string {
	switch t.class {
	case end:
		return "the end"
	case variable:
		return "$" + t.text
	case quoted:
		return fmt.Sprintf("%q", t.text)
	default:
		return t.text
	}
}

// enter counts how deep brackets and blocks stand in each other.
func (p *parser) enter() bool {
	p.depth++
	if p.depth > MaxDepth && !p.stopped {
		p.fail(fmt.Sprintf("brackets and loops stand in each other more than %d deep", MaxDepth))
		p.stopped = true
	}
	return !p.stopped
}

func (p *parser) leave() { p.depth-- }

// block reads statements up to the closing token, which stays.
func (p *parser) block(closing class) (b Block) {
	for !p.is(closing) && !p.is(end) {
		before := p.remarks()
		if len(b.List) == 0 {
			before = trimmed(before, true)
		}
		var s Stmt
		if !p.lost {
			s = p.statement()
		}
		if p.lost {
			p.resume()
		}
		if s != nil {
			c := s.comments()
			c.Before = slices.Concat(before, c.Before)
			b.List = append(b.List, s)
		}
	}
	b.Tail = trimmed(trimmed(p.remarks(), len(b.List) == 0), false)
	return b
}

// trimmed takes the empty lines off one end of comments.
func trimmed(list []string, front bool) []string {
	for len(list) > 0 && front && list[0] == "" {
		list = list[1:]
	}
	for len(list) > 0 && !front && list[len(list)-1] == "" {
		list = list[:len(list)-1]
	}
	return list
}

// resume skips to where a new statement may begin: behind a semicolon, before the
// end of a block, or at a line that begins as a statement does.
func (p *parser) resume() {
	opened := p.sets // braces
	for ; !p.is(end); p.next() {
		switch {
		case p.is('{'):
			opened++
			continue
		case p.is('}') && opened > 0:
			opened--
			continue
		}
		if p.is(';') && opened <= p.sets {
			p.next()
			break
		}
		ends := p.is('}') && p.blocks > 0
		begins := p.tok.lines > 0 && (p.is(variable) || p.is(word)) && opened <= p.sets
		if ends || begins {
			break
		}
	}
	p.pending, p.sets, p.lost = nil, 0, false
}

func (p *parser) statement() Stmt {
	switch {
	case p.is(variable):
		return p.assign()
	case p.word("for"):
		return p.loop()
	case p.is(word):
		return p.call()
	case p.is(';'):
		p.fail("want a statement before ;")
	case p.is('}'):
		p.rep.addf(p.tok.pos, "no loop is open that this could end")
		p.next()
	default:
		p.rep.addf(p.tok.pos, "a statement cannot begin with %s: want $name = …, for $name in … or a rule", p.tok.name())
		p.lost = true
	}
	return nil
}

// finish reads the semicolon at the end of a statement.
func (p *parser) finish(c *Comments) {
	c.Before = p.inside()
	if p.want(';', "at the end of the statement") {
		c.After = p.behind()
	}
}

func (p *parser) assign() Stmt {
	first := p.tok
	p.next()
	return p.value(first)
}

// value reads what comes behind the variable of an assignment.
func (p *parser) value(first token) Stmt {
	a := &Assign{Pos: first.pos, Name: first.text}
	if !p.want('=', "and a value after the variable") {
		return nil
	}
	a.Value = p.expr()
	p.finish(&a.Comments)
	return a
}

func (p *parser) loop() Stmt {
	p.next()
	f := &For{Pos: p.tok.pos, Name: p.tok.text}
	switch {
	case p.is(word):
		p.rep.addf(p.tok.pos, "variables begin with $: want $%s", p.tok.text)
	case !p.is(variable):
		p.fail("want the variable of the loop: for $t in …")
		return nil
	}
	p.next()
	switch {
	case p.is(word) && !p.word("in"):
		p.rep.addf(p.tok.pos, "want in after the variable of the loop, not %s", p.tok.text)
	case !p.word("in"):
		p.fail(fmt.Sprintf("want in after the variable of the loop, not %s", p.tok.name()))
		return nil
	}
	p.next()
	f.In = p.expr()
	f.Before = p.inside()
	if !p.want('{', "before what the loop does") {
		return nil
	}
	p.blocks++
	if p.enter() {
		f.Body = p.block('}')
	}
	p.leave()
	p.blocks--
	if p.want('}', "at the end of the loop") {
		f.After = p.behind()
	}
	return f
}

func (p *parser) call() Stmt {
	c := &Call{Pos: p.tok.pos}
	p.modifiers(c)
	if p.lost {
		return nil
	}
	first := p.tok
	c.Rule, c.RulePos = first.text, first.pos
	p.next()
	if p.is('=') {
		p.rep.addf(first.pos, "variables begin with $: want $%s = …", first.text)
		return p.value(first)
	}
	if !p.want('(', "after the rule "+c.Rule) {
		return nil
	}
	if !p.is(')') {
		p.args(c)
	}
	if !p.want(')', "after the last argument") {
		return nil
	}
	c.Pos = c.Pos.to(p.last)
	p.finish(&c.Comments)
	return c
}

// modifiers reads what stands before the name of a rule, and ends at the name.
func (p *parser) modifiers(c *Call) {
	for p.is(word) {
		first := p.tok
		ahead := *p // a rule might be called like a modifier
		ahead.pending = slices.Clone(p.pending)
		p.next()
		switch {
		case first.text == "soft" && p.is('('):
			p.soft(c, first)
		case (first.text == "continuous" || first.text == "discrete") && p.is(word):
			p.mode(c, first)
		case (first.text == "mandatory" || first.text == "preferred") && p.is(word):
			p.strength(c, first)
		default:
			*p = ahead
			return
		}
	}
	p.fail(fmt.Sprintf("want the name of a rule, not %s", p.tok.name()))
}

func (p *parser) mode(c *Call, first token) {
	if c.Mode != Unsaid {
		p.rep.addf(first.pos, "a rule is continuous or discrete, said once")
	}
	c.Mode, c.ModePos = Discrete, first.pos
	if first.text == "continuous" {
		c.Mode = Continuous
	}
}

func (p *parser) strength(c *Call, first token) {
	if c.Strength != Unstated {
		p.rep.addf(first.pos, "a rule is mandatory or preferred, said once")
	}
	c.Strength, c.StrengthPos = Mandatory, first.pos
	if first.text == "preferred" {
		c.Strength = Preferred
	}
}

func (p *parser) soft(c *Call, first token) {
	p.next()
	if c.Penalty != nil {
		p.rep.addf(first.pos, "soft is said once")
	}
	c.Penalty = p.expr()
	p.want(')', "after the penalty of a breach")
}

func (p *parser) args(c *Call) {
	for {
		a := Arg{Pos: p.tok.pos}
		a.Value = p.expr()
		if w, ok := a.Value.(*Word); ok && p.is('=') {
			p.next()
			a.Name, a.Value = w.Text, p.expr()
		}
		a.Pos = a.Pos.to(a.Value.At())
		c.Args = append(c.Args, a)
		if p.lost || !p.got(',') {
			return
		}
	}
}
