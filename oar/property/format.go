package property

import "strings"

// How tightly conditions bind; what binds more loosely stands in parentheses.
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

// String is the operand as it is written; texts stand in single quotes.
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

// within puts a condition in parentheses if it binds more loosely than its place.
func within(x Expr, rank int) string {
	if x.rank() < rank {
		return "(" + x.String() + ")"
	}
	return x.String()
}
