package guestshell

import (
	"strings"
	"unicode/utf8"
)

// quotePattern quotes the characters of a text that have a meaning in patterns.
func quotePattern(text string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(text)
}

// matches reports whether a text matches a pattern (POSIX §2.13). Its time is at most proportional to the product of
// both lengths: only the last * that was met is tried again.
func matches(pattern, text string) bool {
	star, retry := -1, 0
	p, t := 0, 0
	for t < len(text) {
		if p < len(pattern) && pattern[p] == '*' {
			p++
			star, retry = p, t
			continue
		}
		if next, size, ok := matchOne(pattern[p:], text[t:]); ok {
			p, t = p+next, t+size
			continue
		}
		if star < 0 {
			return false
		}
		_, size := utf8.DecodeRuneInString(text[retry:])
		retry += size
		p, t = star, retry
	}
	return strings.Trim(pattern[p:], "*") == ""
}

// matchOne matches one character, which is not a *. It returns the lengths that it takes of both.
func matchOne(pattern, text string) (next, size int, ok bool) {
	if pattern == "" {
		return 0, 0, false
	}
	c, size := utf8.DecodeRuneInString(text)
	switch pattern[0] {
	case '?':
		return 1, size, true
	case '[':
		if in, next, ok := matchSet(pattern, c); ok {
			return next, size, in
		}
	case '\\':
		if len(pattern) > 1 {
			want, n := utf8.DecodeRuneInString(pattern[1:])
			return 1 + n, size, want == c
		}
	}
	want, n := utf8.DecodeRuneInString(pattern)
	return n, size, want == c
}

// matchSet reports whether a character is in the set at the beginning of a pattern, such as [a-z]; ok is false if
// the set has no end. next is its length.
func matchSet(pattern string, c rune) (in bool, next int, ok bool) {
	const longest = 256 // bytes of a set
	at := 1
	negated := at < len(pattern) && (pattern[at] == '!' || pattern[at] == '^')
	if negated {
		at++
	}
	for first := at; at < min(len(pattern), longest); {
		if pattern[at] == ']' && at > first {
			return in != negated, at + 1, true
		}
		low, n := utf8.DecodeRuneInString(pattern[at:])
		at += n
		high := low
		if at+1 < len(pattern) && pattern[at] == '-' && pattern[at+1] != ']' {
			high, n = utf8.DecodeRuneInString(pattern[at+1:])
			at += 1 + n
		}
		in = in || low <= c && c <= high
	}
	return false, 0, false
}
