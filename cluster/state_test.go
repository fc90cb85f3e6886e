package cluster_test

import (
	"errors"
	"slices"
	"testing"

	"vjob/cluster"
)

// figure61 is figure 6.1 of the thesis as it is drawn, for one VM: a second
// spelling of the life cycle, that shares nothing with the first.
var figure61 = []struct {
	from   cluster.VMState
	action cluster.ActionKind
	to     cluster.VMState
}{
	{cluster.VMWaiting, cluster.Boot, cluster.VMRunning},
	{cluster.VMRunning, cluster.Suspend, cluster.VMSleeping},
	{cluster.VMSleeping, cluster.Resume, cluster.VMRunning},
	{cluster.VMRunning, cluster.Migrate, cluster.VMRunning},
	{cluster.VMRunning, cluster.Stop, cluster.VMTerminated},
	// Beyond the figure: a vjob may be deleted while it is ready, and be suspended in memory.
	{cluster.VMWaiting, cluster.Stop, cluster.VMTerminated},
	{cluster.VMSleeping, cluster.Stop, cluster.VMTerminated},
	{cluster.VMRunning, cluster.Pause, cluster.VMPaused},
	{cluster.VMPaused, cluster.Unpause, cluster.VMRunning},
	{cluster.VMPaused, cluster.Suspend, cluster.VMSleeping},
	{cluster.VMPaused, cluster.Stop, cluster.VMTerminated},
}

func TestLifeCycleOfVMs(t *testing.T) {
	for s := cluster.VMWaiting; s <= cluster.VMTerminated; s++ {
		for a := cluster.Boot; a <= cluster.Unpause; a++ {
			want, legal := cluster.VMState(0), false
			for _, edge := range figure61 {
				if edge.from == s && edge.action == a {
					want, legal = edge.to, true
				}
			}
			if got, ok := s.After(a); ok != legal || got != want {
				t.Errorf("%s of a VM that is %s: got %s, %v; want %s, %v", a, s, got, ok, want, legal)
			}
		}
	}
}

// lifeOfVJobs spells the state diagram of a vjob: the stable states of the figure
// with the states in between.
const lifeOfVJobs = `
waiting    > booting suspending terminated failed
booting    > running stopping
running    > suspending migrating stopping
suspending > paused suspended resuming stopping
paused     > suspending resuming stopping
suspended  > resuming stopping
resuming   > running suspending paused suspended stopping
migrating  > running resuming stopping
stopping   > waiting terminated failed
terminated >
failed     >
`

func TestLifeCycleOfVJobs(t *testing.T) {
	for from := cluster.Waiting; from <= cluster.Failed; from++ {
		legal := edgesOf(t, from)
		for to := cluster.Waiting; to <= cluster.Failed; to++ {
			want := slices.Contains(legal, to)
			if got := from.CanBecome(to); got != want {
				t.Errorf("%s to %s: got %v, want %v", from, to, got, want)
			}
			j := &cluster.VJob{ID: 1, State: from, Version: 3, Cause: cluster.Because("before"), Terms: &cluster.Terms{}}
			err := j.Become(to, cluster.Because("after"))
			switch {
			case want && (err != nil || j.State != to || j.Version != 4 || j.Cause.Text != "after"):
				t.Errorf("%s to %s: %v, %+v", from, to, err, j)
			case !want && (!errors.Is(err, cluster.ErrConflict) || j.State != from || j.Version != 3 || j.Cause.Text != "before"):
				t.Errorf("%s to %s: %v, and the vjob was changed: %+v", from, to, err, j)
			}
		}
	}
}

func TestKindsOfStates(t *testing.T) {
	for s := cluster.Waiting; s <= cluster.Failed; s++ {
		terminal := s == cluster.Terminated || s == cluster.Failed
		ready := s == cluster.Waiting || s == cluster.Paused || s == cluster.Suspended
		if s.Terminal() != terminal || s.Ready() != ready || s.Stable() != (terminal || ready || s == cluster.Running) {
			t.Errorf("%s: terminal %v, ready %v, stable %v", s, s.Terminal(), s.Ready(), s.Stable())
		}
		if terminal != (len(edgesOf(t, s)) == 0) {
			t.Errorf("%s: a terminal state has no edge, every other one has", s)
		}
	}
}
