package solve

import "vjob/repack"

// crew is what a gang is doing: nothing else happens to it while it is paused as a
// whole, to be suspended, resumed or moved.
type crew struct {
	active int  // units under way
	paused bool // one of them pauses the gang
	units  []int
}

// enlist files a unit under its gang.
func (c *schedule) enlist(u int) {
	if g := c.gangOf(u); g >= 0 {
		c.crew[g].units = append(c.crew[g].units, u)
	}
}

// gangOf is the gang of a unit; -1 if it has none.
func (c *schedule) gangOf(u int) int {
	if len(c.units[u].tasks) == 0 {
		return -1
	}
	return c.gang[c.list[c.units[u].tasks[0]].vm]
}

// pauses reports whether the unit pauses its gang.
func (c *schedule) pauses(u int) bool {
	return c.units[u].held || c.list[c.units[u].tasks[0]].kind == repack.Resume
}

// atEase reports whether the gang of a unit lets it begin.
func (c *schedule) atEase(u int) bool {
	g := c.gangOf(u)
	if g < 0 {
		return true
	}
	return !c.crew[g].paused && (c.crew[g].active == 0 || !c.pauses(u))
}

// goToWork notes that a unit has begun.
func (c *schedule) goToWork(u int) {
	c.units[u].running = len(c.units[u].tasks)
	if g := c.gangOf(u); g >= 0 {
		c.crew[g].active++
		c.crew[g].paused = c.crew[g].paused || c.pauses(u)
	}
}

// rest notes that a task of a unit has ended; with the last one the gang is free
// for what else there is to do.
func (c *schedule) rest(u int) {
	if u < 0 {
		return
	}
	c.units[u].running--
	g := c.gangOf(u)
	if g < 0 || c.units[u].running > 0 {
		return
	}
	c.crew[g].active--
	if c.pauses(u) {
		c.crew[g].paused = false
	}
	for _, other := range c.crew[g].units {
		if !c.units[other].waiting {
			continue
		}
		for _, i := range c.units[other].tasks {
			c.wake(c.list[i].vm)
		}
	}
}
