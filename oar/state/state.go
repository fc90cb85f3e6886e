// Package state shows the states of vjobs in OAR's terms.
//
// It refuses to know how a vjob comes from one state to the next. What is half done
// is not shown: a vjob that is being suspended runs until it is suspended, and one
// that is submitted is Waiting, or Hold if it was asked for, never Hold for a moment.
package state

import (
	"strings"

	"vjob/cluster"
)

// State is the state of a job of OAR.
type State string

// The states that are shown. OAR has two more on the way to others, toError and
// toAckReservation, which take no time here.
const (
	Waiting    State = "Waiting"
	Hold       State = "Hold"
	ToLaunch   State = "toLaunch"
	Launching  State = "Launching"
	Running    State = "Running"
	Suspended  State = "Suspended"
	Resuming   State = "Resuming"
	Finishing  State = "Finishing"
	Terminated State = "Terminated"
	Error      State = "Error"
)

// All are the states in the order of a life.
func All() []State {
	return []State{Waiting, Hold, ToLaunch, Launching, Running, Suspended, Resuming, Finishing, Terminated, Error}
}

// View is what is known of a vjob.
type View struct {
	State   cluster.State
	Held    bool
	Started bool // all its VMs have run at some time
	Planned bool // the present plan boots it, and has not begun to
}

// Of is the state of a vjob in OAR's terms.
func Of(v View) State {
	switch v.State {
	case cluster.Waiting:
		switch {
		case v.Held:
			return Hold
		case v.Planned:
			return ToLaunch
		}
		return Waiting
	case cluster.Booting:
		return Launching
	case cluster.Running, cluster.Migrating, cluster.Suspending:
		return Running // a gang that is being suspended may still go on
	case cluster.Paused, cluster.Suspended:
		return Suspended
	case cluster.Resuming:
		return Resuming
	case cluster.Stopping:
		if !v.Started {
			return Launching // it is cleared to be tried again
		}
		return Finishing
	case cluster.Terminated:
		if !v.Started {
			return Error // deleted before it ran
		}
		return Terminated
	case cluster.Failed:
		return Error
	}
	panic("no state " + v.State.String()) // a state was added to cluster and not here
}

// Letter is the one letter of a state in the column S of oarstat.
func (s State) Letter() string {
	if s == ToLaunch || s == Launching {
		return "L"
	}
	return string(s[0])
}

// Active reports whether oarstat lists a job of this state without being asked for
// it by its number.
func (s State) Active() bool { return s != Terminated && s != Error }

// ParseList reads states with commas between them, as in GET /jobs?state=Waiting,Hold.
func ParseList(text string) (list []State, err error) {
	for name := range strings.SplitSeq(text, ",") {
		s, err := parse(strings.TrimSpace(name))
		if err != nil {
			return nil, err
		}
		list = append(list, s)
	}
	return list, nil
}

func parse(name string) (State, error) {
	var all []string
	for _, s := range All() {
		if strings.EqualFold(string(s), name) {
			return s, nil
		}
		all = append(all, string(s))
	}
	return "", cluster.BadField("state", name, "one of "+strings.Join(all, ", "))
}
