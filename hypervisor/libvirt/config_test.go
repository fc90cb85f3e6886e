package libvirt

import (
	"errors"
	"log/slog"
	"strings"
	"testing"

	"vjob/cluster"
)

// validConfig is a valid configuration; tests break one field each.
func validConfig() Config {
	return Config{
		DomainType: typeQEMU,
		Hosts: []Host{
			{Node: "h1", URI: "qemu+ssh://h1/system", PeerURI: "qemu+tls://h1/system", MigrateURI: "tcp://10.0.0.1"},
			{Node: "h2", URI: "qemu+ssh://h2/system"},
		},
		ImageDir: "/srv/vjob/images", ConsoleDir: "/srv/vjob/consoles", SeedDir: "/srv/vjob/seeds",
		Images: []CatalogueImage{
			{ID: "counter", Kind: KindKernel, Kernel: "/srv/vjob/counter.elf", Arguments: "tick=100  quiet"},
			{ID: "debian-12", Kind: KindDisk, Disk: "/srv/vjob/debian-12.qcow2", Format: "qcow2"},
		},
	}
}

func TestValidate(t *testing.T) {
	if err := validConfig().Validate(); err != nil {
		t.Fatalf("a good configuration: %v", err)
	}
	tests := []struct {
		field  string
		damage func(*Config)
	}{
		{"hosts", func(c *Config) { c.Hosts = nil }},
		{"hosts[1].node", func(c *Config) { c.Hosts[1].Node = "../h1" }},
		{"hosts[1].node", func(c *Config) { c.Hosts[1].Node = "h1" }},
		{"hosts[0].uri", func(c *Config) { c.Hosts[0].URI = "h1" }},
		{"hosts[0].peer_uri", func(c *Config) { c.Hosts[0].PeerURI = "h1" }},
		{"hosts[0].migrate_uri", func(c *Config) { c.Hosts[0].MigrateURI = "10.0.0.1" }},
		{"image_dir", func(c *Config) { c.ImageDir = "images" }},
		{"console_dir", func(c *Config) { c.ConsoleDir = "" }},
		{"seed_dir", func(c *Config) { c.SeedDir = "" }},
		{"cluster", func(c *Config) { c.Cluster = "<a>" }},
		{"domain_type", func(c *Config) { c.DomainType = "xen" }},
		{"machine_type", func(c *Config) { c.MachineType = "pc" }},
		{"cpu_model", func(c *Config) { c.CPUModel = "host-passthrough" }},
		{"emulator", func(c *Config) { c.Emulator = "qemu" }},
		{"translation_cache_mib", func(c *Config) { c.TranslationCacheMiB = -1 }},
		{"bridge", func(c *Config) { c.Bridge = "br 0" }},
		{"network_filter", func(c *Config) { c.NetworkFilter = "<a>" }},
		{"port_isolation", func(c *Config) { c.PortIsolation = "yes" }},
		{"migration_tls", func(c *Config) { c.MigrationTLS = "true" }},
		{"migration_mibps", func(c *Config) { c.MigrationMiBps = -1 }},
		{"lease.lockspace", func(c *Config) { c.Lease = &Lease{Path: "/srv"} }},
		{"lease.path", func(c *Config) { c.Lease = &Lease{Lockspace: "l", Path: "srv"} }},
		{"timeouts.dial_seconds", func(c *Config) { c.Timeouts.DialSeconds = -1 }},
		{"images[0].id", func(c *Config) { c.Images[0].ID = "a/b" }},
		{"images[1].id", func(c *Config) { c.Images[1].ID = "counter" }},
		{"images[0].kind", func(c *Config) { c.Images[0].Kind = "iso" }},
		{"images[0].kernel", func(c *Config) { c.Images[0].Kernel = "vmlinuz" }},
		{"images[0].initrd", func(c *Config) { c.Images[0].Initrd = "initrd" }},
		{"images[0].arguments", func(c *Config) { c.Images[0].Arguments = "a\nb" }},
		{"images[0].disk", func(c *Config) { c.Images[0].Disk = "/disk" }},
		{"images[1].disk", func(c *Config) { c.Images[1].Disk = "disk" }},
		{"images[1].format", func(c *Config) { c.Images[1].Format = "vmdk" }},
		{"images[1].kernel", func(c *Config) { c.Images[1].Kernel = "/vmlinuz" }},
	}
	for _, tt := range tests {
		cfg := validConfig()
		tt.damage(&cfg)
		err := cfg.Validate()
		var field *cluster.FieldError
		if !errors.As(err, &field) || field.Field != tt.field {
			t.Errorf("%s: %v", tt.field, err)
		}
		if _, err := New(cfg, slog.New(slog.DiscardHandler)); err == nil {
			t.Errorf("%s: a driver came of it", tt.field)
		}
	}
}

func TestNewWantsItsImageDirectory(t *testing.T) {
	cfg := validConfig()
	cfg.ImageDir = t.TempDir() + "/not-mounted"
	if _, err := New(cfg, slog.New(slog.DiscardHandler)); err == nil || strings.Contains(err.Error(), "panic") {
		t.Errorf("a driver without its images: %v", err)
	}
}
