package ctxswitch_test

import (
	"testing"

	"vjob/cluster"
	"vjob/ctxswitch"
)

// Without those that start, a plan does everything else that it did, and they stay as they
// were.
func TestWithout(t *testing.T) {
	c := cluster.NewConfiguration()
	for _, id := range []cluster.NodeID{"n1", "n2"} {
		c.SetNode(cluster.Node{ID: id, Capacity: cluster.Resources{CPU: 2000, Memory: 2048}})
	}
	small, wide := cluster.Resources{CPU: 1000, Memory: 512}, cluster.Resources{CPU: 2000, Memory: 512}
	stays, moves := cluster.VMID{VJob: 1}, cluster.VMID{VJob: 2}
	boots, resumes := cluster.VMID{VJob: 3}, cluster.VMID{VJob: 4}
	c.SetRunning(stays, small, "n1")
	c.SetRunning(moves, small, "n2")
	c.SetWaiting(boots, wide)
	c.SetSleeping(resumes, cluster.Resources{Memory: 512}, "n1")
	problem := ctxswitch.Problem{Current: c, Live: map[cluster.VMID]bool{stays: true, moves: true}, Costs: ctxswitch.ThesisCosts}
	for id := range cluster.VJobID(4) {
		problem.Gangs = append(problem.Gangs, ctxswitch.Goal{VJob: id + 1, Want: cluster.VMRunning})
	}
	whole, err := ctxswitch.Repacker{}.Plan(problem)
	if err != nil {
		t.Fatal(err)
	}
	plan := whole.Without([]cluster.VJobID{3, 4}, c)
	if len(whole.Actions) != 3 || len(plan.Actions) != 1 || plan.Actions[0].Kind != cluster.Migrate {
		t.Fatalf("of\n%s\nthere is left\n%s", whole.String(), plan.String())
	}
	problem.Gangs = problem.Gangs[:2]
	if faults := ctxswitch.Check(problem, plan); len(faults) > 0 {
		t.Error(faults)
	}
	boot, _ := plan.Target.State(boots)
	resume, _ := plan.Target.State(resumes)
	if boot != cluster.VMWaiting || resume != cluster.VMSleeping || plan.Target.Place(resumes) != "n1" {
		t.Errorf("it leads to\n%s", plan.Target)
	}
}
