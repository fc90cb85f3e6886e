package replay_test

import (
	"context"
	"testing"
	"time"

	"vjob/hypervisor/simulated"
	"vjob/sim/replay"
	"vjob/sim/workload"
)

// The sums over events agree with the samples of every second, and with the spans of the vjobs.
func TestUsage(t *testing.T) {
	w, err := workload.Read("../../examples/nasgrid-consolidation.json")
	if err != nil {
		t.Fatal(err)
	}
	o := under(t, "policy: {placement: pack}\nenergy: {consolidate: {every: 10s, factor: 1}}\nbalance: {every: 1m}\n")
	o.Profile, o.Locks = simulated.Thesis, true
	r, err := replay.Run(context.Background(), w, o)
	if err != nil {
		t.Fatal(err)
	}
	u, s := &r.Usage, r.Summary()
	nodes, first, short, firstEnd := 0.0, 0.0, 0.0, r.Total
	for i := range r.VJobs {
		firstEnd = min(firstEnd, r.VJobs[i].Ended)
	}
	most, crises := 0, 0
	for i, x := range r.Samples {
		until := r.Total
		if i+1 < len(r.Samples) {
			until = r.Samples[i+1].At
		}
		span := max(0, min(until, r.Total)-x.At).Hours()
		nodes, short, most = nodes+span*float64(x.Nodes), short+span*float64(x.Unsatisfied), max(most, x.Nodes)
		if x.At < firstEnd {
			first += span * float64(x.Nodes)
		}
		if x.Unsatisfied > 0 && (i == 0 || r.Samples[i-1].Unsatisfied == 0) {
			crises++
		}
	}
	near := func(name string, got, want, within float64) {
		if got < want-within || got > want+within {
			t.Errorf("%s: %.3f, by the samples %.3f", name, got, want)
		}
	}
	near("node-hours", u.NodeTime.Hours(), nodes, 0.05)
	near("node-hours until the first end", u.FirstEnd.Hours(), first, 0.05)
	near("VM-hours with too little CPU", u.UnsatisfiedTime.Hours(), short, 0.01)
	near("mean nodes", s.NodesUsed, nodes/r.Total.Hours(), 0.05)
	if u.MostNodes != most || u.Crises != crises || crises == 0 {
		t.Errorf("%d nodes at most and %d crises, by the samples %d and %d", u.MostNodes, u.Crises, most, crises)
	}
	if m := u.MeanReaction(); m <= 0 || m > u.LongestOne || u.LongestOne > time.Minute || u.UnsatisfiedTime < u.Reaction {
		t.Errorf("%+v", u)
	}
	if s.Overhead <= 0 || s.Overhead > 0.05 || s.SwitchTime <= 0 {
		t.Errorf("an overhead of %.3f and %s in transfers", s.Overhead, s.SwitchTime)
	}
}
