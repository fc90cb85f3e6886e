//go:build libvirt_dlopen && cgo

package libvirt

import (
	"context"
	"log/slog"
	"slices"

	"libvirt.org/go/libvirt"

	"vjob/hypervisor"
)

// platformConn is the part of a [libvirt.Connect] that tells what a host offers.
type platformConn interface {
	GetCapabilities() (string, error)
	GetDomainCapabilities(emulator, arch, machine, virttype string, flags libvirt.ConnectGetDomainCapabilitiesFlags) (string, error)
	BaselineHypervisorCPU(emulator, arch, machine, virttype string, cpus []string, flags libvirt.ConnectBaselineCPUFlags) (string, error)
}

// probePlatforms finds out what the node offers. Without an answer the last result stays until the next
// connection: a host has other capabilities only after a restart of its daemon.
func (n *node) probePlatforms() {
	ctx, cancel := context.WithTimeout(context.Background(), n.driver.cfg.Timeouts.dial())
	defer cancel()
	found, err := withConn(ctx, n.listPool, func(conn *libvirt.Connect) (*offer, error) { return n.driver.cfg.offerOf(conn) })
	if err != nil {
		n.driver.log.LogAttrs(ctx, slog.LevelInfo, "platforms not read", slog.String("node", string(n.Node)), slog.String("error", err.Error()))
		if n.offer.Load() == nil {
			n.offer.Store(&offer{fault: err.Error()})
		}
		return
	}
	n.offer.Store(found)
}

// offerOf queries a host. An error means that it did not answer; what it does not tell is the fault of
// the offer.
func (c Config) offerOf(conn platformConn) (*offer, error) {
	capabilities, err := conn.GetCapabilities()
	if err != nil {
		return nil, err
	}
	list, err := platformsOf(capabilities)
	if err != nil {
		return &offer{fault: err.Error()}, nil //nolint:nilerr // it answered
	}
	o := &offer{platforms: list}
	if len(list) == 0 {
		o.fault = "libvirt offers no machines of the architecture " + machineArch
	}
	for i := range list {
		p := &list[i]
		text, err := conn.GetDomainCapabilities(c.Emulator, p.Arch, "", p.Type, 0)
		if err == nil {
			err = describeCPU(p, text, func(cpu string) (string, error) {
				return conn.BaselineHypervisorCPU(c.Emulator, p.Arch, "", p.Type, []string{cpu}, libvirt.CONNECT_BASELINE_CPU_EXPAND_FEATURES)
			})
		}
		if err != nil && o.fault == "" {
			o.fault = translate(err).Error()
		}
	}
	return o, nil
}

// platforms are what the node offered when it was last asked; nil if unknown.
func (n *node) platforms() []hypervisor.Platform {
	if o := n.offer.Load(); o != nil {
		return o.platforms
	}
	return nil
}

// allWarnings are the warnings about the node for administrators.
func (n *node) allWarnings() []string {
	list := n.warnings()
	if o := n.offer.Load(); o != nil {
		list = slices.Concat(list, n.driver.cfg.platformWarnings(o))
	}
	return list
}
