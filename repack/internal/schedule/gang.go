package schedule

import (
	"slices"

	"vjob/repack"
)

// gangState is what a gang is doing: nothing else happens to it while it is paused as a whole,
// to be suspended, resumed or moved.
type gangState struct {
	active int  // running tasks
	paused bool // by one of them
	units  []int
}

// registerUnit adds a unit to the gangs of its tasks.
func (c *simulation) registerUnit(u int) {
	for _, i := range c.units[u].tasks {
		if crew := c.gangOfTask(i); crew != nil && !slices.Contains(crew.units, u) {
			crew.units = append(crew.units, u)
		}
	}
}

// gangOfTask returns the gang state of a task; nil if it has no gang.
func (c *simulation) gangOfTask(i int) *gangState {
	if vm := c.tasks[i].vm; vm >= 0 && c.GangOf[vm] >= 0 {
		return &c.gangs[c.GangOf[vm]]
	}
	return nil
}

// pauses reports whether the unit pauses its gangs.
func (c *simulation) pauses(u int) bool {
	return c.units[u].held || c.tasks[c.units[u].tasks[0]].kind == repack.Resume
}

// gangsIdle reports whether the gangs of a unit allow it to begin.
func (c *simulation) gangsIdle(u int) bool {
	for _, i := range c.units[u].tasks {
		if crew := c.gangOfTask(i); crew != nil && (crew.paused || crew.active > 0 && c.pauses(u)) {
			return false
		}
	}
	return true
}

// gangsBegin records that a unit has begun.
func (c *simulation) gangsBegin(u int) {
	for _, i := range c.units[u].tasks {
		if crew := c.gangOfTask(i); crew != nil {
			crew.active++
			crew.paused = crew.paused || c.pauses(u)
		}
	}
}

// taskEnded records that a task has ended. When the last running task of a gang has ended, the
// other units of the gang may begin.
func (c *simulation) taskEnded(i int) {
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
