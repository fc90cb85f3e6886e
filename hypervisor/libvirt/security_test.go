package libvirt

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"libvirt.org/go/libvirtxml"

	"vjob/tests/golden"
)

// What a VM's port on a bridge has, by the settings and by how many VMs its vjob has.
func TestNetworkGolden(t *testing.T) {
	for _, tt := range []struct {
		name              string
		filter, isolation string
		members           int
	}{
		{"network-alone", "", "", 1},
		{"network-gang", "", "", 4},
		{"network-members-unknown", "", "", 0},
		{"network-isolated-gang", "", "on", 4},
		{"network-open", "none", "off", 1},
		{"network-other-filter", "site-traffic", "off", 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			cfg := validConfig()
			cfg.Bridge, cfg.NetworkFilter, cfg.PortIsolation = "br0", tt.filter, tt.isolation
			cfg = cfg.withDefaults()
			port := cfg.network("02:00:00:00:00:01", tt.members)
			text, err := (&libvirtxml.Domain{Devices: &libvirtxml.DomainDeviceList{Interfaces: []libvirtxml.DomainInterface{port}}}).Marshal()
			if err != nil {
				t.Fatal(err)
			}
			golden.Same(t, filepath.Join("testdata", tt.name+".xml"), text+"\n")
		})
	}
}

// Memory migrates encrypted where the nodes reach each other by TLS, unless the settings
// say otherwise.
func TestMigratesByTLS(t *testing.T) {
	for _, tt := range []struct {
		setting, uri, peer string
		want               bool
		name               string
	}{
		{"", "qemu+tls://n1.example/system", "", true, "n1.example"},
		{"auto", "qemu://n1.example:16514/system", "", true, "n1.example"}, // TLS is what libvirt takes then
		{"auto", "qemu+ssh://n1/system", "", false, "n1"},
		{"auto", "qemu+tcp://10.0.0.1/system", "", false, "10.0.0.1"},
		{"auto", "qemu+ssh://n1/system", "qemu+tls://n1.example/system", true, "n1.example"},
		{"auto", "qemu+tls://n1/system", "qemu+tcp://n1/system", false, "n1"},
		{"auto", "qemu:///system", "", false, ""},
		{"auto", "qemu+unix:///system?socket=/run/x", "", false, ""},
		{"on", "qemu+ssh://n1/system", "", true, "n1"},
		{"off", "qemu+tls://n1/system", "", false, "n1"},
	} {
		cfg := validConfig()
		cfg.MigrationTLS, cfg.Hosts = tt.setting, []Host{{Node: "n1", URI: tt.uri, PeerURI: tt.peer}}
		cfg = cfg.withDefaults()
		to := cfg.Hosts[0]
		if got := cfg.migratesByTLS(to); got != tt.want || tlsName(to) != tt.name {
			t.Errorf("%q, %s, %s: %t by %q, want %t by %q", tt.setting, tt.uri, tt.peer, got, tlsName(to), tt.want, tt.name)
		}
	}
}

// What is no URI is not encrypted, and has no name.
func TestNoURI(t *testing.T) {
	cfg := validConfig().withDefaults()
	to := Host{PeerURI: "qemu+tls://[::1/system"}
	if cfg.migratesByTLS(to) || tlsName(to) != "" {
		t.Errorf("encrypted %t, by the name %q", cfg.migratesByTLS(to), tlsName(to))
	}
}

// Nodes need the filter where VMs are on a bridge and have one.
func TestFiltered(t *testing.T) {
	for _, tt := range []struct {
		bridge, filter string
		want           bool
	}{{"br0", "clean-traffic", true}, {"", "clean-traffic", false}, {"br0", NoFilter, false}, {"", NoFilter, false}} {
		if got := (Config{Bridge: tt.bridge, NetworkFilter: tt.filter}).filtered(); got != tt.want {
			t.Errorf("bridge %q, filter %q: %t", tt.bridge, tt.filter, got)
		}
	}
}

// A node confines its VMs if its capabilities name selinux or apparmor.
func TestConfined(t *testing.T) {
	for file, want := range map[string]bool{"caps-apparmor.xml": true, "caps-selinux.xml": true, "caps-dac.xml": false, "caps-none.xml": false} {
		text, err := os.ReadFile(filepath.Join("testdata", file))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := confined(string(text)); got != want || err != nil {
			t.Errorf("%s: %t, %v", file, got, err)
		}
	}
	if _, err := confined("capabilities"); err == nil {
		t.Error("what is no XML was read")
	}
}

// Administrators are warned of what is less safe than it could be, and of nothing else.
func TestWarnings(t *testing.T) {
	const (
		loose = "its VMs are not confined: libvirt reports neither selinux nor apparmor"
		plain = "VMs migrate to it in the clear: no TLS (libvirt.migration_tls)"
		open  = "its VMs have no network filter: clean-traffic is not defined (virsh nwfilter-define)"
	)
	cfg := validConfig().withDefaults() // h1 by TLS, h2 by ssh
	one := cfg
	one.Hosts = cfg.Hosts[1:]
	for name, tt := range map[string]struct {
		got, want []string
	}{
		"safe":               {cfg.warnings(cfg.Hosts[0], inspection{confined: true}), nil},
		"not confined":       {cfg.warnings(cfg.Hosts[0], inspection{}), []string{loose}},
		"in the clear":       {cfg.warnings(cfg.Hosts[1], inspection{confined: true}), []string{plain}},
		"no other node":      {one.warnings(one.Hosts[0], inspection{confined: true}), nil},
		"all that is unsafe": {cfg.warnings(cfg.Hosts[1], inspection{unfiltered: true}), []string{loose, plain, open}},
	} {
		if !slices.Equal(tt.got, tt.want) {
			t.Errorf("%s: %q, want %q", name, tt.got, tt.want)
		}
	}
}
