package libvirt

import (
	"time"

	"vjob/cluster"
)

const (
	// sampleWindow is the shortest time over which CPU demand is measured. It is below the time
	// between two regular looks, so that each of them measures, and looks at shorter intervals,
	// after events and calls, do not make the demand jump.
	sampleWindow = 4 * time.Second
	// statsPeriod is how often the balloon driver of a guest reports its memory, in seconds.
	statsPeriod = 10
	// staleMemory is the age at which a report of a running guest counts no more.
	staleMemory = 3 * statsPeriod * time.Second
	// demandStep is the resolution of CPU demand.
	demandStep = cluster.CPU / 100
	// emulatorShare is the percentage of its virtual processors up to which the other threads of a
	// busy machine do not count. A node with busy machines on all of its processors is full and not
	// overloaded.
	emulatorShare = 5
)

// warnBlind is the warning about a node on which contention cannot be seen.
const warnBlind = "contention for its CPU is not visible: libvirt does not tell how long virtual processors wait " +
	"(vcpu.delay, libvirt 7.2 and a kernel with CONFIG_SCHED_INFO); the demand of a VM is what it uses"

// sample is what the hypervisor has counted for a machine up to one instant.
type sample struct {
	at    time.Time
	used  time.Duration // CPU time of all its threads
	vcpus []vcpuTimes   // empty if the host does not tell how long they waited
	guest guestMemory
}

// vcpuTimes are the times of the thread of one virtual processor.
type vcpuTimes struct {
	run   time.Duration // it ran
	ready time.Duration // it could have run and waited for a processor of the host
}

// guestMemory is the last report of the balloon driver in a guest.
type guestMemory struct {
	inUse   cluster.MiB // at least 1 if there was a report
	updated uint64      // when it was made, in seconds of the host's clock; 0: never
}

// cpuDemand returns the CPU demand of a guest between two samples: what it used, and for each
// virtual processor run/(run+sleep) of the time that it was ready to run and did not (VMware 2012,
// eq. 1). A processor that waited all the time would have run all the time. Without the times of
// the virtual processors the result is what the guest used. ok is false if the samples cannot be
// compared: a counter went back, as after a migration, or the number of processors has changed.
func cpuDemand(from, to *sample) (demand cluster.MilliCPU, ok bool) {
	span := to.at.Sub(from.at)
	if span <= 0 || to.used < from.used || len(to.vcpus) != len(from.vcpus) {
		return 0, false
	}
	wanted := to.used - from.used
	for i := range to.vcpus {
		run, ready := to.vcpus[i].run-from.vcpus[i].run, to.vcpus[i].ready-from.vcpus[i].ready
		if run < 0 || ready < 0 {
			return 0, false
		}
		run = min(run, span)
		ready = min(ready, span-run)
		if idle := span - run - ready; run+idle > 0 {
			wanted += time.Duration(float64(run) / float64(run+idle) * float64(ready))
		} else {
			wanted += ready
		}
	}
	return share(wanted, span), true
}

// share is CPU time over a time, rounded to demandStep.
func share(used, span time.Duration) cluster.MilliCPU {
	return cluster.MilliCPU(float64(used)/float64(span)*float64(cluster.CPU/demandStep)+0.5) * demandStep
}

// meter measures the demand of one machine by samples at least sampleWindow apart.
type meter struct {
	cpu      cluster.MilliCPU // the last measurement
	measured bool             // there was one
	memory   cluster.MiB      // 0 if unknown
	base     *sample          // begin of the next measurement; nil: none while the machine runs

	updated  uint64    // of the last report of the guest
	reported time.Time // when that was seen first, or since when the guest runs again
}

// demand returns the demand of the machine. Until the CPU was measured, it is the reservation.
func (m *meter) demand(reserved cluster.MilliCPU) (cluster.MilliCPU, cluster.MiB) {
	if !m.measured {
		return reserved, m.memory
	}
	return m.cpu, m.memory
}

// due reports whether a sample is needed at a time.
func (m *meter) due(now time.Time) bool { return m.base == nil || now.Sub(m.base.at) >= sampleWindow }

// add takes in a sample of a machine that runs. A guest that uses all of its cap may demand any
// amount: it counts with at least its reservation. One that keeps its virtual processors busy
// demands these, and not what the emulator uses beside them.
func (m *meter) add(s *sample, reserved, limit cluster.MilliCPU) {
	m.addReport(s)
	if !m.due(s.at) {
		return
	}
	if m.base != nil {
		if demand, ok := cpuDemand(m.base, s); ok {
			m.cpu, m.measured = demand, true
			if busy := max(1, (reserved+cluster.CPU-1)/cluster.CPU) * cluster.CPU; demand > busy && 100*(demand-busy) <= emulatorShare*busy {
				m.cpu = busy
			}
			if limit > 0 && 20*share(s.used-m.base.used, s.at.Sub(m.base.at)) >= 19*limit {
				m.cpu = max(demand, reserved)
			}
		}
	}
	m.base = s
}

// addReport takes in the report of the guest on its memory, if there is a new one. A report that
// is not renewed while the guest runs holds for a while.
func (m *meter) addReport(s *sample) {
	if m.reported.IsZero() {
		m.reported = s.at
	}
	switch {
	case s.guest.updated > 0 && s.guest.updated != m.updated:
		m.updated, m.reported, m.memory = s.guest.updated, s.at, s.guest.inUse
	case s.at.Sub(m.reported) > staleMemory:
		m.memory = 0
	}
}

// pause notes that the machine does not run: its demand stays as it was, and the next measurement
// begins when it runs again.
func (m *meter) pause() { m.base, m.reported = nil, time.Time{} }

// inUse returns the memory that a guest uses of what it has, all in KiB: all but what it could
// give back without swapping, or, if its driver does not tell that, all but what is free. It is at
// least 1 MiB.
func inUse(has, reclaimable uint64) cluster.MiB {
	const mib = 1 << 10 // KiB
	return max(1, cluster.MiB((has-min(reclaimable, has)+mib-1)/mib))
}
