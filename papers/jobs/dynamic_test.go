package jobs

import (
	"testing"
)

// The daemon needs half of the static node-hours, as Entropy does, and relieves VMs sooner than First Fit Decreasing,
// which here packs tighter: it has no reason to leave VMs where they are.
func TestDynamicConsolidation(t *testing.T) {
	t.Chdir("../..")
	d, err := consolidated()
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("static %+v\nFFD %+v\nours %+v", d.static, d.firstFit, d.ours)
	if d.static.nodeHours < 24.2 || d.static.nodeHours > 24.4 {
		t.Errorf("static: %.2f node-hours, want the published 24.31", d.static.nodeHours)
	}
	if d.ours.nodeHours > 11.9 || d.firstFit.nodeHours > 11.9 {
		t.Errorf("%.2f node-hours, FFD %.2f, Entropy 11.72", d.ours.nodeHours, d.firstFit.nodeHours)
	}
	if d.ours.unsatisfied > d.firstFit.unsatisfied/2 || d.ours.reaction > d.firstFit.reaction/2 || d.ours.overhead > 0.05 {
		t.Errorf("%.2f unsatisfied VMs, FFD has %.2f; an overhead of %.2f", d.ours.unsatisfied, d.firstFit.unsatisfied, d.ours.overhead)
	}
}
