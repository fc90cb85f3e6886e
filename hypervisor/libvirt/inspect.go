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
	old := h.inspected.Swap(&found)
	if list := h.warnings(); len(list) > 0 && (old == nil || *old != found) {
		log.LogAttrs(ctx, slog.LevelWarn, "node is less safe than it could be", slog.String("why", strings.Join(list, "; ")))
	}
}

// inspect asks a host what it has.
func (c Config) inspect(conn *libvirt.Connect) (i inspection, err error) {
	text, err := conn.GetCapabilities()
	if err != nil {
		return i, err
	}
	if i.confined, err = confined(text); err != nil || !c.filtered() {
		return i, err
	}
	filter, err := conn.LookupNWFilterByName(c.NetworkFilter)
	switch {
	case err == nil:
		return i, filter.Free()
	case hasCode(err, libvirt.ERR_NO_NWFILTER), hasCode(err, libvirt.ERR_NO_SUPPORT):
		i.unfiltered = true
		return i, nil
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
