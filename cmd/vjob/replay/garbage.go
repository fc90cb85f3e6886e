package replay

import "runtime/debug"

// lavish lets a run use four times the memory that it needs before garbage is collected:
// that is little, and what a pass leaves behind is much. Whoever has set GOGC knows better.
// It returns what undoes it.
func lavish() (thrifty func()) {
	const usual, much = 100, 400
	before := debug.SetGCPercent(much)
	if before != usual {
		debug.SetGCPercent(before)
	}
	return func() { debug.SetGCPercent(before) }
}
