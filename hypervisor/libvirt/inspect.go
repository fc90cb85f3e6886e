//go:build libvirt_dlopen && cgo

package libvirt

import (
	"context"
	"log/slog"
	"strings"

	"libvirt.org/go/libvirt"
)

// inspect finds out how safe the VMs of the host are. Without an answer what was known
// stays: it is asked again on the next connection.
func (h *host) inspect() {
	ctx, cancel := context.WithTimeout(context.Background(), h.driver.cfg.Timeouts.dial())
	defer cancel()
	log := h.driver.log.With(slog.String("node", string(h.Node)))
	found, err := ask(ctx, h.eyes, h.driver.cfg.inspect)
	if err != nil {
		log.LogAttrs(ctx, slog.LevelInfo, "node not inspected", slog.String("error", err.Error()))
		return
	}
	h.learn(log, found)
}

// learn notes what a host has, and logs it when that is bad and new.
func (h *host) learn(log *slog.Logger, found inspection) {
	old := h.inspected.Swap(&found)
	if list := h.warnings(); len(list) > 0 && (old == nil || *old != found) {
		log.LogAttrs(context.Background(), slog.LevelWarn, "node is less safe than it could be", slog.String("why", strings.Join(list, "; ")))
	}
}

// inspect asks a host what it has.
func (c Config) inspect(conn *libvirt.Connect) (inspection, error) {
	return c.inspectBy(conn.GetCapabilities, func(name string) error {
		filter, err := conn.LookupNWFilterByName(name)
		if err != nil {
			return err
		}
		return filter.Free()
	})
}

// inspectBy is inspect by what is asked of the host: its capabilities, and whether it has a
// network filter.
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

// warnings are what administrators should know of the host, as it was inspected last.
func (h *host) warnings() []string {
	i := h.inspected.Load()
	if i == nil {
		return nil
	}
	return h.driver.cfg.warnings(h.Host, *i)
}

// config is what VMs that boot on the host are made by. One that lacks the network filter
// boots them without: its warning says so.
func (h *host) config() Config {
	c := h.driver.cfg
	if i := h.inspected.Load(); i != nil && i.unfiltered {
		c.NetworkFilter = NoFilter
	}
	return c
}
