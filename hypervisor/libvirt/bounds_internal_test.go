package libvirt

import (
	"errors"
	"testing"
	"time"

	"libvirt.org/go/libvirtxml"

	"vjob/cluster"
)

// The bounds of settings are allowed, and what lies beyond them is not.
func TestBounds(t *testing.T) {
	bare := func(c *Config) { c.Images, c.SeedDir = c.Images[:1], "" }
	for _, c := range []struct {
		name   string
		change func(*Config)
		field  string // that is wrong; "" if none is
	}{
		{"no disk needs no seeds", bare, ""},
		{"no domain type", func(c *Config) { c.DomainType = "" }, ""},
		{"automatic", func(c *Config) { c.DomainType = "auto" }, ""},
		{"KVM", func(c *Config) { c.DomainType = "kvm" }, ""},
		{"a relative folder of seeds is wrong all the same", func(c *Config) { bare(c); c.SeedDir = "seeds" }, "seed_dir"},
		{"a disk before a kernel needs seeds", func(c *Config) {
			c.Images[0], c.Images[1], c.SeedDir = c.Images[1], c.Images[0], ""
		}, "seed_dir"},
		{"a machine with a version and a slash", func(c *Config) { c.MachineType = "pc/7.2" }, "machine_type"},
		{"a CPU with a slash", func(c *Config) { c.CPUModel = "a/b" }, "cpu_model"},
		{"the CPU of the host", func(c *Config) { c.CPUModel = "host" }, "cpu_model"},
		{"a lease", func(c *Config) { c.Lease = &Lease{Path: "/srv", Lockspace: "lockd"} }, ""},
		{"a kernel with a RAM disk", func(c *Config) { c.Images[0].Initrd = "/initrd" }, ""},
		{"a disk with a RAM disk", func(c *Config) { c.Images[1].Initrd = "initrd" }, "images[1].kernel"},
		{"a disk with arguments", func(c *Config) { c.Images[1].Arguments = "a\nb" }, "images[1].kernel"},
		{"the last of what is not printable", func(c *Config) { c.Images[0].Arguments = "a\x1f" }, "images[0].arguments"},
		{"a raw disk", func(c *Config) { c.Images[1].Format = "raw" }, ""},
		{"the least cache", func(c *Config) { c.TranslationCacheMiB = 1 }, ""},
		{"the least time", func(c *Config) { c.Timeouts.CloseSeconds = 1 }, ""},
		{"the longest time", func(c *Config) { c.Timeouts.CloseSeconds = 3600 }, ""},
		{"a longer time", func(c *Config) { c.Timeouts.CloseSeconds = 3601 }, "timeouts.close_seconds"},
	} {
		cfg := validConfig()
		c.change(&cfg)
		err := cfg.Validate()
		var wrong *cluster.FieldError
		switch {
		case c.field == "" && err != nil:
			t.Errorf("%s: %v", c.name, err)
		case c.field != "" && (!errors.As(err, &wrong) || wrong.Field != c.field):
			t.Errorf("%s: got %v, want a fault of %s", c.name, err, c.field)
		}
	}
}

func TestTimeouts(t *testing.T) {
	given := Timeouts{DialSeconds: 2, KeepaliveSeconds: 3, KeepaliveCount: 4, RedialSeconds: 5, CloseSeconds: 6}
	for _, c := range []struct {
		name      string
		got, want time.Duration
	}{
		{"dial", given.dial(), 2 * time.Second},
		{"silence", given.silence(), 15 * time.Second},
		{"redial", given.redial(), 5 * time.Second},
		{"close", given.close(), 6 * time.Second},
	} {
		if c.got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, c.got, c.want)
		}
	}
}

// A cap of 0 or less is written without a quota, and a quota without time is read as 0.
func TestNoCap(t *testing.T) {
	for _, most := range []cluster.MilliCPU{0, -1} {
		if q := quota(most); q != unlimited {
			t.Errorf("a cap of %d is a quota of %d", most, q)
		}
		if c := cpuTune(tuning{cap: most}); c != nil {
			t.Errorf("a cap of %d is written as %+v", most, c)
		}
	}
	for _, c := range []struct {
		name string
		tune *libvirtxml.DomainCPUTune
		want cluster.MilliCPU
	}{
		{"nothing", nil, 0},
		{"no quota", &libvirtxml.DomainCPUTune{}, 0},
		{"the period that libvirt takes by itself", &libvirtxml.DomainCPUTune{GlobalQuota: &libvirtxml.DomainCPUTuneQuota{Value: 50_000}}, 500},
		{"many CPUs in that period", &libvirtxml.DomainCPUTune{GlobalQuota: &libvirtxml.DomainCPUTuneQuota{Value: 100_000_000}}, 1_000_000},
		{"another period", &libvirtxml.DomainCPUTune{
			GlobalPeriod: &libvirtxml.DomainCPUTunePeriod{Value: 10_000}, GlobalQuota: &libvirtxml.DomainCPUTuneQuota{Value: 5000},
		}, 500},
		{"no time at all", &libvirtxml.DomainCPUTune{
			GlobalPeriod: &libvirtxml.DomainCPUTunePeriod{}, GlobalQuota: &libvirtxml.DomainCPUTuneQuota{Value: 5000},
		}, 0},
	} {
		if got := tuningOf(c.tune).cap; got != c.want {
			t.Errorf("%s is a cap of %d, want %d", c.name, got, c.want)
		}
	}
	for most, want := range map[cluster.MilliCPU]int64{1: 1000, 10: 1000, 11: 1100, 1000: 100_000, 2500: 250_000} {
		if got := quota(most); got != want {
			t.Errorf("a cap of %d is a quota of %d, want %d", most, got, want)
		}
	}
	for _, c := range []struct {
		quota  int64
		period uint64
		want   cluster.MilliCPU
	}{{2, 3, 667}, {1, 2000, 1}, {1, 2001, 0}, {1, 1, 1000}, {0, 1, 0}, {-200_000, 100_000, 0}} {
		if got := capFromQuota(c.quota, c.period); got != c.want {
			t.Errorf("%d of %d µs are %d thousandths of a CPU, want the nearest: %d", c.quota, c.period, got, c.want)
		}
	}
	if c := cpuTune(tuning{cap: 500}); c.GlobalPeriod == nil || c.GlobalPeriod.Value != capPeriod || c.GlobalQuota.Value != 50_000 {
		t.Errorf("half a CPU is written as %+v", c)
	}
}
