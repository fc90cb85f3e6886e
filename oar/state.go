package oar

import (
	"strings"

	"vjob/cluster"
)

// State is the state of a job of OAR.
type State string

// The states that are shown. OAR has two more on the way to others, toError and
// toAckReservation, which take no time here.
const (
	StateWaiting    State = "Waiting"
	StateHold       State = "Hold"
	StateToLaunch   State = "toLaunch"
	StateLaunching  State = "Launching"
	StateRunning    State = "Running"
	StateSuspended  State = "Suspended"
	StateResuming   State = "Resuming"
	StateFinishing  State = "Finishing"
	StateTerminated State = "Terminated"
	StateError      State = "Error"
)

// States are the states in the order of a life.
func States() []State {
	return []State{StateWaiting, StateHold, StateToLaunch, StateLaunching, StateRunning, StateSuspended, StateResuming, StateFinishing, StateTerminated, StateError}
}

// VJobState is what is known of a vjob.
type VJobState struct {
	State   cluster.State
	Held    bool
	Started bool // all its VMs have run at some time
	Planned bool // the present plan boots it, and has not begun to
}

// StateOf is the state of a vjob in OAR's terms.
func StateOf(v VJobState) State {
	switch v.State {
	case cluster.Waiting:
		switch {
		case v.Held:
			return StateHold
		case v.Planned:
			return StateToLaunch
		}
		return StateWaiting
	case cluster.Booting:
		return StateLaunching
	case cluster.Running, cluster.Migrating, cluster.Suspending:
		return StateRunning // a gang that is being suspended may still go on
	case cluster.Paused, cluster.Suspended:
		return StateSuspended
	case cluster.Resuming:
		return StateResuming
	case cluster.Stopping:
		if !v.Started {
			return StateLaunching // it is cleared to be tried again
		}
		return StateFinishing
	case cluster.Terminated:
		if !v.Started {
			return StateError // deleted before it ran
		}
		return StateTerminated
	case cluster.Failed:
		return StateError
	}
	panic("no state " + v.State.String()) // a state was added to cluster and not here
}

// Letter is the one letter of a state in the column S of oarstat.
func (s State) Letter() string {
	if s == StateToLaunch || s == StateLaunching {
		return "L"
	}
	return string(s[0])
}

// Active reports whether oarstat lists a job of this state without being asked for
// it by its number.
func (s State) Active() bool { return s != StateTerminated && s != StateError }

// ParseStates reads states with commas between them, as in GET /jobs?state=Waiting,Hold.
func ParseStates(text string) (list []State, err error) {
	for name := range strings.SplitSeq(text, ",") {
		s, err := parseState(strings.TrimSpace(name))
		if err != nil {
			return nil, err
		}
		list = append(list, s)
	}
	return list, nil
}

func parseState(name string) (State, error) {
	var all []string
	for _, s := range States() {
		if strings.EqualFold(string(s), name) {
			return s, nil
		}
		all = append(all, string(s))
	}
	return "", cluster.BadField("state", name, "one of "+strings.Join(all, ", "))
}
