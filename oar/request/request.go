package request

import (
	"strconv"
	"strings"
	"time"

	"vjob/oar"
	"vjob/oar/property"
)

// Request is what is asked for: alternatives, of which one is run. OAR calls a job
// with several of them moldable.
type Request struct {
	Alternatives []Alternative
	Warnings     []oar.Warning
}

// Alternative is one -l.
type Alternative struct {
	Groups []Group
	// Walltime is [NoWalltime] when there is none. 0 can be asked for.
	Walltime time.Duration
	// Source is what was written, for messages.
	Source oar.Source
}

// NoWalltime is the walltime of an alternative that does not have one.
const NoWalltime time.Duration = -1

// Group is levels from the outer to the inner, on the nodes that its property means.
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

// Count is how many are asked for: a number in decimal digits without zeros in
// front, however large, or one of the words.
type Count string

// The words. OAR 3 writes HALF_BEST for BestHalf.
const (
	All      Count = "ALL"      // as many as match
	Best     Count = "BEST"     // as many as are free
	BestHalf Count = "BESTHALF" // half of the free ones
)

// Number is the count as a number; ok is false for a word. What is too large for an
// int is the largest.
func (c Count) Number() (n int, ok bool) {
	n, err := strconv.Atoi(string(c))
	if err != nil && n == 0 {
		return 0, false
	}
	return n, true
}

// String is the alternative in the language.
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

// The limits of a request. What exceeds one is refused with a message that says so.
const (
	// MaxText is the most bytes of one -l.
	MaxText = 64 << 10
	// MaxAlternatives is how often -l may be given.
	MaxAlternatives = 100
	// MaxGroups is the most groups of an alternative.
	MaxGroups = 1000
	// MaxLevels is the most levels of a group.
	MaxLevels = 32
	// MaxDigits is the most digits of a count.
	MaxDigits = 30
)
