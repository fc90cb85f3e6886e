package libvirt

import (
	"libvirt.org/go/libvirtxml"

	"vjob/cluster"
)

// sizeOf is what a machine takes from its node: its memory and its CPU reservation, or all of
// its virtual processors if the mark has no reservation.
func sizeOf(d *libvirtxml.Domain, m mark) cluster.Resources {
	size := cluster.Resources{CPU: cluster.MilliCPU(m.CPUMilli)}
	if size.CPU == 0 && d.VCPU != nil {
		size.CPU = cluster.MilliCPU(d.VCPU.Value) * cluster.CPU
	}
	if d.Memory != nil {
		const mib = 1 << 20
		size.Memory = cluster.MiB((uint64(d.Memory.Value)*memoryUnits[d.Memory.Unit] + mib - 1) / mib)
	}
	return size
}

// memoryUnits are the units of memory in descriptions, in bytes.
var memoryUnits = map[string]uint64{"": 1 << 10, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "bytes": 1, "b": 1}
