package libvirt

import (
	"encoding/xml"
	"fmt"
	"slices"

	"libvirt.org/go/libvirtxml"

	"vjob/hypervisor"
)

// machineArch is the architecture of our machines.
const machineArch = "x86_64"

// platformsOf reads from the capabilities of a host of what domain types our machines can be there,
// with their machine types. An alias such as "q35" is listed by its full name.
func platformsOf(capabilities string) (list []hypervisor.Platform, err error) {
	var caps libvirtxml.Caps
	if err := caps.Unmarshal(capabilities); err != nil {
		return nil, fmt.Errorf("capabilities: %w", err)
	}
	for _, g := range caps.Guests {
		if g.OSType != "hvm" || g.Arch.Name != machineArch {
			continue
		}
		for _, d := range g.Arch.Domains {
			machines := d.Machines
			if len(machines) == 0 {
				machines = g.Arch.Machines
			}
			p := hypervisor.Platform{Type: d.Type, Arch: g.Arch.Name}
			for _, m := range machines {
				name := m.Name
				if m.Canonical != "" {
					name = m.Canonical
				}
				p.MachineTypes = append(p.MachineTypes, name)
			}
			slices.Sort(p.MachineTypes)
			p.MachineTypes = slices.Compact(p.MachineTypes)
			list = append(list, p)
		}
	}
	return list, nil
}

// describeCPU adds to a platform what the domain capabilities of its type tell of the CPU. expand lists
// the features of a CPU, those of its model among them.
//
// QEMU itself says whether it can give a guest all features of a model, and libvirt since version
// 10.2 which ones it cannot. So this is right where virConnectCompareHypervisorCPU is: that call
// compares with the features of the CPU map of libvirt, which differ from those of QEMU for some
// models, and it has to be repeated for every machine and host.
func describeCPU(p *hypervisor.Platform, domainCapabilities string, expand func(cpu string) (string, error)) error {
	var caps libvirtxml.DomainCaps
	if err := caps.Unmarshal(domainCapabilities); err != nil {
		return fmt.Errorf("domain capabilities: %w", err)
	}
	if caps.CPU == nil {
		return nil
	}
	for _, mode := range caps.CPU.Modes {
		if mode.Supported != "yes" {
			continue
		}
		switch mode.Name {
		case "host-model":
			if len(mode.Models) == 0 {
				continue
			}
			p.CPUModel = mode.Models[0].Name
			text, err := expand(hostModel(&mode))
			if err != nil {
				return fmt.Errorf("features of the CPU model %s: %w", p.CPUModel, err)
			}
			if p.Features, err = featuresOf(text); err != nil {
				return err
			}
		case "custom":
			p.Models = modelsOf(&mode)
		}
	}
	return nil
}

// modelsOf reads which models are usable. Those of which QEMU does not tell count as usable.
func modelsOf(mode *libvirtxml.DomainCapsCPUMode) map[string]hypervisor.ModelSupport {
	models := make(map[string]hypervisor.ModelSupport, len(mode.Models))
	for _, m := range mode.Models {
		models[m.Name] = hypervisor.ModelSupport{Usable: m.Usable != "no"}
	}
	for _, b := range mode.Blockers {
		m := hypervisor.ModelSupport{}
		for _, f := range b.Features {
			m.Lacks = append(m.Lacks, f.Name)
		}
		slices.Sort(m.Lacks)
		models[b.Model] = m
	}
	return models
}

// hostModel describes the CPU that guests have in the mode host-model.
func hostModel(mode *libvirtxml.DomainCapsCPUMode) string {
	cpu := libvirtxml.DomainCPU{
		Mode: "custom", Match: "exact", Model: &libvirtxml.DomainCPUModel{Fallback: "forbid", Value: mode.Models[0].Name}, Vendor: mode.Vendor,
	}
	for _, f := range mode.Features {
		cpu.Features = append(cpu.Features, libvirtxml.DomainCPUFeature(f))
	}
	text, err := xml.Marshal(&cpu)
	if err != nil {
		return "" // plain data is always written
	}
	return string(text)
}

// featuresOf lists the features of a CPU that is described with all of them, in order.
func featuresOf(cpu string) (list []string, err error) {
	var d libvirtxml.DomainCPU
	if err := d.Unmarshal(cpu); err != nil {
		return nil, fmt.Errorf("CPU of the host: %w", err)
	}
	for _, f := range d.Features {
		if f.Policy != "disable" && f.Policy != "forbid" {
			list = append(list, f.Name)
		}
	}
	slices.Sort(list)
	return list, nil
}

// hardwareOf reads the hardware of a machine from its description, that of a running machine or of one in
// an image: libvirt has replaced an alias of its machine type there, and the mode host-model by a model
// with features.
func hardwareOf(d *libvirtxml.Domain) *hypervisor.Hardware {
	h := &hypervisor.Hardware{Type: d.Type}
	if d.OS != nil && d.OS.Type != nil {
		h.Arch, h.MachineType = d.OS.Type.Arch, d.OS.Type.Machine
	}
	if d.CPU != nil {
		setCPU(h, d.CPU)
	}
	return h
}

// setCPU sets what hardware says of its CPU.
func setCPU(h *hypervisor.Hardware, cpu *libvirtxml.DomainCPU) {
	h.CPUModel, h.Features, h.Without = "", nil, nil
	h.Passthrough = cpu.Mode == "host-passthrough" || cpu.Mode == "maximum"
	if h.Passthrough {
		return
	}
	if cpu.Model != nil {
		h.CPUModel = cpu.Model.Value
	}
	for _, f := range cpu.Features {
		switch f.Policy {
		case "", "require", "force":
			h.Features = append(h.Features, f.Name)
		case "disable", "forbid":
			h.Without = append(h.Without, f.Name)
		}
	}
	slices.Sort(h.Features)
	slices.Sort(h.Without)
}

// platformWarnings are the warnings about what a host offers, for administrators.
func (c Config) platformWarnings(p *offer) (list []string) {
	if p.fault != "" {
		list = append(list, "its CPU and machine types are unknown, VMs come to it unchecked: "+p.fault)
	}
	lacks := func(p hypervisor.Platform) bool { return !slices.Contains(p.MachineTypes, c.MachineType) }
	if len(p.platforms) > 0 && !slices.ContainsFunc(p.platforms, func(p hypervisor.Platform) bool { return !lacks(p) }) {
		list = append(list, fmt.Sprintf("no VM boots on it: it lacks the machine type %s (libvirt.machine_type)", c.MachineType))
	}
	return list
}

// offer is what a host offers to VMs; fault says why something of it is unknown.
type offer struct {
	platforms []hypervisor.Platform
	fault     string
}
