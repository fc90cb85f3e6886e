package cluster_test

import (
	"errors"
	"testing"

	"vjob/cluster"
)

func TestRate(t *testing.T) {
	for text, want := range map[string]struct {
		rate  cluster.Rate
		shown string
	}{
		"10Gbit": {1_250_000_000, "10 Gbit/s"}, "2.5 Gbit/s": {312_500_000, "2.5 Gbit/s"}, "100Mbit": {12_500_000, "100 Mbit/s"},
		"80MiB": {80 << 20, "671.1 Mbit/s"}, "1 GiB/s": {1 << 30, "8.6 Gbit/s"}, "8kbit": {1000, "8 kbit/s"}, "0": {0, "0 B/s"}, "0.1kbit": {13, "13 B/s"},
	} {
		if got, err := cluster.ParseRate(text); err != nil || got != want.rate || got.String() != want.shown {
			t.Errorf("%s: %d, %s, %v", text, got, got, err)
		}
	}
	for _, text := range []string{"", "fast", "10", "-1Gbit", "1e30Gbit", "Gbit", "NaNGbit", "10Gbit/h", "10GB"} {
		if got, err := cluster.ParseRate(text); !errors.Is(err, cluster.ErrInvalid) {
			t.Errorf("%q: %d, %v", text, got, err)
		}
	}
}
