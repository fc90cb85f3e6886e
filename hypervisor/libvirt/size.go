package libvirt

import (
	"libvirt.org/go/libvirtxml"

	"vjob/cluster"
)

// sizeOf is what a machine takes of its node: the CPU that was reserved for it, or all of
// its virtual processors where the mark does not tell, and its memory.
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

// memoryUnits are bytes by the units in which libvirt states memory, or we do.
var memoryUnits = map[string]uint64{"": 1 << 10, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "bytes": 1, "b": 1}
