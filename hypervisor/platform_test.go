package hypervisor_test

import (
	"testing"

	"vjob/hypervisor"
)

// skylake is a node with avx512f, broadwell an older one, and bare one that says nothing of its CPU.
var (
	skylake = []hypervisor.Platform{{
		Type: "kvm", Arch: "x86_64", CPUModel: "Skylake-Server", Features: []string{"aes", "avx2", "avx512f", "pcid"},
		Models: map[string]hypervisor.ModelSupport{
			"Skylake-Server": {Usable: true}, "Broadwell": {Lacks: []string{"hle", "rtm"}}, "qemu64": {Usable: true}, "EPYC": {},
		},
		MachineTypes: []string{"pc-i440fx-7.2", "pc-q35-7.2", "pc-q35-8.2"},
	}, {Type: "qemu", Arch: "x86_64", MachineTypes: []string{"pc-i440fx-7.2", "pc-q35-7.2", "pc-q35-8.2"}}}
	broadwell = []hypervisor.Platform{{
		Type: "kvm", Arch: "x86_64", CPUModel: "Broadwell", Features: []string{"aes", "avx2", "pcid"},
		Models: map[string]hypervisor.ModelSupport{
			"Skylake-Server": {Lacks: []string{"avx512bw", "avx512f", "hle", "rtm"}}, "Broadwell": {Lacks: []string{"hle", "rtm"}},
			"qemu64": {Usable: true}, "EPYC": {},
		},
		MachineTypes: []string{"pc-i440fx-7.2", "pc-q35-7.2"},
	}}
	old = []hypervisor.Platform{{ // its hypervisor does not name what a model lacks
		Type: "kvm", Arch: "x86_64", Models: map[string]hypervisor.ModelSupport{"Skylake-Server": {}, "qemu64": {Usable: true}},
	}}
	arm      = []hypervisor.Platform{{Type: "kvm", Arch: "aarch64", MachineTypes: []string{"virt-8.2"}}}
	emulated = []hypervisor.Platform{{Type: "qemu", Arch: "x86_64"}}
)

func TestMissing(t *testing.T) {
	t.Parallel()
	model := func(name string) *hypervisor.Hardware {
		return &hypervisor.Hardware{Type: "kvm", Arch: "x86_64", MachineType: "pc-q35-7.2", CPUModel: name}
	}
	hostModel := &hypervisor.Hardware{Type: "kvm", Arch: "x86_64", CPUModel: "Broadwell", Features: []string{"avx512f", "pcid"}, Without: []string{"hle", "rtm"}}
	noTSX := &hypervisor.Hardware{Type: "kvm", Arch: "x86_64", CPUModel: "Skylake-Server", Without: []string{"avx512bw", "hle", "rtm"}}
	for _, c := range []struct {
		name     string
		vm       *hypervisor.Hardware
		from, to []hypervisor.Platform
		want     string
	}{
		{"nothing known of the VM", nil, skylake, broadwell, ""},
		{"nothing known of the node", model("Skylake-Server"), skylake, nil, ""},
		{"a model that both have", model("qemu64"), skylake, broadwell, ""},
		{"a model that the older node lacks features for", model("Skylake-Server"), skylake, broadwell, "the CPU features avx512bw, avx512f, hle and 1 more"},
		{"to the newer node", model("Skylake-Server"), broadwell, skylake, ""},
		{"features that the source lacks as well", model("Broadwell"), broadwell, skylake, ""},
		{"features that the VM was booted without", noTSX, skylake, broadwell, "the CPU feature avx512f"},
		{"a model unusable there, for unnamed features", model("Skylake-Server"), skylake, old, "the CPU model Skylake-Server"},
		{"unusable on both, for unnamed features", model("EPYC"), skylake, broadwell, ""},
		{"unusable at the source for unnamed features", model("Skylake-Server"), old, broadwell, ""},
		{"a model that the node does not know", model("Broadwell"), skylake, old, "the CPU model Broadwell"},
		{"an unknown source", model("Skylake-Server"), nil, broadwell, ""},
		{"host-model", hostModel, skylake, broadwell, "the CPU feature avx512f"},
		{"host-model, features of the node unknown", hostModel, skylake, []hypervisor.Platform{{Type: "kvm", Arch: "x86_64"}}, ""},
		{"host-passthrough to an older node", &hypervisor.Hardware{Type: "kvm", Passthrough: true}, skylake, broadwell, "the CPU feature avx512f"},
		{"host-passthrough to a newer node", &hypervisor.Hardware{Type: "kvm", Passthrough: true}, broadwell, skylake, ""},
		{"machine type", &hypervisor.Hardware{Type: "kvm", MachineType: "pc-q35-8.2"}, skylake, broadwell, "the machine type pc-q35-8.2"},
		{"machine types unknown", &hypervisor.Hardware{Type: "kvm", MachineType: "pc-q35-8.2"}, skylake, old, ""},
		{"domain type", model("qemu64"), skylake, emulated, "the domain type kvm"},
		{"emulated VMs run beside KVM", &hypervisor.Hardware{Type: "qemu", CPUModel: "Skylake-Server"}, emulated, skylake, ""},
		{"architecture", model("qemu64"), skylake, arm, "the architecture x86_64"},
	} {
		if got := c.vm.Missing(c.from, c.to); got != c.want {
			t.Errorf("%s: missing %q, want %q", c.name, got, c.want)
		}
	}
}

// A VM can always run where it is.
func TestMissingNothingAtHome(t *testing.T) {
	t.Parallel()
	for _, home := range [][]hypervisor.Platform{skylake, broadwell, old} {
		for _, name := range []string{"Skylake-Server", "Broadwell", "qemu64", "EPYC"} {
			vm := &hypervisor.Hardware{Type: "kvm", Arch: "x86_64", CPUModel: name}
			if got := vm.Missing(home, home); got != "" {
				t.Errorf("model %s on its own node lacks %q", name, got)
			}
		}
	}
}
