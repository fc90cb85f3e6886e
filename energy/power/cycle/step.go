package cycle

import (
	"fmt"
	"time"

	"vjob/energy/power"
)

// Limits bound the waiting times for a node.
type Limits struct {
	Empty time.Duration // how long power management tries to empty a node; orders of users wait without limit
	Off   time.Duration // from a request to go off until the node has to be seen off
	On    time.Duration // from a request to come up until the node has to answer
	// Quiet is how long a node without a readable power state must have been silent after the
	// request to count as off.
	Quiet time.Duration
	Poll  time.Duration // how often a driver is asked for the state meanwhile
	Pause time.Duration // before the second attempt; it doubles with each further one
	Tries int           // attempts, before the node is left alone
}

// DefaultLimits suit servers that take some minutes to start.
var DefaultLimits = Limits{
	Empty: 30 * time.Minute, Off: 5 * time.Minute, On: 10 * time.Minute, Quiet: time.Minute,
	Poll: 5 * time.Second, Pause: 30 * time.Second, Tries: 3,
}

// Sight is what is observed of a node.
type Sight struct {
	Answers bool      // the last probe
	Since   time.Time // of Answers
	Holds   string    // why it may not be switched off; "" if it may
	Power   power.State
	Asked   time.Time // when the driver reported Power; zero: not since the start
	Tried   time.Time // when the driver was last asked, answered or not
	Busy    bool      // a request to the driver is under way
	Trouble string    // the last error of the driver
	Human   bool      // a user wants the node off: emptying it has no time limit
}

// Move is the result of a step.
type Move struct {
	Record  Record
	Changed bool // the record differs
	Ask     bool // Verb is to be requested from the driver
	Verb    power.Verb
	Wake    time.Time // when the next step is due without news; zero: never
	Says    string    // for the event log; "" for no event
	Alarm   bool      // needs an administrator
}

// Step returns the next record and request for a node, given what is observed.
func Step(r Record, s Sight, l Limits, now time.Time) Move {
	m := stepper{Move: Move{Record: r}, Sight: s, Limits: l, now: now}
	switch r.Phase {
	case On:
		m.on()
	case Emptying:
		m.emptying()
	case Stopping:
		m.stopping()
	case Off:
		m.off()
	case Starting:
		m.starting()
	case Stuck: // until the next Order
	}
	return m.Move
}

// stepper is the state of [Step].
type stepper struct {
	Move
	Sight
	Limits
	now time.Time
}

// enter begins a phase.
func (m *stepper) enter(p Phase, format string, args ...any) {
	m.Record.Phase, m.Record.Since, m.Record.Attempt, m.Record.Called = p, m.now, 0, time.Time{}
	m.Changed = true
	m.Says = fmt.Sprintf("node %s ", m.Record.Node) + fmt.Sprintf(format, args...)
	m.wakeBy(m.now)
}

func (m *stepper) wakeBy(t time.Time) {
	if m.Wake.IsZero() || t.Before(m.Wake) {
		m.Wake = t
	}
}

func (m *stepper) on() {
	if m.Record.Want == WantOff {
		m.enter(Emptying, "is emptied to be switched off: %s", m.Record.Reason)
	}
}

// emptying waits until the node is empty and answers: a silent node may run more VMs than were
// observed.
func (m *stepper) emptying() {
	limit := m.Record.Since.Add(m.Empty)
	switch {
	case m.Record.Want == WantOn:
		m.Record.By, m.Record.Reason = "", ""
		m.enter(On, "stays on")
	case m.Answers && m.Holds == "":
		m.enter(Stopping, "is empty and goes off")
	case m.Human:
	case m.now.Before(limit):
		m.wakeBy(limit)
	default:
		m.Record.Want, m.Record.By, m.Record.Reason = WantOn, "", ""
		m.enter(On, "stays on: it was not empty after %s: %s", m.Empty, m.notEmptyReason())
	}
}

func (m *stepper) notEmptyReason() string {
	if !m.Answers {
		return "it does not answer"
	}
	return m.Holds
}

// stopping ends only with proof that the node is off, whatever is wanted meanwhile: a pending
// request could still switch it off with VMs on it.
func (m *stepper) stopping() {
	if m.Record.Attempt > 0 && m.isOff() {
		m.enter(Off, "is off")
		return
	}
	m.attempt(power.TurnOff, m.Off, "go off")
}

// isOff is the proof: no request is pending, the node does not answer, and the driver reports
// off; or the driver cannot tell, and the node has been silent for the time Quiet.
func (m *stepper) isOff() bool {
	if m.Busy || m.Answers || !m.Asked.After(m.Record.Called) {
		return false
	}
	switch m.Power {
	case power.Off:
		return true
	case power.Unknown:
		quiet := later(m.Since, m.Record.Called).Add(m.Quiet)
		m.wakeBy(quiet)
		return !m.now.Before(quiet)
	default:
		return false
	}
}

func (m *stepper) off() {
	switch {
	case m.Answers: // its power button was pressed
		m.Record.Want, m.Record.By, m.Record.Reason = WantOn, "", ""
		m.enter(On, "answers: it was not switched on by vjob")
	case m.Record.Want == WantOn:
		m.enter(Starting, "is switched on: %s", m.Record.Reason)
	}
}

// starting ends when the node answers after a request to come up: it was off before, and no
// older request can still reach it.
func (m *stepper) starting() {
	if m.Record.Attempt > 0 && m.Answers && !m.Busy {
		if m.Record.Want == WantOn {
			m.Record.By, m.Record.Reason = "", ""
		}
		m.enter(On, "is on")
		return
	}
	m.attempt(power.TurnOn, m.On, "come up")
}

// attempt makes the request of a phase, waits for its effect, and tries again a few
// times, later each time.
func (m *stepper) attempt(v power.Verb, wait time.Duration, what string) {
	r := &m.Record
	if m.Busy {
		return // its reply triggers the next step
	}
	limit := r.Called.Add(wait)
	switch {
	case r.Attempt == 0 || !m.now.Before(limit.Add(m.Pause<<(r.Attempt-1))) && r.Attempt < m.Tries:
		r.Attempt++
		r.Called, m.Changed = m.now, true
		m.Ask, m.Verb = true, v
		m.Says = fmt.Sprintf("node %s is asked to %s, attempt %d of %d", r.Node, what, r.Attempt, m.Tries)
		m.wakeBy(m.now.Add(m.Poll))
	case r.Attempt >= m.Tries && !m.now.Before(limit):
		r.Reason = fmt.Sprintf("did not %s after %d attempts%s", what, r.Attempt, m.lastError())
		m.enter(Stuck, "is left alone: it %s", r.Reason)
		m.Alarm, m.Wake = true, time.Time{}
	default:
		m.wakeBy(limit)
		if r.Attempt < m.Tries {
			m.wakeBy(limit.Add(m.Pause << (r.Attempt - 1)))
		}
		m.poll(v)
	}
}

// poll asks for the state while a node goes off. A node that comes up shows that by answering.
func (m *stepper) poll(v power.Verb) {
	if v != power.TurnOff {
		return
	}
	if next := later(m.Tried, m.Record.Called).Add(m.Poll); m.now.Before(next) {
		m.wakeBy(next)
		return
	}
	m.Ask, m.Verb = true, power.Look
}

func (m *stepper) lastError() string {
	if m.Trouble == "" {
		return ""
	}
	return ": " + m.Trouble
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
