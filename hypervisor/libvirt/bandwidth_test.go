package libvirt

import (
	"testing"

	"vjob/cluster"
)

func TestBandwidth(t *testing.T) {
	for _, c := range []struct {
		rate cluster.Rate
		most int
		want uint64
	}{{0, 0, 0}, {0, 30, 30}, {1 << 20, 0, 1}, {1<<20 + 1, 0, 2}, {100 << 20, 30, 30}, {10 << 20, 30, 10}} {
		if got := bandwidth(c.rate, c.most); got != c.want {
			t.Errorf("%d B/s, at most %d MiB/s: %d", c.rate, c.most, got)
		}
	}
}
