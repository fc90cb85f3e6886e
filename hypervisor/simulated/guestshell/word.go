package guestshell

import (
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// expander expands words (POSIX §2.6). File names are not expanded: a guest has no files.
type expander struct {
	sh      *shell
	splits  bool // into fields
	escapes bool // quoted text, for a pattern

	fields []string
	word   strings.Builder
	begun  bool // the word has a part, which may be empty
}

// fields expands words into fields. It returns false after an error, which it has told.
func (sh *shell) fields(words []*syntax.Word) ([]string, bool) {
	x := expander{sh: sh, splits: true}
	for _, w := range words {
		if first, last, ok := sequence(w); ok {
			x.sequence(first, last)
		} else if !x.expand(w) {
			return nil, false
		}
		x.end()
		if sh.run.over {
			return nil, false
		}
	}
	return x.fields, true
}

// single expands a word into one field.
func (sh *shell) single(w *syntax.Word) (string, bool) {
	x := expander{sh: sh}
	ok := x.expand(w)
	return x.word.String(), ok
}

// pattern expands a word into a pattern, in which quoted characters have backslashes.
func (sh *shell) pattern(w *syntax.Word) (string, bool) {
	x := expander{sh: sh, escapes: true}
	ok := x.expand(w)
	return x.word.String(), ok
}

// sequence returns the bounds of a word such as {1..5}.
func sequence(w *syntax.Word) (first, last int, ok bool) {
	text := w.Lit()
	if !strings.HasPrefix(text, "{") || !strings.HasSuffix(text, "}") {
		return 0, 0, false
	}
	from, to, ok := strings.Cut(text[1:len(text)-1], "..")
	first, err1 := strconv.Atoi(from)
	last, err2 := strconv.Atoi(to)
	return first, last, ok && err1 == nil && err2 == nil
}

// sequence adds the numbers from first to last as fields.
func (x *expander) sequence(first, last int) {
	for n := first; !x.sh.run.over; {
		x.quoted(strconv.Itoa(n))
		if n == last {
			return
		}
		x.end()
		if n < last {
			n++
		} else {
			n--
		}
	}
}

// end ends a field.
func (x *expander) end() {
	if x.begun {
		x.fields = append(x.fields, x.word.String())
		x.sh.run.spend(1)
	}
	x.word.Reset()
	x.begun = false
}

// add appends to the word.
func (x *expander) add(text string) {
	x.sh.run.spend(len(text) + 1)
	if x.word.Len()+len(text) > maxWord {
		x.sh.run.exceed("%d KiB in a word", maxWord>>10)
	}
	if x.sh.run.over {
		return
	}
	x.begun = true
	x.word.WriteString(text)
}

// quoted appends text of which no character has a meaning.
func (x *expander) quoted(text string) {
	if x.escapes {
		text = quotePattern(text)
	}
	x.add(text)
}

// unquoted appends the result of an expansion outside of quotes.
func (x *expander) unquoted(text string) {
	if !x.splits {
		x.add(text)
		return
	}
	const blanks = " \t\n"
	for text != "" && !x.sh.run.over {
		at := strings.IndexAny(text, blanks)
		if at < 0 {
			x.add(text)
			return
		}
		if at > 0 {
			x.add(text[:at])
		}
		x.end()
		text = strings.TrimLeft(text[at:], blanks)
	}
}

// result appends the result of an expansion.
func (x *expander) result(text string, quoted bool) {
	if quoted {
		x.quoted(text)
	} else {
		x.unquoted(text)
	}
}

// expand appends a word. It returns false after an error.
func (x *expander) expand(w *syntax.Word) bool {
	if w == nil {
		return true
	}
	if !x.sh.run.enter() {
		x.sh.run.leave()
		return false
	}
	defer x.sh.run.leave()
	for _, p := range w.Parts {
		if !x.part(p) {
			return false
		}
	}
	return !x.sh.run.over
}

// part appends a part of a word outside of double quotes.
func (x *expander) part(p syntax.WordPart) bool {
	x.sh.run.spend(4)
	switch p := p.(type) {
	case *syntax.Lit:
		x.literal(p.Value)
	case *syntax.SglQuoted:
		text := p.Value
		if p.Dollar {
			text, _ = unescape(text, false)
		}
		x.quoted(text)
	case *syntax.DblQuoted:
		if len(p.Parts) == 0 {
			x.quoted("")
		}
		x.sh.run.spend(4 * len(p.Parts))
		for _, inner := range p.Parts {
			if lit, ok := inner.(*syntax.Lit); ok {
				x.quoted(unquoteDouble(lit.Value))
			} else if !x.expansion(inner, true) {
				return false
			}
		}
	default:
		return x.expansion(p, false)
	}
	return !x.sh.run.over
}

// literal appends unquoted text: a backslash quotes the character after it.
func (x *expander) literal(text string) {
	if (text == "~" || strings.HasPrefix(text, "~/")) && !x.begun {
		home, _ := x.sh.get("HOME")
		x.quoted(home)
		text = text[1:]
	}
	for text != "" && !x.sh.run.over {
		at := strings.IndexByte(text, '\\')
		if at < 0 || at == len(text)-1 {
			x.add(text)
			return
		}
		if at > 0 {
			x.add(text[:at])
		}
		if text[at+1] != '\n' {
			x.quoted(text[at+1 : at+2])
		}
		text = text[at+2:]
	}
}

// unquoteDouble removes the backslashes that quote within double quotes.
func unquoteDouble(text string) string {
	return strings.NewReplacer(`\$`, `$`, "\\`", "`", `\"`, `"`, `\\`, `\`, "\\\n", "").Replace(text)
}

// expansion appends the result of a parameter, a command or an expression.
func (x *expander) expansion(p syntax.WordPart, quoted bool) bool {
	sh := x.sh
	switch p := p.(type) {
	case *syntax.ParamExp:
		return x.parameter(p, quoted)
	case *syntax.ArithmExp:
		n, ok := sh.arithmetic(p.X)
		x.result(strconv.FormatInt(n, 10), quoted)
		return ok && !sh.run.over
	case *syntax.CmdSubst:
		if p.TempFile || p.ReplyVar {
			break
		}
		child := sh.fork()
		child.loops = 0
		var text strings.Builder
		child.out = sink{kind: toText, text: &text}
		child.list(p.Stmts)
		sh.substituted = child.status
		x.result(strings.TrimRight(text.String(), "\n"), quoted)
		return !sh.run.over
	}
	sh.refuse("this kind of word")
	return false
}

// parameter appends the value of a parameter (POSIX §2.6.2).
func (x *expander) parameter(p *syntax.ParamExp, quoted bool) bool {
	sh := x.sh
	name := p.Param.Value
	understood := p.Exp == nil
	if !understood {
		_, understood = substitutions[p.Exp.Op]
	}
	if !understood || p.Excl || p.Width || p.Index != nil || p.Slice != nil || p.Repl != nil || p.Names != 0 {
		sh.refuse("an expansion of " + name)
		return false
	}
	if (name == "@" || name == "*") && p.Exp == nil && !p.Length {
		x.arguments(name, quoted)
		return !sh.run.over
	}
	value, set := sh.parameter(name)
	if p.Length {
		x.result(strconv.Itoa(len([]rune(value))), quoted)
		return !sh.run.over
	}
	if p.Exp == nil {
		if !set && sh.nounset {
			sh.complain("sh: %s: parameter not set", name)
			sh.status = exitUsage
			return false
		}
		x.result(value, quoted)
		return !sh.run.over
	}
	return x.substitute(p, value, set, quoted)
}

// substitution is what ${X:-word} and its like do.
type substitution struct {
	kind  substitutionKind
	empty bool // an empty value counts as none
}

type substitutionKind uint8

const (
	defaults   substitutionKind = iota // the word in place of no value
	assigns                            // the same, and the variable gets it
	demands                            // an error in place of no value
	alternates                         // the word in place of a value
)

var substitutions = map[syntax.ParExpOperator]substitution{
	syntax.DefaultUnset: {defaults, false}, syntax.DefaultUnsetOrNull: {defaults, true},
	syntax.AssignUnset: {assigns, false}, syntax.AssignUnsetOrNull: {assigns, true},
	syntax.ErrorUnset: {demands, false}, syntax.ErrorUnsetOrNull: {demands, true},
	syntax.AlternateUnset: {alternates, false}, syntax.AlternateUnsetOrNull: {alternates, true},
}

// substitute appends the value of a parameter, or the word that stands in for it.
func (x *expander) substitute(p *syntax.ParamExp, value string, set, quoted bool) bool {
	sh, name, s := x.sh, p.Param.Value, substitutions[p.Exp.Op]
	if s.empty && value == "" {
		set = false
	}
	switch {
	case s.kind == alternates && !set:
		x.result("", quoted)
		return !sh.run.over
	case s.kind != alternates && set:
		x.result(value, quoted)
		return !sh.run.over
	}
	word, ok := sh.single(p.Exp.Word)
	if !ok {
		return false
	}
	switch {
	case s.kind == demands:
		if word == "" {
			word = "parameter not set"
		}
		sh.complain("sh: %s: %s", name, word)
		sh.status = exitUsage
		return false
	case s.kind == assigns && !syntax.ValidName(name):
		sh.refuse("an assignment to " + name)
		return false
	case s.kind == assigns:
		sh.set(name, word)
	}
	x.result(word, quoted)
	return !sh.run.over
}

// arguments appends all positional parameters: fields of their own, or one word for a quoted *.
func (x *expander) arguments(name string, quoted bool) {
	if !x.splits || quoted && name == "*" {
		x.result(strings.Join(x.sh.args, " "), quoted)
		return
	}
	for i, arg := range x.sh.args {
		if i > 0 {
			x.end()
		}
		x.result(arg, quoted)
	}
}

// parameter returns the value of a variable or a special parameter.
func (sh *shell) parameter(name string) (value string, set bool) {
	switch name {
	case "?":
		return strconv.Itoa(sh.status), true
	case "#":
		return strconv.Itoa(len(sh.args)), true
	case "$":
		return "1", true
	case "0":
		return sh.name, true
	case "@", "*":
		return strings.Join(sh.args, " "), len(sh.args) > 0
	}
	if n, err := strconv.Atoi(name); err == nil {
		if n < 1 || n > len(sh.args) {
			return "", false
		}
		return sh.args[n-1], true
	}
	return sh.get(name)
}
