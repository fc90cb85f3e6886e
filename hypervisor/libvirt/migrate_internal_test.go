//go:build libvirt_dlopen && cgo

package libvirt

import (
	"context"
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

// fakeMovable is a machine that can be migrated.
type fakeMovable struct {
	fault  error // of the query for its state
	uri    string
	params *libvirt.DomainMigrateParameters
	flags  libvirt.DomainMigrateFlags
}

func (m *fakeMovable) GetState() (libvirt.DomainState, int, error) {
	return libvirt.DOMAIN_RUNNING, 0, m.fault
}

func (m *fakeMovable) MigrateToURI3(uri string, params *libvirt.DomainMigrateParameters, flags libvirt.DomainMigrateFlags) error {
	m.uri, m.params, m.flags = uri, params, flags
	return nil
}

// A machine moves to the address that its host reaches, as its state asks for; not when
// the state is not known, or the call has ended.
func TestMove(t *testing.T) {
	cfg := Config{MigrationTLS: settingOff}
	to := Host{Node: "h2", URI: "qemu+ssh://h2/system", PeerURI: "qemu+ssh://h2.lan/system", MigrateURI: "tcp://10.0.0.2"}
	m := &fakeMovable{}
	if err := cfg.move(t.Context(), m, to, 0); err != nil {
		t.Fatal(err)
	}
	params, flags := cfg.migration(to, 0, libvirt.DOMAIN_RUNNING)
	if m.uri != to.PeerURI || !reflect.DeepEqual(m.params, params) || m.flags != flags {
		t.Errorf("asked for %s, %+v, %b; want %s, %+v, %b", m.uri, m.params, m.flags, to.PeerURI, params, flags)
	}
	m = &fakeMovable{fault: errors.New("no monitor")}
	if err := cfg.move(t.Context(), m, to, 0); !errors.Is(err, m.fault) || m.uri != "" {
		t.Errorf("a machine of which nothing is known: %v, asked for %q", err, m.uri)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	m = &fakeMovable{}
	if err := cfg.move(ended, m, to, 0); !errors.Is(err, hypervisor.ErrTimeout) || m.uri != "" {
		t.Errorf("after the end of the call: %v, asked for %q", err, m.uri)
	}
}
