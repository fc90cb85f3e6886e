package libvirt

import (
	"testing"

	"libvirt.org/go/libvirtxml"

	"vjob/cluster"
)

// What is written into a description is read back from it, and libvirt takes it.
func TestCapInDescription(t *testing.T) {
	for given, want := range map[cluster.MilliCPU]cluster.MilliCPU{0: 0, 1: 10, 10: 10, 250: 250, 1000: 1000, 31_999: 31_999} {
		d := &libvirtxml.Domain{CPUTune: cpuTune(given)}
		text, err := d.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		var read libvirtxml.Domain
		if err := read.Unmarshal(text); err != nil {
			t.Fatal(err)
		}
		if got := capOf(read.CPUTune); got != want {
			t.Errorf("a cap of %d is read back as %d, want %d\n%s", given, got, want, text)
		}
		if q := quota(given); q != unlimited && q < minQuota {
			t.Errorf("a cap of %d is a quota of %d µs", given, q)
		}
	}
}

// Caps that were set by hand are converted by the CPU that they allow.
func TestForeignCaps(t *testing.T) {
	for _, c := range []struct {
		quota  int64
		period uint64
		want   cluster.MilliCPU
	}{{-1, 100_000, 0}, {0, 0, 0}, {5000, 10_000, 500}, {25_000, 100_000, 250}, {400_000, 100_000, 4000}} {
		if got := capFromQuota(c.quota, c.period); got != c.want {
			t.Errorf("%d of %d µs is %d, want %d", c.quota, c.period, got, c.want)
		}
	}
}
