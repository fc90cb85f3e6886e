package libvirt

import (
	"fmt"
	"slices"

	"libvirt.org/go/libvirtxml"
)

// The values of [Config].DomainType.
const (
	typeAuto = "auto"
	typeKVM  = "kvm"
	typeQEMU = "qemu"
)

// kvmOffered reads from the capabilities of a host whether libvirt offers KVM for our machines,
// and returns the description of its CPU.
//
// The offer does not prove that guests run: libvirt makes it wherever /dev/kvm can be opened.
// On a host that is a VM itself the device may exist without vmx or svm in the CPU, and guests
// then hang; so both features are checked as well. Whether nested virtualisation works with
// them cannot be known from outside: where it does not, the setting must be "qemu".
func kvmOffered(capabilities string) (cpu string, offered bool, err error) {
	var caps libvirtxml.Caps
	if err := caps.Unmarshal(capabilities); err != nil {
		return "", false, fmt.Errorf("capabilities: %w", err)
	}
	if caps.Host.CPU == nil {
		return "", false, nil
	}
	offered = slices.ContainsFunc(caps.Guests, func(g libvirtxml.CapsGuest) bool {
		return g.OSType == "hvm" && g.Arch.Name == "x86_64" &&
			slices.ContainsFunc(g.Arch.Domains, func(d libvirtxml.CapsGuestDomain) bool { return d.Type == typeKVM })
	})
	cpu, err = caps.Host.CPU.Marshal()
	return cpu, offered, err
}

// virtualises reports whether a CPU, described with all features of its model, has vmx or svm.
func virtualises(cpu string) (bool, error) {
	var d libvirtxml.DomainCPU
	if err := d.Unmarshal(cpu); err != nil {
		return false, fmt.Errorf("CPU of the host: %w", err)
	}
	return slices.ContainsFunc(d.Features, func(f libvirtxml.DomainCPUFeature) bool {
		return (f.Name == "vmx" || f.Name == "svm") && f.Policy != "disable" && f.Policy != "forbid"
	}), nil
}
