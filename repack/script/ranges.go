package script

import (
	"fmt"
	"slices"
	"strconv"
)

// words are the names of a pattern, not looked up yet. Nil if it has an error.
func (e *evaluator) words(p *Pattern) []value {
	texts := []string{""}
	for _, part := range p.Parts {
		next := []string{part.Text}
		if part.Items != nil {
			next = e.texts(part.Items, p.Pos)
		}
		if next == nil {
			return nil
		}
		if n := len(texts) * len(next); n > MaxSet {
			e.fail(p.Pos, "a set has at most %d members, and this range has %d", MaxSet, n)
			return nil
		}
		if !e.step(p.Pos, len(texts)*len(next)) {
			return nil
		}
		texts = product(texts, next)
		if slices.ContainsFunc(texts, func(t string) bool { return len(t) > MaxName }) {
			e.fail(p.Pos, "a name has at most %d bytes", MaxName)
			return nil
		}
	}
	out := make([]value, len(texts))
	for i, t := range texts {
		out[i] = value{depth: text1, word: &Word{p.Pos, t}}
	}
	return out
}

// product joins each of the first with each of the second.
func product(first, second []string) []string {
	out := make([]string, 0, len(first)*len(second))
	for _, a := range first {
		for _, b := range second {
			out = append(out, a+b)
		}
	}
	return out
}

// family are the values of $name1, $name2 and so on. Nil if there is an error.
func (e *evaluator) family(f *Family) []value {
	texts := e.texts(f.Items, f.Pos)
	if !e.step(f.Pos, len(texts)) {
		return nil
	}
	values := make([]value, 0, len(texts))
	for _, t := range texts {
		v := e.lookup(f.Name+t, f.Pos)
		if v.depth == unknown {
			return nil
		}
		values = append(values, v)
	}
	return values
}

// texts is what stands for a range: "1", "2", "3", "7". Nil if there is an error.
func (e *evaluator) texts(items []Item, at Pos) []string {
	var out []string
	for i := range items {
		from, ok := e.bound(items[i].From, items[i].Pos)
		if !ok {
			return nil
		}
		if !items[i].Range {
			out = append(out, from)
			continue
		}
		to, ok := e.bound(items[i].To, items[i].Pos)
		if !ok {
			return nil
		}
		n, err := span(from, to)
		if err == nil && n+len(out) > MaxSet {
			err = fmt.Errorf("a set has at most %d members, and this range has %d", MaxSet, n+len(out))
		}
		if err != nil {
			e.fail(items[i].Pos, "%s", err)
			return nil
		}
		out = append(out, numbers(from, n)...)
	}
	if !e.step(at, len(out)) {
		return nil
	}
	return out
}

// bound is the text of one end of a range.
func (e *evaluator) bound(b Bound, at Pos) (string, bool) {
	if !b.Var {
		return b.Text, true
	}
	v := e.lookup(b.Text, at)
	if v.depth != text1 {
		if v.depth != unknown {
			e.fail(at, "want a number or a word in the range, and $%s is %s", b.Text, v)
		}
		return "", false
	}
	return v.word.Text, true
}

// span is how many numbers a range has.
func span(from, to string) (int, error) {
	const most = 18 // digits
	switch {
	case !number(from) || len(from) > most:
		return 0, fmt.Errorf("a range goes from one number to another, and %s is not a number", Name(from))
	case !number(to) || len(to) > most:
		return 0, fmt.Errorf("a range goes from one number to another, and %s is not a number", Name(to))
	case from[0] == '0' && len(from) > 1 && len(from) != len(to):
		return 0, fmt.Errorf("both ends of a range with zeros in front have as many digits: want %0*s..%s", max(len(from), len(to)), from, to)
	}
	a, _ := strconv.ParseInt(from, 10, 64)
	b, _ := strconv.ParseInt(to, 10, 64)
	if b < a {
		return 0, fmt.Errorf("a range goes up: want %s..%s", to, from)
	}
	return int(b - a + 1), nil
}

// numbers are n numbers from one on, with as many digits if it begins with zeros.
func numbers(from string, n int) []string {
	a, _ := strconv.ParseInt(from, 10, 64)
	width := 0
	if from[0] == '0' {
		width = len(from)
	}
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf("%0*d", width, a+int64(i))
	}
	return out
}
