//go:build libvirt_dlopen && cgo

package libvirt

import (
	"errors"
	"log/slog"
	"slices"
	"testing"

	"vjob/cluster"
)

// A node without confinement and without the network filter answers, says so in every look,
// and boots VMs without the filter. The driver for tests in libvirt is such a node.
func TestUnsafeNode(t *testing.T) {
	cfg := good()
	cfg.Hosts = []Host{{Node: "h1", URI: "test:///default"}, {Node: "h2", URI: "test:///default"}}
	cfg.ImageDir, cfg.ConsoleDir, cfg.SeedDir, cfg.Bridge = t.TempDir(), t.TempDir(), t.TempDir(), "br0"
	cfg.Installation = "this"
	d, err := New(cfg, slog.New(slog.DiscardHandler))
	if errors.Is(err, cluster.ErrUnavailable) {
		t.Skip("no libvirt here: ", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	h, err := d.host("h1")
	if err != nil {
		t.Fatal(err)
	}
	h.inspect()
	view, err := d.Look(t.Context(), "h1")
	if err != nil {
		t.Fatal(err)
	}
	if want := d.cfg.warnings(h.Host, inspection{unfiltered: true}); len(want) != 3 || !slices.Equal(view.Warnings, want) {
		t.Errorf("warnings %q, want %q", view.Warnings, want)
	}
	if c := h.config(); c.NetworkFilter != NoFilter || c.Bridge != "br0" {
		t.Errorf("VMs boot there with filter %q on bridge %q", c.NetworkFilter, c.Bridge)
	}
}
