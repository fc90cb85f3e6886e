package request

import (
	"strconv"
	"time"

	"vjob/oar/message"
	"vjob/oar/property"
)

// Request is what is asked for: alternatives, of which one is run. OAR calls a job
// with several of them moldable.
type Request struct {
	Alternatives []Alternative
	Warnings     []message.Warning
}

// Alternative is one -l.
type Alternative struct {
	Groups []Group
	// Walltime is [Unsaid] when there is none. 0 can be asked for.
	Walltime time.Duration
	// Source is what was written, for messages.
	Source message.Source
}

// Unsaid is the walltime of an alternative that does not have one.
const Unsaid time.Duration = -1

// Group is levels from the outer to the inner, on the nodes that its property means.
type Group struct {
	Property property.Filter
	Levels   []Level
	Span     message.Span
}

// Level is "name=count".
type Level struct {
	Name  string // with the alias nodes resolved
	Count Count
	Span  message.Span
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

// Site is what an administrator of OAR sets about the language.
type Site struct {
	// Nodes is the name that the alias nodes stands for: OARSUB_NODES_RESOURCES.
	Nodes string
	// Default are the levels where none are given: OARSUB_DEFAULT_RESOURCES.
	Default []Level
}

// DefaultSite has the values that OAR has when nothing is set.
func DefaultSite() Site {
	return Site{Nodes: "network_address", Default: []Level{{Name: "resource_id", Count: "1"}}}
}
