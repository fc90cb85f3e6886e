package schedule

import (
	"slices"

	"vjob/repack"
)

// gangState is what a gang is doing: nothing else happens to it while it is paused as a
// whole, to be suspended, resumed or moved.
type gangState struct {
	active int  // tasks under way
	paused bool // one of them pauses the gang
	units  []int
}

// registerUnit files a unit under the gangs of its tasks.
func (c *Schedule) registerUnit(u int) {
	for _, i := range c.units[u].tasks {
		if crew := c.gangOfTask(i); crew != nil && !slices.Contains(crew.units, u) {
			crew.units = append(crew.units, u)
		}
	}
}

// gangOfTask is what the gang of a task is doing; nil if it has none.
func (c *Schedule) gangOfTask(i int) *gangState {
	if vm := c.tasks[i].vm; vm >= 0 && c.GangOf[vm] >= 0 {
		return &c.gangs[c.GangOf[vm]]
	}
	return nil
}

// pauses reports whether the unit pauses its gangs.
func (c *Schedule) pauses(u int) bool {
	return c.units[u].held || c.tasks[c.units[u].tasks[0]].kind == repack.Resume
}

// gangsIdle reports whether the gangs of a unit let it begin.
func (c *Schedule) gangsIdle(u int) bool {
	for _, i := range c.units[u].tasks {
		if crew := c.gangOfTask(i); crew != nil && (crew.paused || crew.active > 0 && c.pauses(u)) {
			return false
		}
	}
	return true
}

// gangsBegin notes that a unit has begun.
func (c *Schedule) gangsBegin(u int) {
	for _, i := range c.units[u].tasks {
		if crew := c.gangOfTask(i); crew != nil {
			crew.active++
			crew.paused = crew.paused || c.pauses(u)
		}
	}
}

// taskEnded notes that a task has ended; with the last one that is under way its gang is
// free for what else there is to do.
func (c *Schedule) taskEnded(i int) {
	crew := c.gangOfTask(i)
	if crew == nil || c.tasks[i].unit < 0 {
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
			c.retry(c.tasks[i].vm)
		}
	}
}
