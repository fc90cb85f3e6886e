package state_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"vjob/cluster"
	"vjob/oar/state"
)

var ours = []cluster.State{
	cluster.Waiting, cluster.Booting, cluster.Running, cluster.Suspending, cluster.Suspended,
	cluster.Resuming, cluster.Migrating, cluster.Stopping, cluster.Terminated, cluster.Failed,
}

func TestStates(t *testing.T) {
	for _, c := range []struct {
		view state.View
		want state.State
	}{
		{state.View{State: cluster.Waiting}, state.Waiting},
		{state.View{State: cluster.Waiting, Started: true}, state.Waiting}, // lost with a node, queued again
		{state.View{State: cluster.Waiting, Held: true}, state.Hold},
		{state.View{State: cluster.Waiting, Held: true, Planned: true}, state.Hold},
		{state.View{State: cluster.Waiting, Planned: true}, state.ToLaunch},
		{state.View{State: cluster.Booting}, state.Launching},
		{state.View{State: cluster.Running, Started: true}, state.Running},
		{state.View{State: cluster.Running, Started: true, Held: true}, state.Running},
		{state.View{State: cluster.Migrating, Started: true}, state.Running},
		{state.View{State: cluster.Suspending, Started: true}, state.Running},
		{state.View{State: cluster.Suspended, Started: true}, state.Suspended},
		{state.View{State: cluster.Resuming, Started: true}, state.Resuming},
		{state.View{State: cluster.Stopping, Started: true}, state.Finishing},
		{state.View{State: cluster.Stopping}, state.Launching},
		{state.View{State: cluster.Terminated, Started: true}, state.Terminated},
		{state.View{State: cluster.Terminated}, state.Error},
		{state.View{State: cluster.Failed}, state.Error},
	} {
		if got := state.Of(c.view); got != c.want {
			t.Errorf("%+v: %s, want %s", c.view, got, c.want)
		}
	}
}

// oar is the diagram of OAR's states.
var oar = map[state.State][]state.State{
	state.Waiting:   {state.Hold, state.ToLaunch, state.Error},
	state.Hold:      {state.Waiting, state.Error},
	state.ToLaunch:  {state.Launching, state.Error},
	state.Launching: {state.Running, state.Error},
	state.Running:   {state.Finishing, state.Suspended, state.Resuming, state.Terminated, state.Error}, // Resuming: a suspension that failed
	state.Suspended: {state.Resuming, state.Finishing},
	state.Resuming:  {state.Running, state.Suspended, state.Finishing},
	state.Finishing: {state.Terminated, state.Error},
}

// beyond is what vjobs do and OAR's jobs do not: a job that is tried again, or
// queued again after its node was lost, gets a new number there.
var beyond = map[state.State][]state.State{
	state.Waiting:   {state.Launching, state.Terminated, state.Running}, // toLaunch is only seen while a plan waits; a lost vjob may be restored
	state.Launching: {state.Waiting, state.Finishing},
	state.Finishing: {state.Waiting},
}

// Whatever a vjob does, those who watch it as OAR's see one step of OAR's diagram, or
// nothing.
func TestEachStepIsOneOfOAR(t *testing.T) {
	for _, from := range ours {
		for _, to := range ours {
			if !from.CanBecome(to) {
				continue
			}
			for _, started := range []bool{false, true} {
				if !started && (from == cluster.Suspended || from == cluster.Running || from == cluster.Migrating || from == cluster.Suspending || from == cluster.Resuming) {
					continue // they have run
				}
				before := state.Of(state.View{State: from, Started: started})
				after := state.Of(state.View{State: to, Started: started || to == cluster.Running})
				if before != after && !slices.Contains(oar[before], after) && !slices.Contains(beyond[before], after) {
					t.Errorf("%s to %s (started %v) shows as %s to %s", from, to, started, before, after)
				}
			}
		}
	}
}

// Final states are final in both terms.
func TestFinalStates(t *testing.T) {
	for _, s := range ours {
		for _, started := range []bool{false, true} {
			shown := state.Of(state.View{State: s, Started: started})
			if shown.Active() == s.Terminal() || (len(oar[shown]) == 0) != s.Terminal() {
				t.Errorf("%s shows as %s", s, shown)
			}
		}
	}
}

func TestLetters(t *testing.T) {
	var got strings.Builder
	for _, s := range state.All() {
		got.WriteString(s.Letter())
	}
	if got.String() != "WHLLRSRFTE" {
		t.Error(got.String())
	}
}

func TestLists(t *testing.T) {
	list, err := state.ParseList("Waiting, hold,toLaunch")
	if err != nil || !slices.Equal(list, []state.State{state.Waiting, state.Hold, state.ToLaunch}) {
		t.Errorf("%v, %v", list, err)
	}
	for _, text := range []string{"", "Waiting,", "Asleep", strings.Repeat("x", 1<<16)} {
		if _, err := state.ParseList(text); !errors.Is(err, cluster.ErrInvalid) || len(err.Error()) > 300 {
			t.Errorf("%.20q: %v", text, err)
		}
	}
}
