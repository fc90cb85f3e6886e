package libvirt

import (
	"testing"

	"libvirt.org/go/libvirtxml"

	"vjob/cluster"
)

// What is written into a description is read back from it, and libvirt takes it.
func TestTuningInDescription(t *testing.T) {
	for given, want := range map[tuning]tuning{
		{}: {}, {cap: 1}: {cap: 10}, {cap: 10}: {cap: 10}, {cap: 250}: {cap: 250}, {cap: 1000}: {cap: 1000}, {cap: 31_999}: {cap: 31_999},
		{weight: 1}: {weight: 1}, {weight: 10_000}: {weight: 10_000}, {cap: 250, weight: 300}: {cap: 250, weight: 300},
	} {
		d := &libvirtxml.Domain{CPUTune: cpuTune(given)}
		text, err := d.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		var read libvirtxml.Domain
		if err := read.Unmarshal(text); err != nil {
			t.Fatal(err)
		}
		if got := tuningOf(read.CPUTune); got != want {
			t.Errorf("%+v is read back as %+v, want %+v\n%s", given, got, want, text)
		}
		if q := quota(given.cap); q != unlimited && q < minQuota {
			t.Errorf("a cap of %d is a quota of %d µs", given.cap, q)
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
