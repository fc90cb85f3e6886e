package drs

import "testing"

// Balancing gains as much payload as in table 1, and cost-benefit analysis saves moves without losing any, as in table 2.
func TestPayload(t *testing.T) {
	s := table1Mean()
	if s.cpu[1]-s.cpu[0] < 18 || s.memory[1]-s.memory[0] < 29 || s.memory[1] < 94.99 {
		t.Errorf("table 1: %+v", s)
	}
	for i := range experiments2 {
		e := &experiments2[i]
		s := table2Mean(e)
		if s.migrations[1] > 0.61*s.migrations[0] || s.cpu[1] < s.cpu[0]-0.1 || s.memory[1] < s.memory[0]-0.1 {
			t.Errorf("table 2, %s: %+v", e.name, s)
		}
	}
}

// Figures 8 to 13, with several seeds.
func TestTestbed(t *testing.T) {
	for seed := range uint64(3) {
		o := testbed(seed, testbedSettings()).run()
		if o.roundsUntil(0.1) > 6 || o.roundsUntil(0.05) > 28 || o.roundsUntil(0.05) < 0 || o.migrations > 272 {
			t.Errorf("seed %d: %d and %d rounds, %d moves", seed, o.roundsUntil(0.1), o.roundsUntil(0.05), o.migrations)
		}
		begin, end := o.sampleAt(loadAt), &o.samples[len(o.samples)-1]
		if begin.happiness[0] < begin.happiness[1]+0.1 || begin.peak() < 1 || o.sampleAt(loadAt+30*60e9).peak() > 0.85 {
			t.Errorf("seed %d: %v when the load comes", seed, begin.happiness)
		}
		for p := range end.happy {
			if end.happy[p] < 0.99 || end.happiness[p] < 0.99 {
				t.Errorf("seed %d: pool %d at the end: %.3f happy, %.3f", seed, p, end.happy[p], end.happiness[p])
			}
		}
	}
}
