package repacking_test

import (
	"reflect"
	"testing"

	"vjob/papers/repacking"
	"vjob/repack"
)

// The problem of the paper has the numbers of the paper, and the same seed gives the same problem.
func TestSample(t *testing.T) {
	o := repacking.SampleOptions{Nodes: 400, Ratio: 5, Seed: 7}
	in, err := repacking.Sample(o)
	if err != nil {
		t.Fatal(err)
	}
	if err := in.Validate(); err != nil {
		t.Fatal(err)
	}
	if over := in.Overloaded(); len(over) > 0 {
		t.Errorf("nodes %v are overloaded at first", over)
	}
	starts, stops, grows, off := 0, 0, 0, 0
	for vm := range in.VMs {
		switch v := &in.VMs[vm]; {
		case v.Comes():
			starts++
		case v.Want != repack.Running:
			stops++
		case v.Grows():
			grows++
		}
	}
	for n := range in.Nodes {
		if in.Nodes[n].Want == repack.Offline {
			off++
		}
	}
	if len(in.VMs) != 2000 || starts < 50 || starts > 110 || stops < 20 || stops > 60 || grows < 700 || grows > 1200 || off != 4 {
		t.Errorf("%d VMs, %d start, %d stop, %d grow, %d nodes go off", len(in.VMs), starts, stops, grows, off)
	}
	for _, tier := range repacking.Tiers(in) {
		seen := map[int]bool{}
		for _, vm := range tier {
			if v := &in.VMs[vm]; v.State == repack.Running && seen[v.Host] {
				t.Errorf("two VMs of tier %v on node %d", tier, v.Host)
			}
			seen[in.VMs[vm].Host] = true
		}
	}
	if again, err := repacking.Sample(o); err != nil || !reflect.DeepEqual(in, again) {
		t.Errorf("another problem the second time, %v", err)
	}
	if _, err := repacking.Sample(repacking.SampleOptions{Nodes: 20, Ratio: 40}); err == nil {
		t.Error("800 VMs on 20 nodes")
	}
}
