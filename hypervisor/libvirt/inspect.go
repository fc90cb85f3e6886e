//go:build libvirt_dlopen && cgo

package libvirt

import (
	"context"
	"fmt"
	"log/slog"
	"strings"

	"libvirt.org/go/libvirt"
)

// inspect checks how secure the VMs of the node are. Without an answer the last result stays
// until the next connection.
func (n *node) inspect() {
	ctx, cancel := context.WithTimeout(context.Background(), n.driver.cfg.Timeouts.dial())
	defer cancel()
	log := n.driver.log.With(slog.String("node", string(n.Node)))
	found, err := withConn(ctx, n.listPool, n.driver.cfg.inspect)
	if err != nil {
		log.LogAttrs(ctx, slog.LevelInfo, "node not inspected", slog.String("error", err.Error()))
		return
	}
	n.recordInspection(log, found)
}

// recordInspection records the result, and logs warnings if they are new.
func (n *node) recordInspection(log *slog.Logger, found inspection) {
	old := n.inspected.Swap(&found)
	if list := n.warnings(); len(list) > 0 && (old == nil || *old != found) {
		log.LogAttrs(context.Background(), slog.LevelWarn, "node is less safe than it could be", slog.String("why", strings.Join(list, "; ")))
	}
}

// inspect queries a host.
func (c Config) inspect(conn *libvirt.Connect) (inspection, error) {
	i, err := c.inspectBy(conn.GetCapabilities, func(name string) error {
		filter, err := conn.LookupNWFilterByName(name)
		if err != nil {
			return err
		}
		return filter.Free()
	})
	i.software = software(conn.GetLibVersion, conn.GetVersion)
	return i, err
}

// software returns the versions of libvirt and of the hypervisor on a host, as far as it tells them.
func software(library, hypervisor func() (uint32, error)) string {
	var parts []string
	for _, part := range []struct {
		name  string
		query func() (uint32, error)
	}{{"libvirt", library}, {"QEMU", hypervisor}} {
		if v, err := part.query(); err == nil && v > 0 {
			parts = append(parts, fmt.Sprintf("%s %d.%d.%d", part.name, v/1_000_000, v/1000%1000, v%1000))
		}
	}
	return strings.Join(parts, ", ")
}

// inspectBy is inspect with the two queries as arguments: the capabilities of the host, and
// whether it has a network filter.
func (c Config) inspectBy(capabilities func() (string, error), findFilter func(name string) error) (i inspection, err error) {
	text, err := capabilities()
	if err != nil {
		return i, err
	}
	if i.confined, err = confined(text); err != nil || !c.filtered() {
		return i, err
	}
	err = findFilter(c.NetworkFilter)
	if hasCode(err, libvirt.ERR_NO_NWFILTER) || hasCode(err, libvirt.ERR_NO_SUPPORT) {
		i.unfiltered, err = true, nil
	}
	return i, err
}

// warnings are the warnings for administrators from the last inspection.
func (n *node) warnings() []string {
	i := n.inspected.Load()
	if i == nil {
		return nil
	}
	return n.driver.cfg.warnings(n.Host, *i)
}

// config is the configuration by which the node boots VMs. A node that lacks the network filter
// boots them without it, and has a warning.
func (n *node) config() Config {
	c := n.driver.cfg
	if i := n.inspected.Load(); i != nil && i.unfiltered {
		c.NetworkFilter = NoFilter
	}
	return c
}
