package solve

import (
	"slices"

	"vjob/repack"
)

// crew is what a gang is doing: nothing else happens to it while it is paused as a
// whole, to be suspended, resumed or moved.
type crew struct {
	active int  // tasks under way
	paused bool // one of them pauses the gang
	units  []int
}

// enlist files a unit under the gangs of its tasks.
func (c *schedule) enlist(u int) {
	for _, i := range c.units[u].tasks {
		if crew := c.crewOf(i); crew != nil && !slices.Contains(crew.units, u) {
			crew.units = append(crew.units, u)
		}
	}
}

// crewOf is what the gang of a task is doing; nil if it has none.
func (c *schedule) crewOf(i int) *crew {
	if vm := c.list[i].vm; vm >= 0 && c.gang[vm] >= 0 {
		return &c.crew[c.gang[vm]]
	}
	return nil
}

// pauses reports whether the unit pauses its gangs.
func (c *schedule) pauses(u int) bool {
	return c.units[u].held || c.list[c.units[u].tasks[0]].kind == repack.Resume
}

// atEase reports whether the gangs of a unit let it begin.
func (c *schedule) atEase(u int) bool {
	for _, i := range c.units[u].tasks {
		if crew := c.crewOf(i); crew != nil && (crew.paused || crew.active > 0 && c.pauses(u)) {
			return false
		}
	}
	return true
}

// goToWork notes that a unit has begun.
func (c *schedule) goToWork(u int) {
	for _, i := range c.units[u].tasks {
		if crew := c.crewOf(i); crew != nil {
			crew.active++
			crew.paused = crew.paused || c.pauses(u)
		}
	}
}

// rest notes that a task has ended; with the last one that is under way its gang is
// free for what else there is to do.
func (c *schedule) rest(i int) {
	crew := c.crewOf(i)
	if crew == nil || c.list[i].unit < 0 {
		return
	}
	if crew.active--; crew.active > 0 && crew.paused {
		return
	}
	crew.paused = false
	for _, other := range crew.units {
		if !c.units[other].waiting {
			continue
		}
		for _, i := range c.units[other].tasks {
			c.wake(c.list[i].vm)
		}
	}
}
