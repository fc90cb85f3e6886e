//go:build libvirt_dlopen && cgo

package libvirt

import (
	"errors"
	"testing"
)

// Versions are numbers of three parts; what a host does not tell is left out.
func TestSoftware(t *testing.T) {
	is := func(v uint32) func() (uint32, error) { return func() (uint32, error) { return v, nil } }
	none := func() (uint32, error) { return 0, errors.New("not supported") }
	for _, c := range []struct {
		library, hypervisor func() (uint32, error)
		want                string
	}{
		{is(9_000_000), is(7_002_011), "libvirt 9.0.0, QEMU 7.2.11"},
		{is(11_003_000), none, "libvirt 11.3.0"},
		{none, none, ""},
	} {
		if got := software(c.library, c.hypervisor); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}
