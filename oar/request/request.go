package request

import (
	"strconv"
	"strings"
	"time"

	"vjob/oar"
	"vjob/oar/property"
)

// Request is a list of alternatives, of which one runs. OAR calls a job with several moldable.
type Request struct {
	Alternatives []Alternative
	Warnings     []oar.Warning
}

// Alternative is one value of -l.
type Alternative struct {
	Groups []Group
	// Walltime may be 0, or [NoWalltime].
	Walltime time.Duration
	// Source is the text, for messages.
	Source oar.Source
}

// NoWalltime is the walltime of an alternative without one.
const NoWalltime time.Duration = -1

// Group is a list of levels from the outer to the inner, on the nodes that match its property.
type Group struct {
	Property property.Filter
	Levels   []Level
	Span     oar.Span
}

// Level is "name=count".
type Level struct {
	Name  string // with the alias nodes resolved
	Count Count
	Span  oar.Span
}

// Count is a number in decimal digits of any length, without leading zeros, or a word.
type Count string

// The words. OAR 3 writes HALF_BEST for BestHalf.
const (
	All      Count = "ALL"      // all that match
	Best     Count = "BEST"     // all that are free
	BestHalf Count = "BESTHALF" // half of those that are free
)

// Number returns the count as a number, capped at the largest int. ok is false for a word.
func (c Count) Number() (n int, ok bool) {
	n, err := strconv.Atoi(string(c))
	if err != nil && n == 0 {
		return 0, false
	}
	return n, true
}

// String formats the alternative as a value of -l.
func (a Alternative) String() string {
	groups := make([]string, len(a.Groups))
	for i, g := range a.Groups {
		groups[i] = g.String()
	}
	text := strings.Join(groups, "+")
	if a.Walltime != NoWalltime {
		text += ",walltime=" + oar.FormatWalltime(a.Walltime)
	}
	return text
}

// String formats the group.
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

// String returns "name=count".
func (l Level) String() string { return l.Name + "=" + string(l.Count) }

// The limits of a request.
const (
	// MaxText is the maximal length of one -l in bytes.
	MaxText = 64 << 10
	// MaxAlternatives is the maximal number of -l.
	MaxAlternatives = 100
	// MaxGroups is the maximal number of groups of an alternative.
	MaxGroups = 1000
	// MaxLevels is the maximal number of levels of a group.
	MaxLevels = 32
	// MaxDigits is the maximal number of digits of a count.
	MaxDigits = 30
)
