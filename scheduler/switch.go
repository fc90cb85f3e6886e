package scheduler

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/execute"
	"vjob/energy"
	"vjob/journal"
	"vjob/power"
	"vjob/power/cycle"
)

// Switching says how nodes are switched off and on. The zero value switches none.
type Switching struct {
	Nodes  []cluster.NodeID // those that have a power driver
	Limits cycle.Limits
	Reply  time.Duration // how long a power driver may take to answer
	Manage *Management   // nil: only people switch nodes
}

// switched is a node that can be switched, or was when the daemon ran before.
type switched struct {
	record cycle.Record
	state  power.State
	asked  time.Time // when the driver has told the state
	tried  time.Time // when it was asked for anything
	busy   bool      // it has not answered yet
	// trouble is what it said last, if that was an error, and holds what keeps the
	// node from going off.
	trouble, holds string
}

// slowLook is how often a node is looked at that is off or left alone: somebody may
// press its button.
const slowLook = time.Minute

// takeUp goes on with what the journal says of the power of nodes.
func (c *Core) takeUp(records []cycle.Record) {
	c.switches = map[cluster.NodeID]*switched{}
	for _, id := range c.settings.Switching.Nodes {
		c.switches[id] = &switched{record: cycle.Record{Node: id}}
	}
	c.moving = map[cluster.NodeID]bool{}
	for _, r := range records {
		if s := c.switches[r.Node]; s != nil || r.Phase != cycle.On {
			c.switches[r.Node] = &switched{record: r}
			c.rest(r)
			c.follow(r)
		}
	}
}

// follow keeps the list of nodes that there may be a step to take with: of thousands it
// has a few.
func (c *Core) follow(r cycle.Record) {
	if r.Phase == cycle.Stuck || r.Phase == cycle.On && r.Want == cycle.WantOn {
		delete(c.moving, r.Node)
	} else {
		c.moving[r.Node] = true
	}
}

// rest tells the executor whether a node is in use.
func (c *Core) rest(r cycle.Record) {
	every, draws, p := time.Duration(0), energy.Watts(0), c.settings.Energy.Power[r.Node]
	switch r.Phase {
	case cycle.Stopping, cycle.Starting:
		every = min(c.settings.Switching.Limits.Poll, slowLook)
		if draws = p.On.Power(); r.Phase == cycle.Stopping {
			draws = p.Off.Power()
		}
	case cycle.Off, cycle.Stuck:
		every = slowLook
	case cycle.On, cycle.Emptying:
	}
	c.exec.Rest(c.now, r.Node, every, draws)
}

// switchNodes takes every node a step on its way off or on.
func (c *Core) switchNodes() {
	c.powerAt = time.Time{}
	if !c.exec.Surveyed() {
		return
	}
	for _, id := range slices.Sorted(maps.Keys(c.moving)) {
		s := c.switches[id]
		for range maxSteps {
			if !c.stepPower(s) {
				break
			}
		}
	}
}

// maxSteps bounds the steps of a node at one instant.
const maxSteps = 8

// stepPower takes one step, and reports whether there may be another at once.
func (c *Core) stepPower(s *switched) (more bool) {
	before := s.record.Phase
	if before == cycle.Off && s.record.Want == cycle.WantOn && !c.affordsOn(s.record.Node) {
		if again := c.now.Add(onAgain); c.powerAt.IsZero() || again.Before(c.powerAt) {
			c.powerAt = again
		}
		return false
	}
	m := cycle.Step(s.record, c.sightOf(s), c.settings.Switching.Limits, c.now)
	s.record = m.Record
	if m.Changed {
		c.notePower(s, m.Says, m.Alarm)
	}
	if s.record.Phase != before {
		c.rest(s.record)
		c.retry(c.now)
	}
	if m.Ask {
		s.busy, s.tried = true, c.now
		c.asks = append(c.asks, power.Ask{Node: s.record.Node, Verb: m.Verb, At: c.now})
		return false
	}
	if !m.Wake.IsZero() && (c.powerAt.IsZero() || m.Wake.Before(c.powerAt)) {
		c.powerAt = m.Wake
	}
	return m.Changed
}

// notePower writes a record down, with an event.
func (c *Core) notePower(s *switched, says string, alarm bool) {
	c.out.Power = append(c.out.Power, s.record)
	c.follow(s.record)
	if says == "" {
		return
	}
	kind := journal.EventNode
	if alarm {
		kind = journal.EventAlarm
	}
	c.out.Events = append(c.out.Events, journal.Event{At: c.now, Kind: kind, Node: s.record.Node, Text: says})
}

// sightOf is what is seen of a node that is switched.
func (c *Core) sightOf(s *switched) cycle.Sight {
	answers, since := c.exec.Answers(s.record.Node)
	s.holds = ""
	if s.record.Phase == cycle.Emptying {
		s.holds = c.exec.Holding(s.record.Node)
	}
	return cycle.Sight{
		Answers: answers, Since: since, Holds: s.holds, Power: s.state, Asked: s.asked, Tried: s.tried,
		Busy: s.busy, Trouble: s.trouble, Human: s.record.By != "",
	}
}

// Pressed takes in what the power driver of a node has answered.
func (c *Core) Pressed(now time.Time, ask power.Ask, state power.State, err error) {
	c.now = now
	s, known := c.switches[ask.Node]
	if !known || !s.tried.Equal(ask.At) {
		return // the answer is to what was asked before the journal was loaded anew
	}
	s.busy = false
	switch {
	case err != nil:
		s.trouble = fmt.Sprintf("%s: %v", ask.Verb, err)
	case ask.Verb == power.Look:
		s.state, s.asked = state, now
		c.exec.Hint(now, ask.Node) // does it still answer?
	default:
		s.trouble = ""
	}
}

// SetPower lets somebody switch a node off or on. Off waits until the node is empty,
// however long that takes.
func (c *Core) SetPower(now time.Time, id cluster.NodeID, want cycle.Want, by string) error {
	c.now = now
	n, known := c.exec.Node(id)
	if !known {
		return fmt.Errorf("node %s: %w", id, cluster.ErrNotFound)
	}
	refuse := func(why string) error { return fmt.Errorf("node %s %s: %w", id, why, cluster.ErrConflict) }
	s := c.switches[id]
	switch {
	case s == nil:
		return refuse("cannot be switched: the settings name no power driver for it (power.nodes)")
	case n.State == cluster.Down:
		return refuse("is down: let it be online again first")
	case want == cycle.WantOff && n.Silent:
		return refuse("does not answer, so nobody knows what it holds")
	}
	if want == cycle.WantOn && s.record.Phase == cycle.On && s.record.Want == want {
		return nil
	}
	next, changed := cycle.Order(s.record, want, by, "by "+by, now)
	if !changed {
		return nil
	}
	began := s.record.Phase
	s.record = next
	c.notePower(s, fmt.Sprintf("node %s shall be %s: by %s", id, want, by), false)
	if next.Phase != began {
		c.rest(next)
	}
	return nil
}

// yieldTo takes back what power management wants of a node of which an operator has
// decreed something else.
func (c *Core) yieldTo(id cluster.NodeID, state cluster.NodeState) {
	s := c.switches[id]
	if s == nil || state == cluster.Online || s.record.By != "" || s.record.Want != cycle.WantOff || s.record.Phase != cycle.Emptying {
		return
	}
	s.record, _ = cycle.Order(s.record, cycle.WantOn, "", "", c.now)
	c.notePower(s, "", false)
}

// standing is how a node counts for placing VMs.
func (c *Core) standing(n *execute.NodeReport) cluster.NodeState {
	state := n.State
	if s := c.switches[n.ID]; s != nil {
		state = s.record.State(state)
	}
	if n.Silent && state == cluster.Online {
		state = cluster.Draining
	}
	return state
}

// Switch is how far a node has come that can be switched.
type Switch struct {
	Phase cycle.Phase
	Since time.Time
	Want  cycle.Want
	By    string // who wants it; "" for nobody in person
	// Problem is why the node does not get on, or why it is left alone.
	Problem string
}

// switchOf is nil for a node that cannot be switched.
func (c *Core) switchOf(id cluster.NodeID) *Switch {
	s := c.switches[id]
	if s == nil {
		return nil
	}
	r := &s.record
	p := &Switch{Phase: r.Phase, Since: r.Since, Want: r.Want, By: r.By}
	switch r.Phase {
	case cycle.Emptying:
		p.Problem = s.holds
	case cycle.Stopping, cycle.Starting:
		p.Problem = s.trouble
	case cycle.Stuck:
		p.Problem = r.Reason
	case cycle.On, cycle.Off:
		p.Problem = ""
	}
	return p
}
