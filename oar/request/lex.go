package request

import (
	"strings"
	"unicode/utf8"

	"vjob/oar"
)

// class is the kind of a token.
type class uint8

const (
	end      class = iota
	word           // letters, digits and _
	sign           // = / + ,
	braced         // { … }, the text without the braces
	unclosed       // an unclosed {, or one with a } between quotes
	invalid        // anything else
)

type token struct {
	class class
	text  string
	span  oar.Span
}

func (t token) isSign(text string) bool { return t.class == sign && t.text == text }

// isWalltime reports whether the token begins the walltime. OAR accepts any name with this prefix.
func (t token) isWalltime() bool { return t.class == word && strings.HasPrefix(t.text, "walltime") }

// lexer splits a text into tokens.
type lexer struct {
	text string
	at   int
}

const whitespace = " \t\r\n\f\v"

func (l *lexer) next() token {
	for l.at < len(l.text) && strings.IndexByte(whitespace, l.text[l.at]) >= 0 {
		l.at++
	}
	from := l.at
	if from == len(l.text) {
		return token{end, "", oar.Span{Off: from, End: from}}
	}
	c := invalid
	switch b := l.text[from]; {
	case b == '{':
		return l.braces()
	case strings.IndexByte("=/+,", b) >= 0:
		c = sign
		l.at++
	case isWordByte(b):
		c = word
		for l.at < len(l.text) && isWordByte(l.text[l.at]) {
			l.at++
		}
	default:
		_, size := utf8.DecodeRuneInString(l.text[from:])
		l.at += size
	}
	return token{c, l.text[from:l.at], oar.Span{Off: from, End: l.at}}
}

// braces reads a property. A } between quotes is refused: in OAR it ends the property, which leaves a
// condition with an open quote. The token of an error is the mark at fault: the open { or quote, or
// that }.
func (l *lexer) braces() token {
	from := l.at
	fault := func(at int) token {
		l.at = len(l.text)
		return token{unclosed, l.text[at : at+1], oar.Span{Off: at, End: at + 1}}
	}
	quote := -1 // position of the open quote
	for i := from + 1; i < len(l.text); i++ {
		c := l.text[i]
		switch {
		case quote < 0 && c == '}':
			l.at = i + 1
			return token{braced, l.text[from+1 : i], oar.Span{Off: from, End: l.at}}
		case quote < 0 && (c == '\'' || c == '"'):
			quote = i
		case quote < 0:
		case c == l.text[quote]:
			quote = -1
		case c == '}' && strings.IndexByte(l.text[i:], l.text[quote]) < 0:
			return fault(quote)
		case c == '}':
			return fault(i)
		}
	}
	return fault(from)
}

func isWordByte(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z'
}
