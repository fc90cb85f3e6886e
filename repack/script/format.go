package script

import (
	"slices"
	"strings"
)

// Format writes a file as text, always in the same way: one statement a line, four
// spaces for each loop around it, comments where they were. Reading the text again
// gives the same file. Parts that could not be read are not in it.
func Format(f *File) string {
	var p printer
	p.block(&f.Body)
	return p.b.String()
}

type printer struct {
	b      strings.Builder
	indent int
}

func (p *printer) line(text string) {
	if text != "" {
		p.b.WriteString(strings.Repeat("    ", p.indent) + text)
	}
	p.b.WriteByte('\n')
}

func (p *printer) block(b *Block) {
	for _, s := range b.List {
		c := s.comments()
		for _, text := range c.Before {
			p.line(text)
		}
		after := ""
		if c.After != "" {
			after = " " + c.After
		}
		switch s := s.(type) {
		case *Assign:
			p.line("$" + s.Name + " = " + text(s.Value, 0) + ";" + after)
		case *Call:
			p.line(s.text() + ";" + after)
		case *For:
			p.line("for $" + s.Name + " in " + text(s.In, 0) + " {")
			p.indent++
			p.block(&s.Body)
			p.indent--
			p.line("}" + after)
		}
	}
	for _, text := range b.Tail {
		p.line(text)
	}
}

func (c *Call) text() string {
	var b strings.Builder
	b.WriteString([...]string{"", "discrete ", "continuous "}[c.Mode])
	b.WriteString([...]string{"", "mandatory ", "preferred "}[c.Strength])
	if c.Penalty != nil {
		b.WriteString("soft(" + text(c.Penalty, 0) + ") ")
	}
	b.WriteString(c.Rule + "(")
	for i, a := range c.Args {
		if i > 0 {
			b.WriteString(", ")
		}
		if a.Name != "" {
			b.WriteString(Name(a.Name) + "=")
		}
		b.WriteString(text(a.Value, 0))
	}
	return b.String() + ")"
}

// level tells how strongly an operator binds.
func level(op byte) int {
	if op == '+' || op == '-' {
		return 1
	}
	return 2
}

// text is an expression, in parentheses if it binds less than min.
func text(x Expr, least int) string {
	switch x := x.(type) {
	case *Word:
		return Name(x.Text)
	case *Pattern:
		return x.text()
	case *Var:
		return "$" + x.Name
	case *Family:
		return "$" + x.Name + itemsText(x.Items)
	case *Braces:
		list := make([]string, len(x.List))
		for i, e := range x.List {
			list[i] = text(e, 0)
		}
		return "{" + strings.Join(list, ", ") + "}"
	case *Cast:
		if x.Nodes {
			return "nodes(" + text(x.X, 0) + ")"
		}
		return "vms(" + text(x.X, 0) + ")"
	case *Labelled:
		return "nodes(" + Name(x.Key) + "=" + Name(x.Value) + ")"
	case *Binary:
		return x.text(least)
	}
	return "" // *Bad
}

func (x *Binary) text(least int) string {
	// The terms of a long sum stand in each other to the left.
	chain := []*Binary{x}
	for {
		left, ok := chain[len(chain)-1].X.(*Binary)
		if !ok || level(left.Op) != level(x.Op) {
			break
		}
		chain = append(chain, left)
	}
	var b strings.Builder
	b.WriteString(text(chain[len(chain)-1].X, level(x.Op)))
	for _, op := range slices.Backward(chain) {
		b.WriteString(" " + string(op.Op) + " " + text(op.Y, level(x.Op)+1))
	}
	if level(x.Op) < least {
		return "(" + b.String() + ")"
	}
	return b.String()
}

func (x *Pattern) text() string {
	var b strings.Builder
	for i, part := range x.Parts {
		switch {
		case part.Items != nil:
			b.WriteString(itemsText(part.Items))
		case i+1 < len(x.Parts) && opens(part.Text):
			b.WriteString(part.Text)
		default:
			b.WriteString(Name(part.Text))
		}
	}
	return b.String()
}

// opens reports whether a text is one word when a range follows: "12." and "web-"
// are.
func opens(text string) bool {
	l := lexer{text: text + "["}
	l.word()
	return text != "" && len(text) <= MaxName && l.at == len(text)
}

func itemsText(items []Item) string {
	list := make([]string, len(items))
	for i, item := range items {
		list[i] = item.From.textOf()
		if item.Range {
			list[i] += ".." + item.To.textOf()
		}
	}
	return "[" + strings.Join(list, ",") + "]"
}

func (b Bound) textOf() string {
	if b.Var {
		return "$" + b.Text
	}
	if _, _, ok := dashed(b.Text); ok {
		return `"` + b.Text + `"`
	}
	return Name(b.Text)
}

// Name returns a name as a script has it: in quotes if necessary.
func Name(text string) string {
	if bare(text) {
		return text
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text) + `"`
}
