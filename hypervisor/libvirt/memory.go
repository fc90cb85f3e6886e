//go:build libvirt_dlopen && cgo

package libvirt

import (
	"slices"
	"sync"
	"time"

	"libvirt.org/go/libvirt"

	"vjob/cluster"
	"vjob/hypervisor"
)

// memory is what the driver remembers of one host between looks: nothing that a
// decision rests on, only what makes looks cheaper and endings explained.
type memory struct {
	mu       sync.Mutex
	machines map[string]*machine // by UUID
	endings  []hypervisor.Ending
	loading  string // the machine that was asked while it was not whole; "": none
}

// machine is what is remembered of one machine.
type machine struct {
	id      int // libvirt's number of this start of it; noID: expected, not seen
	who     identity
	ours    bool             // known to be ours: the identity counts
	settled bool             // it has executed, or stood complete: its sudden death is an ending
	killed  bool             // its process was asked to end from outside
	cap     cluster.MilliCPU // by the last look, or by a call since
	tuned   bool             // a call was to change its cap: it may have any
	asking  bool             // a query for its job has not returned
	seen    time.Time        // when it was last listed
	need    cluster.MilliCPU
	sample  time.Time // when used was read
	used    time.Duration
}

const (
	noID = -1
	// endingsKept and endingsMax bound what is told of guests that ended.
	endingsKept = 10 * time.Minute
	endingsMax  = 1000
	// lingering is how long a machine that is gone from the listing is remembered:
	// the event that says why may still come.
	lingering = time.Minute
	// sampleWindow is the shortest time over which a need for CPU is measured.
	sampleWindow = time.Second
)

func newMemory() memory { return memory{machines: map[string]*machine{}} }

// expect tells that a machine of ours is about to be created.
func (m *memory) expect(uuid string, who identity) {
	m.mu.Lock()
	defer m.mu.Unlock()
	it, ok := m.machines[uuid]
	if !ok {
		it = &machine{id: noID, seen: time.Now()}
		m.machines[uuid] = it
	}
	it.who, it.ours = who, true
}

// note takes an event in; it reports whether the machine is unknown and alive.
func (m *memory) note(e event, now time.Time) (unknown bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	it, ok := m.machines[e.uuid]
	if !ok {
		it = &machine{id: noID, seen: now}
		m.machines[e.uuid] = it
	}
	switch e.kind {
	case libvirt.DOMAIN_EVENT_RESUMED, libvirt.DOMAIN_EVENT_SUSPENDED:
		// Before these a machine that is restored or migrated in may still fail, and
		// then it is the restore that failed: the guest did not end.
		it.settled = true
	case libvirt.DOMAIN_EVENT_SHUTDOWN:
		it.killed = libvirt.DomainEventShutdownDetailType(e.detail) == libvirt.DOMAIN_EVENT_SHUTDOWN_HOST
	case libvirt.DOMAIN_EVENT_STOPPED:
		cause, ended := it.cause(libvirt.DomainEventStoppedDetailType(e.detail))
		if it.ours && ended {
			m.endings = append(m.endings, hypervisor.Ending{
				VM: it.who.mark.vm(), Stamp: it.who.mark.stamp(), Cause: cause, At: now,
			})
		}
		delete(m.machines, e.uuid)
		return false
	default: // defined, undefined and the like: nothing of a transient machine
	}
	return !it.ours
}

// cause tells why a machine stopped; ended is false when the guest did not end by
// itself: it was destroyed, saved or moved away, or never came to be.
func (it *machine) cause(detail libvirt.DomainEventStoppedDetailType) (cause hypervisor.Cause, ended bool) {
	switch detail {
	case libvirt.DOMAIN_EVENT_STOPPED_SHUTDOWN:
		if it.killed { // QEMU exits the same way when somebody sends it SIGTERM
			return hypervisor.CauseCrashed, true
		}
		return hypervisor.CauseShutdown, true
	case libvirt.DOMAIN_EVENT_STOPPED_CRASHED:
		return hypervisor.CauseCrashed, true
	case libvirt.DOMAIN_EVENT_STOPPED_FAILED:
		return hypervisor.CauseCrashed, it.settled
	default:
		return hypervisor.CauseUnknown, false
	}
}

// told lists the endings that are remembered, oldest first.
func (m *memory) told(now time.Time) []hypervisor.Ending {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.endings = slices.DeleteFunc(m.endings, func(e hypervisor.Ending) bool { return now.Sub(e.At) > endingsKept })
	if n := len(m.endings); n > endingsMax {
		m.endings = slices.Delete(m.endings, 0, n-endingsMax)
	}
	return slices.Clone(m.endings)
}

// known returns what is remembered of a machine with that UUID and number.
func (m *memory) known(uuid string, id int) (who identity, ours bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	it, ok := m.machines[uuid]
	if !ok || it.id != id || id == noID {
		return identity{}, false
	}
	return it.who, it.ours
}

// listed records a machine of ours that a look found, and returns what it needs.
func (m *memory) listed(uuid string, id int, who identity, c *hypervisor.Copy, now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	it, ok := m.machines[uuid]
	if !ok || (it.id != noID && it.id != id) {
		it = &machine{}
		m.machines[uuid] = it
	}
	it.id, it.who, it.ours, it.seen, it.cap = id, who, true, now, c.Cap
	if c.Job == hypervisor.JobNone {
		it.settled = true
	}
	c.CPU = it.measure(c, now)
}

// cap returns the cap of a machine as it was last known; first is what its description
// says.
func (m *memory) cap(uuid string, id int, first cluster.MilliCPU) cluster.MilliCPU {
	m.mu.Lock()
	defer m.mu.Unlock()
	if it, ok := m.machines[uuid]; ok && it.ours && it.id == id && id != noID {
		return it.cap
	}
	return first
}

// tune tells that the cap of a machine is about to be changed.
func (m *memory) tune(uuid string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if it, ok := m.machines[uuid]; ok {
		it.tuned = true
	}
}

// tuned reports whether the cap of a machine may have been changed.
func (m *memory) tuned(uuid string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	it, ok := m.machines[uuid]
	return ok && it.tuned
}

// capped notes a cap that was given to a machine.
func (m *memory) capped(uuid string, most cluster.MilliCPU) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if it, ok := m.machines[uuid]; ok {
		it.cap = most
	}
}

// measure estimates the need for CPU from what was used since the look before: a
// lower bound, when the host had no more to give. Before anything was measured,
// and while the copy is paused, it is what was known before, at first what was
// reserved. A guest that uses all that its cap leaves it may need anything: it is taken to need what
// was reserved.
func (it *machine) measure(c *hypervisor.Copy, now time.Time) cluster.MilliCPU {
	const step = 10 // thousandths
	span := now.Sub(it.sample)
	switch {
	case it.sample.IsZero():
		it.need = cluster.MilliCPU(it.who.mark.CPUMilli)
	case c.State != hypervisor.CopyRunning:
	case span < sampleWindow:
		return it.need
	default:
		share := float64(c.CPUTime-it.used) / float64(span)
		it.need = max(0, cluster.MilliCPU(share*float64(cluster.CPU)/step+0.5)*step)
		if c.Cap > 0 && 20*it.need >= 19*c.Cap {
			it.need = max(it.need, cluster.MilliCPU(it.who.mark.CPUMilli))
		}
	}
	it.sample, it.used = now, c.CPUTime
	return it.need
}

// forget drops machines that have not been listed for a while.
func (m *memory) forget(now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for uuid, it := range m.machines {
		if now.Sub(it.seen) > lingering {
			delete(m.machines, uuid)
		}
	}
}

// mayAsk reports whether the job of a machine may be asked for now. One question at a
// time: QEMU may not answer, and each question holds a thread. Nor is more than one
// machine asked that is loading: libvirt answers when it is whole, and meanwhile the
// others would wait.
//
// While an older question is open the look says that the job is unknown. What an earlier
// look saw may not stand in for it: a job may have begun or ended since, without a trace
// where a restore reports none. Nor may the answer that the open question gets in the end:
// QEMU may have given it before this look listed the machine.
func (m *memory) mayAsk(uuid string, loading bool) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	it, ok := m.machines[uuid]
	if !ok {
		it = &machine{id: noID, seen: time.Now()}
		m.machines[uuid] = it
	}
	if it.asking || loading && m.loading != "" {
		return false
	}
	it.asking = true
	if loading {
		m.loading = uuid
	}
	return true
}

// asked ends a question.
func (m *memory) asked(uuid string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.loading == uuid {
		m.loading = ""
	}
	if it, ok := m.machines[uuid]; ok {
		it.asking = false
	}
}
