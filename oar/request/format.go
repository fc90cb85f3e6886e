package request

import (
	"strings"

	"vjob/oar/date"
)

// String is the alternative in the language.
func (a Alternative) String() string {
	groups := make([]string, len(a.Groups))
	for i, g := range a.Groups {
		groups[i] = g.String()
	}
	text := strings.Join(groups, "+")
	if a.Walltime != Unsaid {
		text += ",walltime=" + date.FormatWalltime(a.Walltime)
	}
	return text
}

// String is the group in the language.
func (g Group) String() string {
	var b strings.Builder
	if g.Property.Expr != nil {
		b.WriteString("{" + g.Property.Text + "}")
	}
	for _, l := range g.Levels {
		b.WriteString("/" + l.String())
	}
	return b.String()
}

// String is "name=count".
func (l Level) String() string { return l.Name + "=" + string(l.Count) }
