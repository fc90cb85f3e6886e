//go:build libvirt_dlopen && cgo

package libvirt

import (
	"errors"
	"strings"
	"testing"

	"libvirt.org/go/libvirt"
)

// fakeHost answers queries for its platforms.
type fakeHost struct {
	capabilities   string
	silent         error // of all queries
	domain, expand error // of the queries for KVM
}

func (h fakeHost) GetCapabilities() (string, error) { return h.capabilities, h.silent }

func (h fakeHost) GetDomainCapabilities(_, arch, _, virttype string, _ libvirt.ConnectGetDomainCapabilitiesFlags) (string, error) {
	if arch != "x86_64" {
		return "", errors.New("another question")
	}
	if virttype != typeKVM {
		return "<domainCapabilities/>", nil
	}
	return kvmCapabilities, h.domain
}

func (h fakeHost) BaselineHypervisorCPU(_, _, _, _ string, cpus []string, flags libvirt.ConnectBaselineCPUFlags) (string, error) {
	if len(cpus) != 1 || flags != libvirt.CONNECT_BASELINE_CPU_EXPAND_FEATURES {
		return "", errors.New("another question")
	}
	return `<cpu><feature policy='require' name='avx512f'/></cpu>`, h.expand
}

func TestOfferOf(t *testing.T) {
	refused := libvirt.Error{Code: libvirt.ERR_NO_SUPPORT, Message: "not supported"}
	for _, c := range []struct {
		name      string
		host      fakeHost
		platforms int
		features  bool
		fault     string
		fails     bool
	}{
		{"complete", fakeHost{capabilities: hostCapabilities}, 2, true, "", false},
		{"no answer", fakeHost{silent: refused}, 0, false, "", true},
		{"no XML", fakeHost{capabilities: "none"}, 0, false, "capabilities", false},
		{"another architecture", fakeHost{capabilities: "<capabilities/>"}, 0, false, "no machines of the architecture x86_64", false},
		{"no domain capabilities", fakeHost{capabilities: hostCapabilities, domain: refused}, 2, false, "not supported", false},
		{"features not told", fakeHost{capabilities: hostCapabilities, expand: refused}, 2, false, "not supported", false},
	} {
		got, err := Config{}.offerOf(c.host)
		if (err != nil) != c.fails {
			t.Errorf("%s: %v", c.name, err)
		}
		if err != nil {
			continue
		}
		if len(got.platforms) != c.platforms || !strings.Contains(got.fault, c.fault) || (got.fault == "") != (c.fault == "") {
			t.Errorf("%s: %+v", c.name, *got)
		}
		if c.platforms > 1 && (got.platforms[1].Features != nil) != c.features {
			t.Errorf("%s: features %q", c.name, got.platforms[1].Features)
		}
	}
}
