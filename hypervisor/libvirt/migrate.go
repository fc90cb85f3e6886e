//go:build libvirt_dlopen && cgo

package libvirt

import (
	"context"

	"libvirt.org/go/libvirt"

	"vjob/cluster"
	"vjob/hypervisor"
)

// migrate moves a copy, peer to peer: the two hosts finish the migration even if this process
// dies. A running copy is migrated live.
func (n *node) migrate(ctx context.Context, call hypervisor.Call) error {
	to, err := n.driver.node(call.To)
	if err != nil {
		return err
	}
	if to == n {
		return cluster.BadField("to", string(call.To), "another node")
	}
	return n.onMachine(ctx, n.bulkPool, call.VM, func(dom *libvirt.Domain) error {
		return n.driver.cfg.move(ctx, dom, to.Host, call.Rate)
	})
}

// movable is the part of a [libvirt.Domain] that a migration uses.
type movable interface {
	GetState() (libvirt.DomainState, int, error)
	MigrateToURI3(uri string, params *libvirt.DomainMigrateParameters, flags libvirt.DomainMigrateFlags) error
}

func (c Config) move(ctx context.Context, m movable, to Host, rate cluster.Rate) error {
	state, _, err := m.GetState()
	if err != nil {
		return err
	}
	params, flags := c.migration(to, rate, state)
	return change(ctx, func() error { return m.MigrateToURI3(to.PeerURI, params, flags) })
}

// migration returns the parameters and flags for the migration of a machine in that state.
func (c Config) migration(to Host, rate cluster.Rate, state libvirt.DomainState) (*libvirt.DomainMigrateParameters, libvirt.DomainMigrateFlags) {
	flags := libvirt.MIGRATE_PEER2PEER | libvirt.MIGRATE_ABORT_ON_ERROR
	if state == libvirt.DOMAIN_RUNNING {
		flags |= libvirt.MIGRATE_LIVE
	}
	if c.UnsafeMigration {
		flags |= libvirt.MIGRATE_UNSAFE
	}
	params := &libvirt.DomainMigrateParameters{URISet: to.MigrateURI != "", URI: to.MigrateURI}
	if c.migratesByTLS(to) {
		flags |= libvirt.MIGRATE_TLS
		params.TLSDestinationSet, params.TLSDestination = to.MigrateURI != "", tlsName(to)
	}
	if most := bandwidth(rate, c.MigrationMiBps); most > 0 {
		params.BandwidthSet, params.Bandwidth = true, most
	}
	return params, flags
}
