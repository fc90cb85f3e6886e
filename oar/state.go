package oar

import (
	"strings"

	"vjob/cluster"
)

// State is the state of a job of OAR.
type State string

// The states of jobs. OAR's toError and toAckReservation are left out: they take no time here.
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

// States returns the states in the order of a job's life.
func States() []State {
	return []State{StateWaiting, StateHold, StateToLaunch, StateLaunching, StateRunning, StateSuspended, StateResuming, StateFinishing, StateTerminated, StateError}
}

// VJobState is the part of a vjob's state that decides its state in OAR.
type VJobState struct {
	State   cluster.State
	Held    bool
	Started bool // all VMs have been running
	Planned bool // the current plan boots the vjob, but the boot has not begun
}

// StateOf returns the state of a vjob in OAR's terms. Intermediate steps are hidden: a vjob that is
// being suspended is Running until it is suspended.
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
		return StateRunning // while some VMs are being suspended, others still run
	case cluster.Paused, cluster.Suspended:
		return StateSuspended
	case cluster.Resuming:
		return StateResuming
	case cluster.Stopping:
		if !v.Started {
			return StateLaunching // cleared for another attempt
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
	panic("no state " + v.State.String()) // cluster has a state that is missing here
}

// Letter returns the letter of the state in column S of oarstat.
func (s State) Letter() string {
	if s == StateToLaunch || s == StateLaunching {
		return "L"
	}
	return string(s[0])
}

// Active reports whether oarstat lists jobs in this state unless they are named.
func (s State) Active() bool { return s != StateTerminated && s != StateError }

// ParseStates parses states separated by commas, as in GET /jobs?state=Waiting,Hold.
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
