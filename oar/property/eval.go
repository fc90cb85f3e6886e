package property

import (
	"cmp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// truth is the value of a condition in SQL: unknown if a property is missing.
type truth int8

const (
	no truth = iota - 1
	unknown
	yes
)

func is(b bool) truth {
	if b {
		return yes
	}
	return no
}

// not negates a truth; unknown stays unknown.
func (t truth) not(when bool) truth {
	if when {
		return -t
	}
	return t
}

func (x And) truth(of Properties) truth {
	least := yes
	for _, e := range x {
		least = min(least, e.truth(of))
	}
	return least
}

func (x Or) truth(of Properties) truth {
	most := no
	for _, e := range x {
		most = max(most, e.truth(of))
	}
	return most
}

func (x Not) truth(of Properties) truth { return x.X.truth(of).not(true) }

func (x Compare) truth(of Properties) truth {
	order, ok := compare(x.Left, x.Right, of)
	if !ok {
		return unknown
	}
	switch x.Op {
	case "=":
		return is(order == 0)
	case "<>":
		return is(order != 0)
	case "<":
		return is(order < 0)
	case "<=":
		return is(order <= 0)
	case ">":
		return is(order > 0)
	default:
		return is(order >= 0)
	}
}

func (x Like) truth(of Properties) truth {
	value, ok := x.X.value(of)
	if !ok {
		return unknown
	}
	return is(like(value, x.Pattern.Text)).not(x.Not)
}

func (x In) truth(of Properties) truth {
	found := no
	for _, o := range x.List {
		found = max(found, Compare{"=", x.X, o}.truth(of))
	}
	return found.not(x.Not)
}

func (x Between) truth(of Properties) truth {
	return min(Compare{">=", x.X, x.Low}.truth(of), Compare{"<=", x.X, x.High}.truth(of)).not(x.Not)
}

func (x Null) truth(of Properties) truth {
	_, ok := x.X.value(of)
	return is(!ok).not(x.Not)
}

func (x Set) truth(of Properties) truth {
	value, ok := x.X.value(of)
	if !ok {
		return unknown
	}
	switch strings.ToUpper(value) {
	case "", "0", "F", "FALSE", "N", "NO":
		return no
	}
	return yes
}

// Matches reports whether all conditions hold.
func (x And) Matches(of Properties) bool { return x.truth(of) == yes }

// Matches reports whether one of the conditions holds.
func (x Or) Matches(of Properties) bool { return x.truth(of) == yes }

// Matches reports whether the condition is false.
func (x Not) Matches(of Properties) bool { return x.truth(of) == yes }

// Matches compares.
func (x Compare) Matches(of Properties) bool { return x.truth(of) == yes }

// Matches compares with the pattern.
func (x Like) Matches(of Properties) bool { return x.truth(of) == yes }

// Matches looks for the value in the list.
func (x In) Matches(of Properties) bool { return x.truth(of) == yes }

// Matches compares with both limits.
func (x Between) Matches(of Properties) bool { return x.truth(of) == yes }

// Matches reports whether the property is missing.
func (x Null) Matches(of Properties) bool { return x.truth(of) == yes }

// Matches reports whether the property is set.
func (x Set) Matches(of Properties) bool { return x.truth(of) == yes }

// value returns the value of an operand for a node.
func (o Operand) value(of Properties) (string, bool) {
	if o.Kind == Name {
		return of(o.Text)
	}
	return o.Text, true
}

// compare orders two operands: as numbers if both are numbers, else as texts. A number without quotes
// compares only with numbers.
func compare(a, b Operand, of Properties) (order int, ok bool) {
	x, okX := a.value(of)
	y, okY := b.value(of)
	if !okX || !okY {
		return 0, false
	}
	n, numberX := numeric(x)
	m, numberY := numeric(y)
	switch {
	case numberX && numberY:
		return cmp.Compare(n, m), true
	case a.Kind == Number || b.Kind == Number:
		return 0, false
	}
	return cmp.Compare(x, y), true
}

// numeric parses a plain decimal number, without exponents, hexadecimals and infinities.
func numeric(s string) (float64, bool) {
	digits := strings.TrimPrefix(s, "-")
	if digits == "" || strings.Trim(digits, "0123456789.") != "" {
		return 0, false
	}
	f, err := strconv.ParseFloat(s, 64)
	return f, err == nil
}

// like matches a text with a pattern of SQL; \ escapes the next character. It backtracks only to the
// last %, so the work is bounded by the product of the lengths.
func like(text, pattern string) bool {
	star, at := -1, 0 // position after the last %, and the position in the text that it has reached
	i, j := 0, 0
	for i < len(text) {
		if j < len(pattern) && pattern[j] == '%' {
			j++
			star, at = j, i
			continue
		}
		if n, m, ok := letter(text[i:], pattern[j:]); ok {
			i, j = i+n, j+m
			continue
		}
		if star < 0 {
			return false
		}
		_, n := utf8.DecodeRuneInString(text[at:])
		at += n
		i, j = at, star
	}
	return strings.Trim(pattern[j:], "%") == ""
}

// letter matches the first character of a text with a pattern that does not begin with %. It returns
// the length of the match in both.
func letter(text, pattern string) (n, m int, ok bool) {
	r, n := utf8.DecodeRuneInString(text)
	p, m := utf8.DecodeRuneInString(pattern)
	switch {
	case m == 0:
		return 0, 0, false
	case p == '_':
		return n, m, true
	case p == '\\' && len(pattern) > 1:
		q, size := utf8.DecodeRuneInString(pattern[1:])
		return n, 1 + size, q == r
	}
	return n, m, p == r
}
