//go:build libvirt_dlopen && cgo

package libvirt

import (
	"errors"
	"log/slog"
	"strings"
	"testing"

	"libvirt.org/go/libvirt"

	"vjob/hypervisor"
)

// fakeCapabilities is a connection to a host with that CPU.
type fakeCapabilities struct {
	capabilities, features string
	silent, unnamed        error // of either query
}

func (c fakeCapabilities) GetCapabilities() (string, error) { return c.capabilities, c.silent }

func (c fakeCapabilities) BaselineCPU(cpus []string, flags libvirt.ConnectBaselineCPUFlags) (string, error) {
	if len(cpus) != 1 || !strings.Contains(cpus[0], "Haswell") || flags != libvirt.CONNECT_BASELINE_CPU_EXPAND_FEATURES {
		return "", errors.New("another question")
	}
	return c.features, c.unnamed
}

// Why KVM is not used says what is missing; a node that does not answer is no reason.
func TestWhyNoKVM(t *testing.T) {
	const able, unable = `<cpu><model>Haswell</model><feature policy='require' name='vmx'/></cpu>`, `<cpu><model>Haswell</model></cpu>`
	lost := libvirt.Error{Code: libvirt.ERR_INTERNAL_ERROR, Domain: libvirt.FROM_RPC, Message: "client socket is closed"}
	refused := libvirt.Error{Code: libvirt.ERR_NO_SUPPORT, Message: "not supported"}
	for _, c := range []struct {
		name string
		chip fakeCapabilities
		want string
		ok   bool
	}{
		{"it can be used", fakeCapabilities{capabilities, able, nil, nil}, "", true},
		{"it is not offered", fakeCapabilities{strings.ReplaceAll(capabilities, "<domain type='kvm'/>", ""), able, nil, nil}, "libvirt does not offer it", true},
		{"the CPU cannot", fakeCapabilities{capabilities, unable, nil, nil}, "libvirt offers it, but the CPU has neither vmx nor svm", true},
		{"the features are not told", fakeCapabilities{capabilities, "", nil, refused}, "libvirt does not tell the features of the CPU: refused by the hypervisor: not supported", true},
		{"no answer", fakeCapabilities{"", "", lost, nil}, "", false},
		{"no second answer", fakeCapabilities{capabilities, "", nil, lost}, "", false},
		{"no capabilities", fakeCapabilities{"no XML", able, nil, nil}, "", false},
		{"no features", fakeCapabilities{capabilities, "no XML", nil, nil}, "", false},
	} {
		got, err := whyNoKVM(c.chip)
		if (err == nil) != c.ok || c.ok && got != c.want {
			t.Errorf("%s: %q, %v; want %q", c.name, got, err, c.want)
		}
		if c.chip.silent != nil && !errors.Is(err, c.chip.silent) {
			t.Errorf("%s: %v, want %v", c.name, err, c.chip.silent)
		}
		if c.name == "no second answer" && !errors.Is(err, hypervisor.ErrUnreachable) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// Where KVM is not offered machines are emulated, which is said once.
func TestEmulation(t *testing.T) {
	var said strings.Builder
	h := newBuiltin(t, func(c *Config) { c.DomainType = typeAuto }).quiet()
	h.driver.log = slog.New(slog.NewTextHandler(&said, nil))
	for range 2 {
		if got, err := h.domainType(t.Context()); got != typeQEMU || err != nil {
			t.Errorf("%q, %v", got, err)
		}
	}
	h.recordKVM(t.Context(), "two boots at once have asked")
	if text := said.String(); strings.Count(text, "VMs are emulated") != 1 || !strings.Contains(text, "libvirt does not offer it") || !strings.Contains(text, "level=WARN ") {
		t.Errorf("said was %q", text)
	}
	if got := h.accel.get(); got != typeQEMU {
		t.Errorf("what was found is not remembered: %q", got)
	}
	said.Reset()
	if got := h.recordKVM(t.Context(), ""); got != typeKVM || said.Len() != 0 {
		t.Errorf("nothing is wrong: %q, said was %q", got, said.String())
	}
	if got, err := h.domainType(t.Context()); got != typeKVM || err != nil {
		t.Errorf("once it is known: %q, %v", got, err)
	}
	h.driver.cfg.DomainType = typeQEMU
	if got, err := h.domainType(t.Context()); got != typeQEMU || err != nil {
		t.Errorf("as the settings say: %q, %v", got, err)
	}
}
