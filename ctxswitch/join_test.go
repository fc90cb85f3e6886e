package ctxswitch_test

import (
	"fmt"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch"
)

// Two plans side by side keep their order, their numbers and what they wait for.
func TestJoin(t *testing.T) {
	plan := func(id cluster.VJobID, start time.Duration) ctxswitch.Plan {
		return ctxswitch.Plan{
			Actions: []ctxswitch.Action{
				{ID: 0, Kind: cluster.Suspend, VM: cluster.VMID{VJob: id}, From: "a", Start: start, End: start + 4},
				{ID: 1, Kind: cluster.Boot, VM: cluster.VMID{VJob: id + 1}, To: "a", After: []ctxswitch.ActionID{0}, Start: start + 4, End: start + 6},
			},
			Gangs: []ctxswitch.Gang{
				{VJob: id, Kind: cluster.Suspend, Actions: []ctxswitch.ActionID{0}},
				{VJob: id + 1, Kind: cluster.Boot, Actions: []ctxswitch.ActionID{1}},
			},
			Cost: 5, Makespan: start + 6,
		}
	}
	first, second := plan(1, 0), plan(11, 3)
	first.Join(&second)
	got := fmt.Sprint(first.Actions[2].ID, first.Actions[3].ID, first.Actions[3].After, first.Gangs, first.Cost, int64(first.Makespan))
	if want := "2 3 [2] [{1 suspend [0] } {11 suspend [2] } {2 boot [1] } {12 boot [3] }] 10 9"; got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
	if second.Actions[1].After[0] != 0 {
		t.Error("the other plan was changed")
	}
	empty := ctxswitch.Plan{}
	if empty.Join(&second); len(empty.Actions) != 2 || empty.Actions[1].After[0] != 0 {
		t.Errorf("%+v", empty)
	}
}
