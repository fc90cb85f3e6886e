package libvirt

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"vjob/cluster"
)

// Config is the settings of an administrator.
type Config struct {
	// Cluster distinguishes our machines from those of another vjob on the same hosts; machine
	// UUIDs are derived from it. Empty means "vjob".
	Cluster string `yaml:"cluster"`
	// Installation is the id that marks the folders of the image store: see [InitStore].
	Installation string `yaml:"installation"`
	Hosts        []Host `yaml:"hosts"`
	// ImageDir holds the saved VMs: one directory for each node, all on file
	// systems that every host and the scheduler see under this path.
	ImageDir string `yaml:"image_dir"`
	// ConsoleDir holds one file for each VM with the output of its guest; shared in the same
	// way.
	ConsoleDir string `yaml:"console_dir"`
	// SeedDir holds the cloud-init seeds and the disk overlays of VMs that boot
	// from disk; shared in the same way. Needed only when an image is a disk.
	SeedDir string           `yaml:"seed_dir"`
	Images  []CatalogueImage `yaml:"images"`

	// DomainType is "kvm", "qemu" (emulated), or "auto": kvm on each host that offers it
	// and has vmx or svm in its CPU, else qemu. Empty means "auto".
	DomainType string `yaml:"domain_type"`
	// MachineType is a versioned QEMU machine, so that images stay readable after
	// an upgrade. Empty means "pc-i440fx-7.2".
	MachineType string `yaml:"machine_type"`
	// CPUModel is one that every host has. Empty means "qemu64".
	CPUModel string `yaml:"cpu_model"`
	// Emulator is the QEMU binary. Empty means "/usr/bin/qemu-system-x86_64".
	Emulator string `yaml:"emulator"`
	// TranslationCacheMiB limits QEMU's buffer for translated code, which is not
	// part of the guest's memory; only for domain type qemu. 0 means 32.
	TranslationCacheMiB cluster.MiB `yaml:"translation_cache_mib"`
	// Bridge connects every VM to this bridge of its host. Empty: no network.
	Bridge string `yaml:"bridge"`
	// NetworkFilter is the nwfilter of libvirt that every VM on the bridge has. Empty
	// means "clean-traffic"; see [NoFilter].
	NetworkFilter string `yaml:"network_filter"`
	// PortIsolation is "on" if VMs on one bridge do not reach each other, "auto"
	// (default) if this holds between vjobs of one VM, or "off".
	PortIsolation string `yaml:"port_isolation"`

	// Lease makes every machine hold a lease of virtlockd while it runs.
	Lease *Lease `yaml:"lease"`
	// UnsafeMigration allows the migration of VMs with disks on a file system that libvirt does
	// not know to be shared (VIR_MIGRATE_UNSAFE). Only for test labs with all hosts on one
	// machine; anywhere else it loses writes.
	UnsafeMigration bool `yaml:"unsafe_migration"`
	// MigrationTLS is "on" if the memory of VMs that migrate is encrypted, "auto"
	// (default) if it is where the nodes reach the destination by TLS, or "off".
	MigrationTLS string `yaml:"migration_tls"`
	// MigrationMiBps limits each migration, in MiB per second. 0: no limit.
	MigrationMiBps int `yaml:"migration_mibps"`

	Timeouts Timeouts `yaml:"timeouts"`
}

// Host is one node and how it is reached.
type Host struct {
	Node cluster.NodeID `yaml:"node"`
	// URI is how the scheduler reaches the host's libvirt.
	URI string `yaml:"uri"`
	// PeerURI is how the other hosts reach it; migrations are peer to peer. Empty
	// means URI.
	PeerURI string `yaml:"peer_uri"`
	// MigrateURI is where the memory of a migrating VM is sent, for example
	// "tcp://10.0.0.11". Empty lets libvirt ask the host for its name.
	MigrateURI string `yaml:"migrate_uri"`
}

// Lease configures the lease element of libvirt's lock manager. Path joined with
// Lockspace is the hosts' file_lockspace_dir.
type Lease struct {
	Lockspace string `yaml:"lockspace"`
	Path      string `yaml:"path"`
}

// CatalogueImage is an image that submissions may name.
type CatalogueImage struct {
	ID          string    `yaml:"id"`
	Description string    `yaml:"description"`
	Kind        ImageKind `yaml:"kind"`

	// Kernel, Initrd and Arguments boot directly, for kind kernel. The name of the
	// machine goes before the arguments, the user's command after them.
	Kernel    string `yaml:"kernel"`
	Initrd    string `yaml:"initrd"`
	Arguments string `yaml:"arguments"`

	// Disk, for kind disk, is a file in Format raw or qcow2 with cloud-init in it.
	// It is never written: each VM gets an overlay.
	Disk   string `yaml:"disk"`
	Format string `yaml:"format"`
}

// ImageKind is how an image boots.
type ImageKind string

// The kinds.
const (
	KindKernel ImageKind = "kernel"
	KindDisk   ImageKind = "disk"
)

// Timeouts bound operations without a deadline of their own. Zero fields have defaults.
type Timeouts struct {
	DialSeconds      int `yaml:"dial_seconds"`      // to open a connection; default 10
	KeepaliveSeconds int `yaml:"keepalive_seconds"` // between two probes of a connection; default 5
	KeepaliveCount   int `yaml:"keepalive_count"`   // lost probes before a connection is given up; default 3
	RedialSeconds    int `yaml:"redial_seconds"`    // the longest wait before the next attempt; default 10
	CloseSeconds     int `yaml:"close_seconds"`     // how long Close waits for pending calls; default 30
}

func (t Timeouts) dial() time.Duration   { return time.Duration(t.DialSeconds) * time.Second }
func (t Timeouts) redial() time.Duration { return time.Duration(t.RedialSeconds) * time.Second }
func (t Timeouts) close() time.Duration  { return time.Duration(t.CloseSeconds) * time.Second }

// silence is how long a node may be silent before it counts as gone.
func (t Timeouts) silence() time.Duration {
	return time.Duration(t.KeepaliveSeconds*(t.KeepaliveCount+1)) * time.Second
}

// withDefaults fills in the defaults.
func (c Config) withDefaults() Config {
	text := func(s *string, def string) {
		if *s == "" {
			*s = def
		}
	}
	count := func(n *int, def int) {
		if *n == 0 {
			*n = def
		}
	}
	text(&c.Cluster, "vjob")
	text(&c.DomainType, typeAuto)
	text(&c.MachineType, "pc-i440fx-7.2")
	text(&c.CPUModel, "qemu64")
	text(&c.Emulator, "/usr/bin/qemu-system-x86_64")
	text(&c.NetworkFilter, "clean-traffic")
	text(&c.PortIsolation, settingAuto)
	text(&c.MigrationTLS, settingAuto)
	if c.TranslationCacheMiB == 0 {
		c.TranslationCacheMiB = 32
	}
	count(&c.Timeouts.DialSeconds, 10)
	count(&c.Timeouts.KeepaliveSeconds, 5)
	count(&c.Timeouts.KeepaliveCount, 3)
	count(&c.Timeouts.RedialSeconds, 10)
	count(&c.Timeouts.CloseSeconds, 30)
	hosts := make([]Host, len(c.Hosts))
	for i, h := range c.Hosts {
		text(&h.PeerURI, h.URI)
		hosts[i] = h
	}
	c.Hosts = hosts
	return c
}

// namePattern matches what may become part of a file name or an XML attribute.
var namePattern = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,62}$`)

const nameWant = "letters, digits, dots, dashes and underscores, at most 63"

// Validate returns the first field that is wrong, and what it should be.
func (c Config) Validate() error {
	c = c.withDefaults()
	if err := c.validateMachine(); err != nil {
		return err
	}
	if err := c.validateHosts(); err != nil {
		return err
	}
	disks, seen := false, map[string]bool{}
	for i, image := range c.Images {
		field := fmt.Sprintf("images[%d]", i)
		if err := image.validate(field); err != nil {
			return err
		}
		if seen[image.ID] {
			return cluster.BadField(field+".id", image.ID, "an id that no other image has")
		}
		seen[image.ID] = true
		disks = disks || image.Kind == KindDisk
	}
	dirs := map[string]string{"image_dir": c.ImageDir, "console_dir": c.ConsoleDir}
	if disks || c.SeedDir != "" {
		dirs["seed_dir"] = c.SeedDir
	}
	for _, field := range []string{"image_dir", "console_dir", "seed_dir"} {
		if dir, needed := dirs[field]; needed && !filepath.IsAbs(dir) {
			return cluster.BadField(field, dir, "an absolute path that all hosts and the scheduler see")
		}
	}
	return c.Timeouts.validate()
}

func (c Config) validateMachine() error {
	switch {
	case !namePattern.MatchString(c.Cluster):
		return cluster.BadField("cluster", c.Cluster, nameWant)
	case c.DomainType != typeAuto && c.DomainType != typeQEMU && c.DomainType != typeKVM:
		return cluster.BadField("domain_type", c.DomainType, "auto, kvm or qemu")
	case !namePattern.MatchString(c.MachineType) || !strings.ContainsAny(c.MachineType, "0123456789"):
		return cluster.BadField("machine_type", c.MachineType, `a versioned QEMU machine, such as "pc-i440fx-7.2"`)
	case !namePattern.MatchString(c.CPUModel) || strings.HasPrefix(c.CPUModel, "host-") || c.CPUModel == "host":
		return cluster.BadField("cpu_model", c.CPUModel, `a CPU model that all hosts have, such as "qemu64"`)
	case !filepath.IsAbs(c.Emulator):
		return cluster.BadField("emulator", c.Emulator, "the absolute path of a QEMU binary")
	case c.TranslationCacheMiB < 1:
		return cluster.BadField("translation_cache_mib", int64(c.TranslationCacheMiB), "at least 1")
	case c.Bridge != "" && !namePattern.MatchString(c.Bridge):
		return cluster.BadField("bridge", c.Bridge, "the name of a bridge on every host")
	case !namePattern.MatchString(c.NetworkFilter):
		return cluster.BadField("network_filter", c.NetworkFilter, "the name of an nwfilter of libvirt on every host, or none")
	case !slices.Contains(settingValues, c.PortIsolation):
		return cluster.BadField("port_isolation", c.PortIsolation, wantSetting)
	case !slices.Contains(settingValues, c.MigrationTLS):
		return cluster.BadField("migration_tls", c.MigrationTLS, wantSetting)
	case c.MigrationMiBps < 0:
		return cluster.BadField("migration_mibps", c.MigrationMiBps, "0 for no limit, or more")
	case c.Lease != nil && !namePattern.MatchString(c.Lease.Lockspace):
		return cluster.BadField("lease.lockspace", c.Lease.Lockspace, nameWant)
	case c.Lease != nil && !filepath.IsAbs(c.Lease.Path):
		return cluster.BadField("lease.path", c.Lease.Path, "the absolute path of the directory above the lockspace")
	}
	return nil
}

func (c Config) validateHosts() error {
	if len(c.Hosts) == 0 {
		return cluster.BadField("hosts", "[]", "at least one host")
	}
	seen := map[cluster.NodeID]bool{}
	for i, h := range c.Hosts {
		field := fmt.Sprintf("hosts[%d]", i)
		switch {
		case !namePattern.MatchString(string(h.Node)):
			return cluster.BadField(field+".node", string(h.Node), nameWant)
		case seen[h.Node]:
			return cluster.BadField(field+".node", string(h.Node), "a name that no other host has")
		case !strings.Contains(h.URI, "://"):
			return cluster.BadField(field+".uri", h.URI, `a libvirt URI, such as "qemu+ssh://n1/system"`)
		case !strings.Contains(h.PeerURI, "://"):
			return cluster.BadField(field+".peer_uri", h.PeerURI, `a libvirt URI, such as "qemu+tls://n1/system"`)
		case h.MigrateURI != "" && !strings.Contains(h.MigrateURI, "://"):
			return cluster.BadField(field+".migrate_uri", h.MigrateURI, `a URI, such as "tcp://10.0.0.11"`)
		}
		seen[h.Node] = true
	}
	return nil
}

func (t Timeouts) validate() error {
	for field, n := range map[string]int{
		"dial_seconds": t.DialSeconds, "keepalive_seconds": t.KeepaliveSeconds, "keepalive_count": t.KeepaliveCount,
		"redial_seconds": t.RedialSeconds, "close_seconds": t.CloseSeconds,
	} {
		if n < 1 || n > 3600 {
			return cluster.BadField("timeouts."+field, n, "between 1 and 3600")
		}
	}
	return nil
}

func (i CatalogueImage) validate(field string) error {
	switch {
	case !namePattern.MatchString(i.ID):
		return cluster.BadField(field+".id", i.ID, nameWant)
	case i.Kind != KindKernel && i.Kind != KindDisk:
		return cluster.BadField(field+".kind", string(i.Kind), "kernel or disk")
	case i.Kind == KindKernel && !filepath.IsAbs(i.Kernel):
		return cluster.BadField(field+".kernel", i.Kernel, "the absolute path of a kernel")
	case i.Kind == KindKernel && i.Initrd != "" && !filepath.IsAbs(i.Initrd):
		return cluster.BadField(field+".initrd", i.Initrd, "the absolute path of an initial RAM disk, or nothing")
	case i.Kind == KindKernel && !printable(i.Arguments, ' '):
		return cluster.BadField(field+".arguments", i.Arguments, "printable ASCII")
	case i.Kind == KindKernel && i.Disk+i.Format != "":
		return cluster.Fault(field+".disk", "a kernel boots without a disk of ours")
	case i.Kind == KindDisk && !filepath.IsAbs(i.Disk):
		return cluster.BadField(field+".disk", i.Disk, "the absolute path of a disk image")
	case i.Kind == KindDisk && i.Format != "raw" && i.Format != "qcow2":
		return cluster.BadField(field+".format", i.Format, "raw or qcow2")
	case i.Kind == KindDisk && i.Kernel+i.Initrd+i.Arguments != "":
		return cluster.Fault(field+".kernel", "a disk brings its own kernel")
	}
	return nil
}

// image returns an image of the catalogue.
func (c Config) image(id string) (CatalogueImage, error) {
	for _, i := range c.Images {
		if i.ID == id {
			return i, nil
		}
	}
	return CatalogueImage{}, cluster.BadField("image", id, "an image of the catalogue")
}

// printable reports whether s is ASCII from least to '~'.
func printable(s string, least byte) bool {
	for i := range len(s) {
		if s[i] < least || s[i] > '~' {
			return false
		}
	}
	return true
}

// bandwidth is the limit of a migration in MiB per second, as libvirt counts it: the rate of the
// plan, at most the limit of the settings. 0 is no limit.
func bandwidth(rate cluster.Rate, most int) uint64 {
	mib := (int64(rate) + 1<<20 - 1) >> 20
	switch {
	case mib == 0:
		return uint64(most)
	case most == 0:
		return uint64(mib)
	}
	return uint64(min(mib, int64(most)))
}
