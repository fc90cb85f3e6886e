package property

import (
	"fmt"
	"slices"
	"strings"

	"vjob/internal/suggest"
	"vjob/oar"
)

// Filter is a condition with its text. Every node matches the zero Filter.
type Filter struct {
	Text string // as written
	Expr Expr   // nil: no condition
	src  oar.Source
}

// Matches reports whether a node with these properties matches.
func (f Filter) Matches(of Properties) bool { return f.Expr == nil || f.Expr.Matches(of) }

// Check returns an error if the condition uses a property that is not among names. Names are
// case-insensitive.
func (f Filter) Check(names []string) (err error) {
	if f.Expr == nil {
		return nil
	}
	f.Expr.operands(func(o Operand) {
		known := slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, o.Text) })
		if err != nil || o.Kind != Name || known {
			return
		}
		text := "no node has the property " + o.Text
		before := strings.TrimRight(f.src.Text[:o.Span.Off], " \t\r\n")
		if near := suggest.Nearest(o.Text, names); near != "" {
			text += "; did you mean " + near + "?"
		} else if strings.HasSuffix(before, "=") || strings.HasSuffix(before, "<") || strings.HasSuffix(before, ">") {
			text += fmt.Sprintf("; a text stands in quotes: '%s'", o.Text)
		}
		err = refuse(f.src, o.Span, fmt.Sprintf("column %q does not exist", o.Text), text)
	})
	return err
}
