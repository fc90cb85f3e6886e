package oar_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"vjob/cluster"
	"vjob/oar"
)

var ours = []cluster.State{
	cluster.Waiting, cluster.Booting, cluster.Running, cluster.Suspending, cluster.Suspended,
	cluster.Resuming, cluster.Migrating, cluster.Stopping, cluster.Terminated, cluster.Failed,
}

func TestStates(t *testing.T) {
	for _, c := range []struct {
		view oar.VJobState
		want oar.State
	}{
		{oar.VJobState{State: cluster.Waiting}, oar.StateWaiting},
		{oar.VJobState{State: cluster.Waiting, Started: true}, oar.StateWaiting}, // lost with a node, queued again
		{oar.VJobState{State: cluster.Waiting, Held: true}, oar.StateHold},
		{oar.VJobState{State: cluster.Waiting, Held: true, Planned: true}, oar.StateHold},
		{oar.VJobState{State: cluster.Waiting, Planned: true}, oar.StateToLaunch},
		{oar.VJobState{State: cluster.Booting}, oar.StateLaunching},
		{oar.VJobState{State: cluster.Running, Started: true}, oar.StateRunning},
		{oar.VJobState{State: cluster.Running, Started: true, Held: true}, oar.StateRunning},
		{oar.VJobState{State: cluster.Migrating, Started: true}, oar.StateRunning},
		{oar.VJobState{State: cluster.Suspending, Started: true}, oar.StateRunning},
		{oar.VJobState{State: cluster.Suspended, Started: true}, oar.StateSuspended},
		{oar.VJobState{State: cluster.Resuming, Started: true}, oar.StateResuming},
		{oar.VJobState{State: cluster.Stopping, Started: true}, oar.StateFinishing},
		{oar.VJobState{State: cluster.Stopping}, oar.StateLaunching},
		{oar.VJobState{State: cluster.Terminated, Started: true}, oar.StateTerminated},
		{oar.VJobState{State: cluster.Terminated}, oar.StateError},
		{oar.VJobState{State: cluster.Failed}, oar.StateError},
	} {
		if got := oar.StateOf(c.view); got != c.want {
			t.Errorf("%+v: %s, want %s", c.view, got, c.want)
		}
	}
}

// diagram has the transitions of OAR's jobs.
var diagram = map[oar.State][]oar.State{
	oar.StateWaiting:   {oar.StateHold, oar.StateToLaunch, oar.StateError},
	oar.StateHold:      {oar.StateWaiting, oar.StateError},
	oar.StateToLaunch:  {oar.StateLaunching, oar.StateError},
	oar.StateLaunching: {oar.StateRunning, oar.StateError},
	oar.StateRunning:   {oar.StateFinishing, oar.StateSuspended, oar.StateResuming, oar.StateTerminated, oar.StateError}, // Resuming: a suspension that failed
	oar.StateSuspended: {oar.StateResuming, oar.StateFinishing},
	oar.StateResuming:  {oar.StateRunning, oar.StateSuspended, oar.StateFinishing},
	oar.StateFinishing: {oar.StateTerminated, oar.StateError},
}

// beyond has the transitions of vjobs that OAR's jobs lack: OAR gives a retried job, or one that lost
// its node, a new number.
var beyond = map[oar.State][]oar.State{
	oar.StateWaiting:   {oar.StateLaunching, oar.StateTerminated, oar.StateRunning}, // toLaunch is only seen while a plan waits; a lost vjob may be restored
	oar.StateLaunching: {oar.StateWaiting, oar.StateFinishing},
	oar.StateFinishing: {oar.StateWaiting},
}

// Each transition of a vjob is one transition in OAR's diagram, or none.
func TestEachStepIsOneOfOAR(t *testing.T) {
	for _, from := range ours {
		for _, to := range ours {
			if !from.CanBecome(to) {
				continue
			}
			for _, started := range []bool{false, true} {
				if !started && (from == cluster.Suspended || from == cluster.Running || from == cluster.Migrating || from == cluster.Suspending || from == cluster.Resuming) {
					continue // these states imply Started
				}
				before := oar.StateOf(oar.VJobState{State: from, Started: started})
				after := oar.StateOf(oar.VJobState{State: to, Started: started || to == cluster.Running})
				if before != after && !slices.Contains(diagram[before], after) && !slices.Contains(beyond[before], after) {
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
			shown := oar.StateOf(oar.VJobState{State: s, Started: started})
			if shown.Active() == s.Terminal() || (len(diagram[shown]) == 0) != s.Terminal() {
				t.Errorf("%s shows as %s", s, shown)
			}
		}
	}
}

func TestLetters(t *testing.T) {
	var got strings.Builder
	for _, s := range oar.States() {
		got.WriteString(s.Letter())
	}
	if got.String() != "WHLLRSRFTE" {
		t.Error(got.String())
	}
}

func TestLists(t *testing.T) {
	list, err := oar.ParseStates("Waiting, hold,toLaunch")
	if err != nil || !slices.Equal(list, []oar.State{oar.StateWaiting, oar.StateHold, oar.StateToLaunch}) {
		t.Errorf("%v, %v", list, err)
	}
	for _, text := range []string{"", "Waiting,", "Asleep", strings.Repeat("x", 1<<16)} {
		if _, err := oar.ParseStates(text); !errors.Is(err, cluster.ErrInvalid) || len(err.Error()) > 300 {
			t.Errorf("%.20q: %v", text, err)
		}
	}
}
