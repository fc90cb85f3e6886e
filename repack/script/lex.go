package script

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// class is what a token is. Signs are their own class: ';', '{', '+'.
type class rune

const (
	end      class = -1 - iota // of the text
	word                       // VM17, web-01, 12.3, 90s, 150%
	quoted                     // "my VM", 'my VM'
	variable                   // $T1
	dots                       // ..
	comment                    // # or //
)

type token struct {
	class class
	text  string // without quotes, marks and escapes
	pos   Pos
	glued bool // nothing stands between it and the token before
	lines int  // how often the line ended since the token before
}

// lexer cuts a text into tokens. It never fails: what it cannot read it reports
// and leaves out.
type lexer struct {
	text string
	at   int
	base int  // where the text begins in the source
	flat bool // the text does not stand in the source letter by letter
	rep  *report
	bad  bool // something was left out
}

func (l *lexer) pos(from int) Pos {
	if l.flat {
		return Pos{l.base, l.base + 1}
	}
	return Pos{l.base + from, l.base + l.at}
}

// next is the next token, comments among them.
func (l *lexer) next() token {
	for {
		before := l.at
		lines := l.space()
		glued := l.at == before && before > 0
		if t, ok := l.token(); ok {
			t.glued, t.lines = glued, lines
			return t
		}
	}
}

// space skips what separates tokens and counts the line ends.
func (l *lexer) space() (lines int) {
	for l.at < len(l.text) && strings.IndexByte(" \t\r\n", l.text[l.at]) >= 0 {
		if l.text[l.at] == '\n' {
			lines++
		}
		l.at++
	}
	return lines
}

func (l *lexer) token() (token, bool) {
	from := l.at
	rest := l.text[from:]
	is := func(c class, text string) (token, bool) { return token{class: c, text: text, pos: l.pos(from)}, true }
	switch {
	case rest == "":
		return is(end, "")
	case rest[0] == '#' || strings.HasPrefix(rest, "//"):
		return is(comment, l.comment())
	case rest[0] == '"' || rest[0] == '\'':
		return is(quoted, l.quoted())
	case rest[0] == '$':
		l.at++
		name := l.variable()
		if name == "" {
			l.fail(from, "a variable has a name of letters, digits and _: $T1")
			return token{}, false
		}
		return is(variable, name)
	case strings.HasPrefix(rest, ".."):
		l.at += 2
		return is(dots, "..")
	case strings.IndexByte(";,(){}[]=+-&*/", rest[0]) >= 0:
		l.at++
		return is(class(rest[0]), rest[:1])
	}
	l.word()
	if l.at > from {
		if l.at-from > MaxName {
			l.fail(from, "a name has at most %d bytes, and this has %d", MaxName, l.at-from)
			return token{}, false
		}
		return is(word, l.text[from:l.at])
	}
	r, size := utf8.DecodeRuneInString(rest)
	l.at += size
	l.fail(from, "%q means nothing here; a name with such a character is quoted: \"…\"", r)
	return token{}, false
}

// fail reports what stands between from and here.
func (l *lexer) fail(from int, format string, args ...any) {
	l.bad = true
	l.rep.addf(l.pos(from), format, args...)
}

// comment is the text from its mark to the end of the line, with the mark #.
func (l *lexer) comment() string {
	rest := l.text[l.at:]
	if i := strings.IndexByte(rest, '\n'); i >= 0 {
		rest = rest[:i]
	}
	l.at += len(rest)
	rest = strings.TrimPrefix(strings.TrimPrefix(rest, "//"), "#")
	return "#" + strings.TrimRight(rest, " \t\r")
}

// quoted reads a name in quotes. Between double ones \" and \\ stand for " and \.
func (l *lexer) quoted() string {
	from, mark := l.at, l.text[l.at]
	var name strings.Builder
	for l.at++; l.at < len(l.text) && l.text[l.at] != '\n'; l.at++ {
		c := l.text[l.at]
		switch {
		case c == mark:
			l.at++
			if name.Len() > MaxName {
				l.fail(from, "a name has at most %d bytes, and this has %d", MaxName, name.Len())
			}
			return name.String()
		case c == '\\' && mark == '"' && l.at+1 < len(l.text) && strings.IndexByte(`"\`, l.text[l.at+1]) >= 0:
			l.at++
			name.WriteByte(l.text[l.at])
		default:
			name.WriteByte(c)
		}
	}
	l.fail(from, "the quote is open: want %c before the end of the line", mark)
	return name.String()
}

func (l *lexer) variable() string {
	from := l.at
	for l.at < len(l.text) && (l.text[l.at] == '_' || isDigit(l.text[l.at]) || isLetter(l.text[l.at])) {
		l.at++
	}
	if name := l.text[from:l.at]; len(name) <= MaxName {
		return name
	}
	return ""
}

// word moves over one word: letters, digits, _ and dots; and hyphens, where a
// letter, a digit or a range follows.
func (l *lexer) word() {
	from := l.at
	for l.at < len(l.text) {
		r, size := utf8.DecodeRuneInString(l.text[l.at:])
		after := l.text[l.at+size:]
		switch {
		case inWord(r):
		case r == '.' && !strings.HasPrefix(after, "."):
		case r == '-' && l.at > from && goesOn(after):
		case r == '%' && l.at > from && isDigit(l.text[l.at-1]):
		default:
			return
		}
		l.at += size
	}
}

func goesOn(after string) bool {
	r, _ := utf8.DecodeRuneInString(after)
	return inWord(r) || r == '['
}

func inWord(r rune) bool {
	return r != utf8.RuneError && (r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r))
}

func isDigit(c byte) bool  { return '0' <= c && c <= '9' }
func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// bare reports whether a text is read as one word, also with something behind it.
func bare(text string) bool {
	if text == "" || strings.HasSuffix(text, ".") || len(text) > MaxName {
		return false
	}
	l := lexer{text: text}
	l.word()
	return l.at == len(text)
}

// legible looks for what no script may have: what is not UTF-8, characters that
// steer a terminal, and those that turn the direction of writing, by which a script
// would show something else than it means.
func legible(rep *report, text string) bool {
	for i, r := range text {
		_, size := utf8.DecodeRuneInString(text[i:])
		at := Pos{i, i + size}
		switch {
		case r == utf8.RuneError && size == 1:
			rep.addf(at, "the byte %#02x is not UTF-8", text[i])
			return false
		case r == '\t' || r == '\n' || r == '\r' && strings.HasPrefix(text[i+1:], "\n"):
		case unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r):
			rep.addf(at, "the character %U must not be in a script", r)
			return false
		}
	}
	return true
}
