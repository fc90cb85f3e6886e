package sim

import (
	"vjob/cluster"
	"vjob/hypervisor"
)

// platforms are what VMs can be on a node: in a third of all runs every other node lacks a CPU
// feature of those before it; otherwise nothing is known of the nodes.
func (o *Options) platforms(node int) []hypervisor.Platform {
	if o.Seed%3 != 1 {
		return nil
	}
	p := hypervisor.Platform{Type: "kvm", Arch: "x86_64", CPUModel: "old", Features: []string{"avx2"}, MachineTypes: []string{"pc-q35-8.2"}}
	if node%2 == 0 {
		p.CPUModel, p.Features = "new", []string{"avx2", "avx512f"}
	}
	return []hypervisor.Platform{p}
}

// runnable checks I32 just before a call: a VM comes only to nodes that offer what it was booted with.
func (k *Checker) runnable(call *hypervisor.Call) {
	truth := k.cluster.Truth()
	offers := func(id cluster.NodeID) []hypervisor.Platform {
		for _, n := range truth.Nodes {
			if n.ID == id {
				return n.Platforms
			}
		}
		return nil
	}
	var h *hypervisor.Hardware
	to := call.Node
	switch call.Verb {
	case hypervisor.Migrate:
		to = call.To
		for _, c := range truth.Copies {
			if c.VM == call.VM && c.Node == call.Node {
				h = c.Hardware
			}
		}
	case hypervisor.Restore:
		for _, i := range truth.Images {
			if i.ID == call.Image {
				h = i.Hardware
			}
		}
	default:
		return
	}
	if lacks := h.Missing(nil, offers(to)); lacks != "" {
		k.violate(32, "%s of %s to %s, which lacks %s", call.Verb, call.VM, to, lacks)
	}
}
