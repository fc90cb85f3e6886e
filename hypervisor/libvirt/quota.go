package libvirt

import (
	"libvirt.org/go/libvirtxml"

	"vjob/cluster"
	"vjob/hypervisor"
)

// A cap is the CPU bandwidth of the whole machine, cpu.max of its control group: CPU time in
// each period. With a quota for each virtual processor a guest that keeps one of two busy would
// get only half of its cap.
const (
	capPeriod = 100_000 // µs; shorter ones cost more, longer ones delay the guest
	minQuota  = 1000    // µs: the least that libvirt accepts
	unlimited = -1
)

// quota is a cap in µs of CPU time for each period.
func quota(limit cluster.MilliCPU) int64 {
	if limit <= 0 {
		return unlimited
	}
	return max(int64(max(limit, hypervisor.MinCap))*capPeriod/int64(cluster.CPU), minQuota)
}

// capFromQuota is the cap that corresponds to a quota and a period.
func capFromQuota(quota int64, period uint64) cluster.MilliCPU {
	if quota <= 0 || period == 0 {
		return 0
	}
	return cluster.MilliCPU((quota*int64(cluster.CPU) + int64(period)/2) / int64(period))
}

// cpuTune describes the cap of a machine that boots; nil without a cap.
func cpuTune(limit cluster.MilliCPU) *libvirtxml.DomainCPUTune {
	if limit <= 0 {
		return nil
	}
	return &libvirtxml.DomainCPUTune{
		GlobalPeriod: &libvirtxml.DomainCPUTunePeriod{Value: capPeriod},
		GlobalQuota:  &libvirtxml.DomainCPUTuneQuota{Value: quota(limit)},
	}
}

// capOf is the cap in the description of a machine.
func capOf(t *libvirtxml.DomainCPUTune) cluster.MilliCPU {
	if t == nil || t.GlobalQuota == nil {
		return 0
	}
	period := uint64(capPeriod)
	if t.GlobalPeriod != nil {
		period = t.GlobalPeriod.Value
	}
	return capFromQuota(t.GlobalQuota.Value, period)
}
