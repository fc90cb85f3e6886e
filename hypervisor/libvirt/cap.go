package libvirt

import (
	"libvirt.org/go/libvirtxml"

	"vjob/cluster"
	"vjob/hypervisor"
)

// A cap is the bandwidth of the whole machine, cpu.max of its control group: so much
// CPU time in each period. A quota for each virtual processor would let a guest that
// keeps only one of two busy have half of what it may.
const (
	capPeriod  = 100_000 // µs; shorter ones cost, longer ones are felt in the guest
	quotaLeast = 1000    // µs: libvirt takes no less
	unlimited  = -1
)

// quota is a cap in µs of each period.
func quota(most cluster.MilliCPU) int64 {
	if most <= 0 {
		return unlimited
	}
	return max(int64(max(most, hypervisor.LeastCap))*capPeriod/int64(cluster.CPU), quotaLeast)
}

// mostOf is the cap that a quota and a period make.
func mostOf(quota int64, period uint64) cluster.MilliCPU {
	if quota <= 0 || period == 0 {
		return 0
	}
	return cluster.MilliCPU((quota*int64(cluster.CPU) + int64(period)/2) / int64(period))
}

// capped is how a machine is described that boots under a cap; nil: without.
func capped(most cluster.MilliCPU) *libvirtxml.DomainCPUTune {
	if most <= 0 {
		return nil
	}
	return &libvirtxml.DomainCPUTune{
		GlobalPeriod: &libvirtxml.DomainCPUTunePeriod{Value: capPeriod},
		GlobalQuota:  &libvirtxml.DomainCPUTuneQuota{Value: quota(most)},
	}
}

// capOf is the cap of a machine by its description.
func capOf(t *libvirtxml.DomainCPUTune) cluster.MilliCPU {
	if t == nil || t.GlobalQuota == nil {
		return 0
	}
	period := uint64(capPeriod)
	if t.GlobalPeriod != nil {
		period = t.GlobalPeriod.Value
	}
	return mostOf(t.GlobalQuota.Value, period)
}
