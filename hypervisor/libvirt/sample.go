//go:build libvirt_dlopen && cgo

package libvirt

import (
	"time"

	"libvirt.org/go/libvirt"

	"vjob/hypervisor"
)

// takeSample reads the counters of a machine, or returns nil. NOWAIT: while a job holds the
// machine, its guest is not asked for its memory.
func takeSample(conn lister, dom *libvirt.Domain) *sample {
	stats, err := conn.GetAllDomainStats([]*libvirt.Domain{dom},
		libvirt.DOMAIN_STATS_CPU_TOTAL|libvirt.DOMAIN_STATS_VCPU|libvirt.DOMAIN_STATS_BALLOON,
		libvirt.CONNECT_GET_ALL_DOMAINS_STATS_NOWAIT)
	if err != nil {
		return nil
	}
	var s *sample
	for i := range stats {
		if s == nil && stats[i].Cpu != nil {
			s = newSample(&stats[i], time.Now())
		}
		_ = stats[i].Domain.Free() // the reference is local
	}
	return s
}

// traffic sums up the network devices of a machine, as the guest sees them. Libvirt leaves out the counters of devices
// that the host does not count, such as those of QEMU's user network.
func traffic(devices []libvirt.DomainStatsNet) (sum hypervisor.Traffic) {
	for i := range devices {
		sum.Received += int64(devices[i].RxBytes)
		sum.Sent += int64(devices[i].TxBytes)
	}
	return sum
}

// newSample reads the counters in statistics of libvirt, which has delay since 7.2.0. Delay comes
// from the host's /proc/PID/task/TID/schedstat. The older counter wait is the same time where the
// host counts it (kernel.sched_schedstats). Both stay 0 where the kernel does not count: then the
// processors of a guest that has run are left out, as if there were no counter.
func newSample(stats *libvirt.DomainStats, at time.Time) *sample {
	s := &sample{at: at, used: time.Duration(stats.Cpu.Time)}
	for _, v := range stats.Vcpu {
		if !v.TimeSet {
			continue // switched off
		}
		ready := max(v.Delay, v.Wait)
		if !v.DelaySet && !v.WaitSet || ready == 0 && v.Time > 0 {
			s.vcpus = nil
			break
		}
		s.vcpus = append(s.vcpus, vcpuTimes{run: time.Duration(v.Time), ready: time.Duration(ready)})
	}
	if b := stats.Balloon; b != nil && b.CurrentSet && b.LastUpdate > 0 {
		switch {
		case b.UsableSet:
			s.guest = guestMemory{inUse(b.Current, b.Usable), b.LastUpdate}
		case b.UnusedSet:
			s.guest = guestMemory{inUse(b.Current, b.Unused), b.LastUpdate}
		}
	}
	return s
}
