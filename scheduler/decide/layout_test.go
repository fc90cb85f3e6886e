package decide

import (
	"testing"

	"vjob/cluster"
	"vjob/ctxswitch/execute"
)

// An attempt borrows what the view intends: changes of the attempt leave the view alone.
func TestTrialLeavesItsLayoutAlone(t *testing.T) {
	l := newLayout((*Site)(nil).With([]*execute.NodeReport{{Node: cluster.Node{ID: "n1", Capacity: cluster.Resources{CPU: 4 * cluster.CPU, Memory: 8192}}}}, 0), true)
	vm, need := cluster.VMID{VJob: 1}, cluster.Resources{CPU: 2 * cluster.CPU, Memory: 1024}
	l.setRunning(vm, need, "n1")
	before := l.intended.String() + l.current.String()
	trial := l.trial()
	if trial.intended != l.intended {
		t.Error("the trial copies what is intended, though nothing has changed")
	}
	trial.setRunning(vm, cluster.Resources{CPU: cluster.CPU, Memory: 1024}, "n1")
	trial.setRunning(cluster.VMID{VJob: 2}, need, "n1")
	if after := l.intended.String() + l.current.String(); after != before {
		t.Errorf("the layout was\n%s and is now\n%s", before, after)
	}
	if got := trial.intended.Used("n1"); got.CPU != 3*cluster.CPU {
		t.Errorf("the trial uses %s", got)
	}
}
