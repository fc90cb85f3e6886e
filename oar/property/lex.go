package property

import (
	"slices"
	"strings"
	"unicode/utf8"

	"vjob/oar"
)

// class is the kind of a token. The text of a sign is the sign.
type class uint8

const (
	end    class = iota
	word         // a name or a keyword
	text         // between quotes
	number       // 64, 1.5, -1
	sign         // = <> != < <= > >= ( ) , & |
	bad          // anything else
)

type token struct {
	class class
	text  string // without quotes
	span  oar.Span
}

// keyword reports whether the token is a keyword, in any case.
func (t token) keyword(name string) bool {
	return t.class == word && strings.EqualFold(t.text, name)
}

func (t token) sign(text string) bool { return t.class == sign && t.text == text }

// reserved are the keywords, which cannot be names.
var reserved = []string{"AND", "OR", "NOT", "LIKE", "IN", "BETWEEN", "IS", "NULL"}

func (t token) name() bool {
	return t.class == word && !slices.ContainsFunc(reserved, t.keyword)
}

// lexer splits a part of a source into tokens.
type lexer struct {
	src oar.Source
	at  int
	end int
}

func (l *lexer) next() token {
	for l.at < l.end && strings.IndexByte(" \t\r\n", l.src.Text[l.at]) >= 0 {
		l.at++
	}
	from := l.at
	rest := l.src.Text[from:l.end]
	is := func(c class, size int, text string) token {
		l.at += size
		return token{c, text, oar.Span{Off: from, End: l.at}}
	}
	if rest == "" {
		return is(end, 0, "")
	}
	switch c := rest[0]; {
	case c == '\'' || c == '"':
		return l.quoted(rest)
	case isDigit(c), c == '-' && len(rest) > 1 && isDigit(rest[1]):
		return is(number, digits(rest), rest[:digits(rest)])
	case isLetter(c):
		n := 1
		for n < len(rest) && (isLetter(rest[n]) || isDigit(rest[n])) {
			n++
		}
		return is(word, n, rest[:n])
	}
	for _, s := range []string{"<>", "!=", "<=", ">=", "=", "<", ">", "(", ")", ",", "&", "|"} {
		if strings.HasPrefix(rest, s) {
			return is(sign, len(s), s)
		}
	}
	_, size := utf8.DecodeRuneInString(rest)
	return is(bad, size, rest[:size])
}

// quoted reads a string. A doubled quote is a quote. An open string is bad.
func (l *lexer) quoted(rest string) token {
	var b strings.Builder
	from, mark := l.at, rest[:1]
	for i := 1; ; {
		j := strings.Index(rest[i:], mark)
		if j < 0 {
			l.at = l.end
			return token{bad, rest, oar.Span{Off: from, End: l.end}}
		}
		b.WriteString(rest[i : i+j])
		i += j + 1
		if !strings.HasPrefix(rest[i:], mark) {
			l.at = from + i
			return token{text, b.String(), oar.Span{Off: from, End: l.at}}
		}
		b.WriteString(mark)
		i++
	}
}

// digits returns the length of the number at the beginning of a text.
func digits(s string) int {
	n := 1
	for n < len(s) && isDigit(s[n]) {
		n++
	}
	if n+1 < len(s) && s[n] == '.' && isDigit(s[n+1]) {
		for n++; n < len(s) && isDigit(s[n]); n++ {
		}
	}
	return n
}

func isDigit(c byte) bool  { return '0' <= c && c <= '9' }
func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' || c == '_' }
