package daemon

import "testing"

// TestMemoryIsGivenBackOnceAfterABurst has 1,000 bytes alive: looks with more than 1,000 are a burst, and 500 are quiet.
func TestMemoryIsGivenBackOnceAfterABurst(t *testing.T) {
	var r restful
	for i, look := range []struct {
		allocated uint64
		want      bool
	}{
		{1001, false}, // the burst is not over
		{1800, false},
		{2300, true},  // it is
		{2310, false}, // once is enough
		{3310, false}, // too little for a burst, however often
		{4310, false},
		{4400, false},
		{5500, false},
		{5500, true},
		{5500, false},
	} {
		if got := r.due(look.allocated, 1000); got != look.want {
			t.Errorf("look %d, %d bytes allocated: %t, want %t", i, look.allocated, got, look.want)
		}
	}
}
