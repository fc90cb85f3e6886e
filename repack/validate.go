package repack

import (
	"fmt"
	"slices"
)

// Validate says what makes an instance none: sizes that differ, numbers of VMs and
// nodes that do not exist, negative amounts. Whether there is a plan is another
// matter.
func (in *Instance) Validate() error {
	for n := range in.Nodes {
		if len(in.Nodes[n].Capacity) != len(in.Dims) {
			return fmt.Errorf("%s: %d capacities for %d resources", in.NodeName(n), len(in.Nodes[n].Capacity), len(in.Dims))
		}
		if err := in.Nodes[n].validateTransfers(); err != nil {
			return fmt.Errorf("%s: %w", in.NodeName(n), err)
		}
	}
	for vm := range in.VMs {
		if err := in.validateVM(vm); err != nil {
			return fmt.Errorf("%s: %w", in.VMName(vm), err)
		}
	}
	if err := in.validateNetwork(); err != nil {
		return err
	}
	inGang := make([]bool, len(in.VMs))
	for g, vms := range in.Gangs {
		for _, vm := range vms {
			if vm < 0 || vm >= len(in.VMs) || inGang[vm] {
				return fmt.Errorf("gang %d: VM %d does not exist or is in two gangs", g, vm)
			}
			inGang[vm] = true
		}
	}
	return nil
}

func (n *Node) validateTransfers() error {
	switch {
	case n.Transfers < 0:
		return fmt.Errorf("transfers: %d: want 0 for no limit, or more", n.Transfers)
	case len(n.Busy) > n.Transfers:
		return fmt.Errorf("busy: %d transfers, the limit is %d", len(n.Busy), n.Transfers)
	case len(n.Busy) > 0 && (slices.Min(n.Busy) < 0 || slices.Max(n.Busy) >= Forever):
		return fmt.Errorf("busy: %d: times from 0 on, before the end of time", n.Busy)
	}
	return nil
}

func (in *Instance) validateVM(vm int) error {
	v := &in.VMs[vm]
	if len(v.Now) != len(in.Dims) || len(v.Next) != len(in.Dims) {
		return fmt.Errorf("%d and %d demands for %d resources", len(v.Now), len(v.Next), len(in.Dims))
	}
	for d := range in.Dims {
		if v.Now[d] < 0 || v.Next[d] < 0 {
			return fmt.Errorf("demands %d and then %d of %s", v.Now[d], v.Next[d], in.Dims[d])
		}
	}
	has := v.State == Running || v.State == Sleeping
	if has && (v.Host < 0 || v.Host >= len(in.Nodes)) {
		return fmt.Errorf("%s on node %d, which does not exist", v.State, v.Host)
	}
	if v.State == Running && in.Nodes[v.Host].State != Online {
		return fmt.Errorf("runs on %s, which is %s", in.NodeName(v.Host), in.Nodes[v.Host].State)
	}
	if v.Memory < 0 || v.Dirty < 0 {
		return fmt.Errorf("%d of memory to copy, %d of it again per tick", v.Memory, v.Dirty)
	}
	for _, t := range []Ticks{v.Takes.Boot, v.Takes.Shutdown, v.Takes.Suspend, v.Takes.ResumeLocal, v.Takes.ResumeRemote, v.Takes.Migrate} {
		if t < 0 {
			return fmt.Errorf("an action takes %d", t)
		}
	}
	return nil
}

func (in *Instance) validateNetwork() error {
	if in.Network == nil {
		return nil
	}
	if len(in.Network.NIC) > len(in.Nodes) {
		return fmt.Errorf("%d NICs for %d nodes", len(in.Network.NIC), len(in.Nodes))
	}
	for n := range in.Nodes {
		if in.Nodes[n].Rack < 0 {
			return fmt.Errorf("%s: in rack %d", in.NodeName(n), in.Nodes[n].Rack)
		}
	}
	for l := range Link(in.Links()) {
		if b := in.Bandwidth(l); b < 0 {
			return fmt.Errorf("%s: bandwidth %d", in.LinkName(l), b)
		}
	}
	return nil
}
