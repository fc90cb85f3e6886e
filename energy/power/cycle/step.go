package cycle

import (
	"fmt"
	"time"

	"vjob/cluster"
	"vjob/energy/power"
)

// Limits bound the waiting times for a node.
type Limits struct {
	Empty time.Duration // how long power management tries to empty a node; orders of users wait without limit
	Off   time.Duration // from a request to go off until the node has to be seen off
	On    time.Duration // from a request to come up until the node has to answer
	// Quiet is how long a node without a readable power state must have been silent after the
	// request to count as off.
	Quiet    time.Duration
	Poll     time.Duration // how often a driver is asked for the state meanwhile
	Pause    time.Duration // before the second attempt; it doubles with each further one
	Attempts int           // attempts, before the node is left alone
}

// DefaultLimits suit servers that take some minutes to start.
var DefaultLimits = Limits{
	Empty: 30 * time.Minute, Off: 5 * time.Minute, On: 10 * time.Minute, Quiet: time.Minute,
	Poll: 5 * time.Second, Pause: 30 * time.Second, Attempts: 3,
}

// Observation is what is observed of a node.
type Observation struct {
	Answers    bool      // the last probe
	Since      time.Time // of Answers
	Blocker    string    // why it may not be switched off; "" if it may
	Power      power.State
	ReportedAt time.Time // when the driver reported Power; zero: not since the start
	AskedAt    time.Time // when the driver was last asked, answered or not
	Pending    bool      // a request to the driver is under way
	LastError  string    // the last error of the driver
	ByUser     bool      // a user wants the node off: emptying it has no time limit
}

// Transition is the result of a step.
type Transition struct {
	Record  Record
	Changed bool // the record differs
	Request bool // Verb is to be requested from the driver
	Verb    power.Verb
	Wake    time.Time // when the next step is due without news; zero: never
	Message string    // for the event log; "" for no event
	Alarm   bool      // needs an administrator
}

// Step returns the next record and request for a node, given what is observed.
func Step(r Record, s Observation, l Limits, now time.Time) Transition {
	m := stepper{Transition: Transition{Record: r}, Observation: s, Limits: l, now: now}
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
	return m.Transition
}

// stepper is the state of [Step].
type stepper struct {
	Transition
	Observation
	Limits
	now time.Time
}

// enter begins a phase.
func (m *stepper) enter(p Phase, format string, args ...any) {
	m.Record.Phase, m.Record.Since, m.Record.Attempt, m.Record.RequestedAt = p, m.now, 0, time.Time{}
	m.Changed = true
	m.Message = fmt.Sprintf("node %s ", m.Record.Node) + fmt.Sprintf(format, args...)
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
	case m.Answers && m.Blocker == "":
		m.enter(Stopping, "is empty and goes off")
	case m.ByUser:
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
	return m.Blocker
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
	if m.Pending || m.Answers || !m.ReportedAt.After(m.Record.RequestedAt) {
		return false
	}
	switch m.Power {
	case power.Off:
		return true
	case power.Unknown:
		quiet := cluster.Later(m.Since, m.Record.RequestedAt).Add(m.Quiet)
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
	if m.Record.Attempt > 0 && m.Answers && !m.Pending {
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
	if m.Pending {
		return // its reply triggers the next step
	}
	limit := r.RequestedAt.Add(wait)
	switch {
	case r.Attempt == 0 || !m.now.Before(limit.Add(m.Pause<<(r.Attempt-1))) && r.Attempt < m.Attempts:
		r.Attempt++
		r.RequestedAt, m.Changed = m.now, true
		m.Request, m.Verb = true, v
		m.Message = fmt.Sprintf("node %s is asked to %s, attempt %d of %d", r.Node, what, r.Attempt, m.Attempts)
		m.wakeBy(m.now.Add(m.Poll))
	case r.Attempt >= m.Attempts && !m.now.Before(limit):
		r.Reason = fmt.Sprintf("did not %s after %s%s", what, cluster.Count(r.Attempt, "attempt"), m.lastError())
		m.enter(Stuck, "is left alone: it %s", r.Reason)
		m.Alarm, m.Wake = true, time.Time{}
	default:
		m.wakeBy(limit)
		if r.Attempt < m.Attempts {
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
	if next := cluster.Later(m.AskedAt, m.Record.RequestedAt).Add(m.Poll); m.now.Before(next) {
		m.wakeBy(next)
		return
	}
	m.Request, m.Verb = true, power.Query
}

func (m *stepper) lastError() string {
	if m.LastError == "" {
		return ""
	}
	return ": " + m.LastError
}
