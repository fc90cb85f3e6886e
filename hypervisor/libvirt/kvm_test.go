package libvirt

import (
	"strings"
	"testing"
)

// capabilities are those of a node that offers KVM.
const capabilities = `<capabilities>
  <host><cpu><arch>x86_64</arch><model>Haswell</model><vendor>Intel</vendor><feature name='vmx'/></cpu></host>
  <guest><os_type>hvm</os_type><arch name='i686'><wordsize>32</wordsize><domain type='qemu'/><domain type='kvm'/></arch></guest>
  <guest><os_type>hvm</os_type><arch name='x86_64'><wordsize>64</wordsize><domain type='qemu'/><domain type='kvm'/></arch></guest>
</capabilities>`

func TestKVMOffered(t *testing.T) {
	for name, tt := range map[string]struct {
		caps string
		want bool
	}{
		"offered":           {capabilities, true},
		"for another arch":  {strings.Replace(capabilities, "'x86_64'", "'aarch64'", 1), false},
		"emulation only":    {strings.ReplaceAll(capabilities, "<domain type='kvm'/>", ""), false},
		"no CPU":            {capabilities[:strings.Index(capabilities, "<cpu>")] + capabilities[strings.Index(capabilities, "</host>"):], false},
		"paravirtual guest": {strings.ReplaceAll(capabilities, "hvm", "xen"), false},
	} {
		cpu, got, err := kvmOffered(tt.caps)
		if err != nil || got != tt.want || got && !strings.Contains(cpu, "Haswell") {
			t.Errorf("%s: offered %t, CPU %q, %v", name, got, cpu, err)
		}
	}
	if _, _, err := kvmOffered("no XML"); err == nil {
		t.Error("capabilities that are no XML")
	}
}

// A device that exists need not work: the CPU must have vmx or svm.
func TestVirtualises(t *testing.T) {
	for cpu, want := range map[string]bool{
		`<cpu mode='custom' match='exact'><model>Haswell</model><feature policy='require' name='vmx'/></cpu>`: true,
		`<cpu mode='custom' match='exact'><model>EPYC</model><feature policy='require' name='svm'/></cpu>`:    true,
		`<cpu mode='custom' match='exact'><model>EPYC</model><feature policy='disable' name='svm'/></cpu>`:    false,
		`<cpu mode='custom' match='exact'><model>Haswell</model><feature policy='require' name='aes'/></cpu>`: false,
		`<cpu mode='custom' match='exact'><model>EPYC</model><feature policy='forbid' name='svm'/></cpu>`:     false,
		`<cpu><model>qemu64</model></cpu>`: false,
	} {
		if got, err := virtualises(cpu); err != nil || got != want {
			t.Errorf("%s: %t, %v", cpu, got, err)
		}
	}
	if _, err := virtualises("no XML"); err == nil {
		t.Error("a CPU that is no XML")
	}
}

// Where the settings say nothing, each host decides: a guest is not emulated where it need
// not be.
func TestHostsDecideHowGuestsRun(t *testing.T) {
	cfg := validConfig()
	cfg.DomainType = ""
	if got := cfg.withDefaults().DomainType; got != "auto" {
		t.Errorf("the domain type defaults to %q, want auto", got)
	}
}
