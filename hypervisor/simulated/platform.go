package simulated

import "vjob/hypervisor"

// newHardware is the hardware of a VM that boots on the node, as libvirt gives it with the CPU mode
// host-model: all features that the node offers, and its newest machine type. It is nil if the
// platforms of the node are not configured.
func (n *node) newHardware() *hypervisor.Hardware {
	if len(n.Platforms) == 0 {
		return nil
	}
	p := &n.Platforms[0]
	h := &hypervisor.Hardware{Type: p.Type, Arch: p.Arch, CPUModel: p.CPUModel, Features: p.Features}
	if len(p.MachineTypes) > 0 {
		h.MachineType = p.MachineTypes[len(p.MachineTypes)-1]
	}
	return h
}

// incompatible returns the failure of a call that brings a VM to a node that cannot run it, or nil.
func incompatible(op *operation, h *hypervisor.Hardware, to *node) *failure {
	missing := h.Missing(nil, to.Platforms)
	if missing == "" {
		return nil
	}
	return refuse(op, "unsupported configuration: node "+string(to.ID)+" lacks "+missing)
}
