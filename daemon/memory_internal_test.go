package daemon

import "testing"

// TestMemoryIsGivenBackOnceAfterABurst has 1,000 bytes alive: a burst allocates more than 500, and 50 in a look are quiet.
func TestMemoryIsGivenBackOnceAfterABurst(t *testing.T) {
	var r restful
	for i, look := range []struct {
		allocated uint64
		want      bool
	}{
		{600, false}, // the burst is not over
		{1500, false},
		{1550, true},  // it is
		{1560, false}, // once is enough
		{2000, false},
		{2050, false}, // too little for a burst
		{2200, false}, // in all a burst, which is not over
		{2201, false}, // it is over, too soon after the last one
	} {
		if got := r.due(look.allocated, 1000); got != look.want {
			t.Errorf("look %d, %d bytes allocated: %t, want %t", i, look.allocated, got, look.want)
		}
	}
	for range restPause {
		if r.due(2201, 1000) {
			return
		}
	}
	t.Error("the memory of the second burst is never given back")
}

// The more is alive, the less garbage may gather beside it.
func TestGarbageFor(t *testing.T) {
	for alive, want := range map[uint64]int{0: 1600, 8 << 20: 200, 16 << 20: 100, 80 << 20: 100, 100 << 20: 80, 160 << 20: 50, 1 << 32: 50} {
		if got := garbageFor(alive); got != want {
			t.Errorf("%d MiB alive: %d %%, want %d %%", alive>>20, got, want)
		}
	}
}
