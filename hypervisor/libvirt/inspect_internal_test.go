//go:build libvirt_dlopen && cgo

package libvirt

import (
	"bytes"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"libvirt.org/go/libvirt"
)

// A node without confinement and without the network filter answers, says so in every look,
// and boots VMs without the filter. The driver for tests in libvirt is such a node.
func TestUnsafeNode(t *testing.T) {
	d := newBuiltin(t, func(c *Config) { c.Bridge = "br0" })
	h, err := d.node("h1")
	if err != nil {
		t.Fatal(err)
	}
	h.inspect()
	h.probePlatforms()
	view, err := d.Look(t.Context(), "h1")
	if err != nil {
		t.Fatal(err)
	}
	want := d.cfg.warnings(h.Host, inspection{unfiltered: true})
	want = append(want, "its CPU and machine types are unknown, VMs come to it unchecked: libvirt offers no machines of the architecture x86_64")
	if len(want) != 4 || !slices.Equal(view.Warnings, want) {
		t.Errorf("warnings %q, want %q", view.Warnings, want)
	}
	if c := h.config(); c.NetworkFilter != NoFilter || c.Bridge != "br0" {
		t.Errorf("VMs boot there with filter %q on bridge %q", c.NetworkFilter, c.Bridge)
	}
}

// What is learnt of a node is logged when it is bad and new.
func TestWarningsAreLogged(t *testing.T) {
	for _, c := range []struct {
		what         string
		known, found *inspection
		says         string
	}{
		{"nothing", nil, &inspection{confined: true}, ""},
		{"one thing", nil, &inspection{}, "level=WARN "},
		{"the same", &inspection{}, &inspection{}, ""},
		{"one thing more", &inspection{}, &inspection{unfiltered: true}, "level=WARN "},
		{"nothing any more", &inspection{}, &inspection{confined: true}, ""},
	} {
		var said bytes.Buffer
		h := newNode(Host{Node: "h1"}, &Driver{cfg: Config{NetworkFilter: "clean"}})
		if list, filter := h.warnings(), h.config().NetworkFilter; list != nil || filter != "clean" {
			t.Errorf("before the first answer: warnings %q, filter %q", list, filter)
		}
		h.inspected.Store(c.known)
		h.recordInspection(slog.New(slog.NewTextHandler(&said, nil)), *c.found)
		got := said.String()
		if (got == "") != (c.says == "") || !strings.Contains(got, c.says) || got != "" && !strings.Contains(got, h.warnings()[0]) {
			t.Errorf("%s: it says %q, want %q", c.what, got, c.says)
		}
		filter := h.config().NetworkFilter
		if *h.inspected.Load() != *c.found || (filter == NoFilter) != c.found.unfiltered {
			t.Errorf("%s: known is %+v, filter %q", c.what, *h.inspected.Load(), filter)
		}
	}
}

// What is known of a node stays while the node does not answer, which is logged.
func TestInspectionWithoutAnswer(t *testing.T) {
	var said bytes.Buffer
	d := &Driver{cfg: newBuiltin(t).cfg, log: slog.New(slog.NewTextHandler(&said, nil))}
	h := newNode(Host{Node: "h1", URI: builtinURI}, d)
	h.close()
	known := &inspection{confined: true}
	h.inspected.Store(known)
	h.inspect()
	if got := said.String(); h.inspected.Load() != known || !strings.Contains(got, "level=INFO ") || !strings.Contains(got, "node=h1") || strings.Count(got, "\n") != 1 {
		t.Errorf("known is %+v; it says %q", h.inspected.Load(), got)
	}
}

// A node has the network filter, lacks it or does not say. It is asked only where VMs need it.
func TestInspect(t *testing.T) {
	broken := errors.New("broken")
	const plain, confining = "<capabilities/>", "<capabilities><host><secmodel><model>selinux</model></secmodel></host></capabilities>"
	for _, c := range []struct {
		what         string
		bridge       string
		capabilities string
		silent       error // without capabilities
		lookup       error
		want         inspection
		fails        bool
		asked        string
	}{
		{"no answer", "br0", plain, broken, nil, inspection{}, true, ""},
		{"no capabilities", "br0", "none", nil, nil, inspection{}, true, ""},
		{"no network", "", confining, nil, broken, inspection{confined: true}, false, ""},
		{"a filter", "br0", confining, nil, nil, inspection{confined: true}, false, "clean"},
		{"no filter", "br0", confining, nil, libvirt.Error{Code: libvirt.ERR_NO_NWFILTER}, inspection{confined: true, unfiltered: true}, false, "clean"},
		{"no filters", "br0", plain, nil, libvirt.Error{Code: libvirt.ERR_NO_SUPPORT}, inspection{unfiltered: true}, false, "clean"},
		{"no answer about the filter", "br0", plain, nil, broken, inspection{}, true, "clean"},
	} {
		cfg, asked := Config{Bridge: c.bridge, NetworkFilter: "clean"}, ""
		got, err := cfg.inspectBy(func() (string, error) { return c.capabilities, c.silent }, func(name string) error {
			asked += name
			return c.lookup
		})
		if got != c.want || (err != nil) != c.fails || asked != c.asked {
			t.Errorf("%s: %+v, %v, asked for %q", c.what, got, err, asked)
		}
	}
}
