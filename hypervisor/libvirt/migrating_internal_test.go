//go:build libvirt_dlopen && cgo

package libvirt

import (
	"errors"
	"reflect"
	"testing"

	"libvirt.org/go/libvirt"

	"vjob/cluster"
	"vjob/hypervisor"
)

// The parameters of a migration follow from the settings, the host and the plan.
func TestMigration(t *testing.T) {
	const always = libvirt.MIGRATE_PEER2PEER | libvirt.MIGRATE_ABORT_ON_ERROR
	plain := Host{Node: "h2", URI: "qemu+ssh://h2/system", PeerURI: "qemu+ssh://h2/system"}
	addressed := Host{Node: "h2", URI: "qemu+ssh://h2/system", PeerURI: "qemu+tls://h2.lan/system", MigrateURI: "tcp://10.0.0.2"}
	for _, c := range []struct {
		name   string
		cfg    Config
		to     Host
		rate   cluster.Rate
		params libvirt.DomainMigrateParameters
		flags  libvirt.DomainMigrateFlags
	}{
		{"nothing said", Config{MigrationTLS: settingOff}, plain, 0, libvirt.DomainMigrateParameters{}, always},
		{"unsafe", Config{MigrationTLS: settingOff, UnsafeMigration: true}, plain, 0, libvirt.DomainMigrateParameters{}, always | libvirt.MIGRATE_UNSAFE},
		{
			"an address",
			Config{MigrationTLS: settingOff},
			addressed, 0,
			libvirt.DomainMigrateParameters{URISet: true, URI: "tcp://10.0.0.2"},
			always,
		},
		{
			"by TLS to an address: the certificate names the host",
			Config{MigrationTLS: settingAuto},
			addressed, 0,
			libvirt.DomainMigrateParameters{URISet: true, URI: "tcp://10.0.0.2", TLSDestinationSet: true, TLSDestination: "h2.lan"},
			always | libvirt.MIGRATE_TLS,
		},
		{
			"by TLS without one: libvirt knows the name",
			Config{MigrationTLS: settingOn},
			plain, 0,
			libvirt.DomainMigrateParameters{TLSDestination: "h2"},
			always | libvirt.MIGRATE_TLS,
		},
		{
			"the rate of the plan",
			Config{MigrationTLS: settingOff, MigrationMiBps: 100},
			plain, 1 << 20,
			libvirt.DomainMigrateParameters{BandwidthSet: true, Bandwidth: 1},
			always,
		},
		{
			"no more than the settings allow",
			Config{MigrationTLS: settingOff, MigrationMiBps: 100},
			plain, 1 << 30,
			libvirt.DomainMigrateParameters{BandwidthSet: true, Bandwidth: 100},
			always,
		},
	} {
		for state, live := range map[libvirt.DomainState]libvirt.DomainMigrateFlags{
			libvirt.DOMAIN_PAUSED: 0, libvirt.DOMAIN_RUNNING: libvirt.MIGRATE_LIVE,
		} {
			params, flags := c.cfg.migration(c.to, c.rate, state)
			if !reflect.DeepEqual(*params, c.params) || flags != c.flags|live {
				t.Errorf("%s: %+v, flags %b; want %+v, %b", c.name, *params, flags, c.params, c.flags|live)
			}
		}
	}
}

// A migration that a host refuses, as this one refuses all, leaves the copy where it was.
func TestRefusedMigration(t *testing.T) {
	b := newBuiltin(t)
	vm := cluster.VMID{VJob: 7}
	b.create(vm, nil)
	_, err := b.Do(t.Context(), hypervisor.Call{Op: 1, Verb: hypervisor.Migrate, VM: vm, Node: "h1", To: "h2"})
	if !errors.Is(err, hypervisor.ErrRefused) || b.state(vm) != "running" {
		t.Errorf("%v, and it is %q", err, b.state(vm))
	}
}
