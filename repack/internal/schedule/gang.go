package schedule

import "slices"

// gangState is what a gang is doing: nothing else happens to it while it is paused as a whole,
// to be suspended, resumed or moved.
type gangState struct {
	active int  // running tasks
	paused bool // by one of them
	units  []int
}

// gangs are what all gangs are doing.
type gangs struct {
	agenda *agenda
	states []gangState
}

// newGangs is the state before the first instant.
func newGangs(a *agenda) gangs {
	g := gangs{agenda: a, states: make([]gangState, len(a.In.Gangs))}
	for u := range a.units {
		g.register(u)
	}
	return g
}

// register adds a unit to the gangs of its tasks.
func (g *gangs) register(u int) {
	for _, i := range g.agenda.units[u].tasks {
		if crew := g.of(i); crew != nil && !slices.Contains(crew.units, u) {
			crew.units = append(crew.units, u)
		}
	}
}

// of returns the gang state of a task; nil if it has no gang.
func (g *gangs) of(i int) *gangState {
	if vm := g.agenda.tasks[i].vm; vm >= 0 && g.agenda.GangOf[vm] >= 0 {
		return &g.states[g.agenda.GangOf[vm]]
	}
	return nil
}

// idle reports whether the gangs of a unit allow it to begin.
func (g *gangs) idle(u int) bool {
	for _, i := range g.agenda.units[u].tasks {
		if crew := g.of(i); crew != nil && (crew.paused || crew.active > 0 && g.agenda.pauses(u)) {
			return false
		}
	}
	return true
}

// begin records that a unit has begun.
func (g *gangs) begin(u int) {
	for _, i := range g.agenda.units[u].tasks {
		if crew := g.of(i); crew != nil {
			crew.active++
			crew.paused = crew.paused || g.agenda.pauses(u)
		}
	}
}

// ended records that a task has ended. When the last running task of a gang has ended, the gang is no more paused. It
// returns the units that may begin now.
func (g *gangs) ended(i int) []int {
	crew := g.of(i)
	if crew == nil || g.agenda.tasks[i].unit < 0 {
		return nil
	}
	if crew.active--; crew.active > 0 && crew.paused {
		return nil
	}
	crew.paused = false
	return crew.units
}
