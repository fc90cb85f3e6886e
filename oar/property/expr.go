package property

import (
	"strings"

	"vjob/oar"
)

// Expr is a condition on a node: one of [And], [Or], [Not], [Compare], [Like], [In],
// [Between], [Null] and [Set].
type Expr interface {
	// Matches reports whether the condition holds for a node with these properties. Neither a condition
	// on a missing property nor its negation holds.
	Matches(of Properties) bool
	// String formats the condition.
	String() string

	truth(of Properties) truth
	operands(visit func(Operand))
	rank() int
}

// Properties returns the properties of a node. ok is false for a missing one.
type Properties func(name string) (value string, ok bool)

// Kind is the kind of an operand.
type Kind uint8

// The kinds of operands.
const (
	Name   Kind = iota // of a property
	Text               // 'azur'
	Number             // 64, 1.5
)

// Operand is a property or a value.
type Operand struct {
	Kind Kind
	Text string // the name, the text without quotes, or the digits
	Span oar.Span
}

// And holds when all of its conditions hold. It has at least two.
type And []Expr

// Or holds when one of its conditions holds. It has at least two.
type Or []Expr

// Not holds when its condition is false.
type Not struct{ X Expr }

// Compare is "left op right", where Op is one of = <> < <= > >=.
type Compare struct {
	Op          string
	Left, Right Operand
}

// Like is "x LIKE 'pattern'": % stands for any characters, _ for one.
type Like struct {
	X, Pattern Operand
	Not        bool
}

// In is "x IN (a, b)".
type In struct {
	X    Operand
	List []Operand
	Not  bool
}

// Between is "x BETWEEN low AND high", with both limits included.
type Between struct {
	X, Low, High Operand
	Not          bool
}

// Null is "x IS NULL": the property is missing.
type Null struct {
	X   Operand
	Not bool
}

// Set is a property alone: it exists and is not NO, FALSE or 0.
type Set struct{ X Operand }

func each(list []Expr, visit func(Operand)) {
	for _, x := range list {
		x.operands(visit)
	}
}

func (x And) operands(visit func(Operand))     { each(x, visit) }
func (x Or) operands(visit func(Operand))      { each(x, visit) }
func (x Not) operands(visit func(Operand))     { x.X.operands(visit) }
func (x Compare) operands(visit func(Operand)) { visit(x.Left); visit(x.Right) }
func (x Like) operands(visit func(Operand))    { visit(x.X) }
func (x Null) operands(visit func(Operand))    { visit(x.X) }
func (x Set) operands(visit func(Operand))     { visit(x.X) }
func (x Between) operands(visit func(Operand)) { visit(x.X); visit(x.Low); visit(x.High) }
func (x In) operands(visit func(Operand)) {
	visit(x.X)
	for _, o := range x.List {
		visit(o)
	}
}

// The precedence of conditions; a lower one stands in parentheses.
const (
	rankOr = iota
	rankAnd
	rankNot
	rankAlone
)

func (x And) rank() int     { return rankAnd }
func (x Or) rank() int      { return rankOr }
func (x Not) rank() int     { return rankNot }
func (x Compare) rank() int { return rankAlone }
func (x Like) rank() int    { return rankAlone }
func (x In) rank() int      { return rankAlone }
func (x Between) rank() int { return rankAlone }
func (x Null) rank() int    { return rankAlone }
func (x Set) rank() int     { return rankAlone }

// String joins the conditions with AND.
func (x And) String() string { return joined(x, " AND ", rankAnd) }

// String joins the conditions with OR.
func (x Or) String() string { return joined(x, " OR ", rankOr) }

// String is NOT and the condition.
func (x Not) String() string { return "NOT " + within(x.X, rankNot) }

// String is left, operator and right.
func (x Compare) String() string { return x.Left.String() + " " + x.Op + " " + x.Right.String() }

// String is x LIKE pattern.
func (x Like) String() string {
	return x.X.String() + negated(x.Not) + " LIKE " + x.Pattern.String()
}

// String is x IN (a, b).
func (x In) String() string {
	list := make([]string, len(x.List))
	for i, o := range x.List {
		list[i] = o.String()
	}
	return x.X.String() + negated(x.Not) + " IN (" + strings.Join(list, ", ") + ")"
}

// String is x BETWEEN low AND high.
func (x Between) String() string {
	return x.X.String() + negated(x.Not) + " BETWEEN " + x.Low.String() + " AND " + x.High.String()
}

// String is x IS NULL.
func (x Null) String() string { return x.X.String() + " IS" + negated(x.Not) + " NULL" }

// String is the name of the property.
func (x Set) String() string { return x.X.String() }

// String formats the operand; texts stand in single quotes.
func (o Operand) String() string {
	if o.Kind == Text {
		return "'" + strings.ReplaceAll(o.Text, "'", "''") + "'"
	}
	return o.Text
}

func negated(not bool) string {
	if not {
		return " NOT"
	}
	return ""
}

func joined(list []Expr, sign string, rank int) string {
	texts := make([]string, len(list))
	for i, x := range list {
		texts[i] = within(x, rank+1)
	}
	return strings.Join(texts, sign)
}

// within adds parentheses to a condition of lower precedence.
func within(x Expr, rank int) string {
	if x.rank() < rank {
		return "(" + x.String() + ")"
	}
	return x.String()
}
