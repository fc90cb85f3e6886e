// Package pattern has regular expressions that are compiled when they are first needed: a program has dozens,
// and each start of it needs few.
package pattern

import (
	"regexp"
	"sync"
)

// New returns the compiled form of an expression; the first call compiles it, and panics if it is wrong.
func New(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}
