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

// tuning is the cap and the weight of a machine. Weights are libvirt's shares: with control groups
// of version 2 these are cpu.weight. With version 1 they are cpu.shares with the default 1024
// instead of 100, so only weights that were set compare.
type tuning struct {
	cap    cluster.MilliCPU // 0 is no limit
	weight int              // 0: not told, or as it is
}

// fulfils reports whether a machine tuned like this needs no change to be tuned as wanted.
func (t tuning) fulfils(want tuning) bool {
	return t.cap == want.cap && (want.weight == 0 || t.weight == want.weight)
}

// cpuTune describes the tuning of a machine that boots; nil without a cap and a weight.
func cpuTune(t tuning) *libvirtxml.DomainCPUTune {
	if t.cap <= 0 && t.weight <= 0 {
		return nil
	}
	tune := &libvirtxml.DomainCPUTune{}
	if t.cap > 0 {
		tune.GlobalPeriod = &libvirtxml.DomainCPUTunePeriod{Value: capPeriod}
		tune.GlobalQuota = &libvirtxml.DomainCPUTuneQuota{Value: quota(t.cap)}
	}
	if t.weight > 0 {
		tune.Shares = &libvirtxml.DomainCPUTuneShares{Value: uint(t.weight)}
	}
	return tune
}

// tuningOf is the tuning in the description of a machine.
func tuningOf(t *libvirtxml.DomainCPUTune) (found tuning) {
	if t == nil {
		return found
	}
	if t.Shares != nil {
		found.weight = int(t.Shares.Value)
	}
	if t.GlobalQuota == nil {
		return found
	}
	period := uint64(capPeriod)
	if t.GlobalPeriod != nil {
		period = t.GlobalPeriod.Value
	}
	found.cap = capFromQuota(t.GlobalQuota.Value, period)
	return found
}
