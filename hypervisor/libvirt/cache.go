//go:build libvirt_dlopen && cgo

package libvirt

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"libvirt.org/go/libvirt"

	"vjob/cluster"
	"vjob/hypervisor"
)

// cache holds what was seen on one node before. No decision depends on it: it makes looks
// cheaper and tells why guests ended.
type cache struct {
	mu           sync.Mutex
	machines     map[string]*machine // by UUID
	endings      []ending
	loadingQuery string // UUID of the incomplete machine that is being queried, or ""
	blind        bool   // the last sample did not tell how long virtual processors wait
}

// ending is how a guest ended, and how much earlier guests had printed on its console. Its exit status is zero until
// the console was read.
type ending struct {
	hypervisor.Ending
	printed int64
}

// machine is the cache entry of one machine.
type machine struct {
	id          int // libvirt's number of this run of it; noID before it was seen
	identity    identity
	ours        bool   // known to be ours: the identity counts
	starting    bool   // as it was read last: libvirt adds to its description what QEMU gave its CPU
	wasComplete bool   // it has executed or been complete: a failure is an ending
	killed      bool   // its process was terminated from outside
	tuning      tuning // from the last look, or from a later call
	tuned       bool   // a call was to change its tuning, so any is possible
	querying    bool   // a query for its job is pending
	lastListed  time.Time
	meter       meter
}

const (
	noID = -1
	// keepEndings and maxEndings bound the endings that are reported.
	keepEndings = 10 * time.Minute
	maxEndings  = 1000
	// keepUnlisted is how long a machine stays cached after its last listing: the event
	// with the cause of its end may still come.
	keepUnlisted = time.Minute
)

func newCache() cache { return cache{machines: map[string]*machine{}} }

// expect records that a machine of ours is about to be created.
func (c *cache) expect(uuid string, found identity) {
	c.mu.Lock()
	defer c.mu.Unlock()
	m, ok := c.machines[uuid]
	if !ok {
		m = &machine{id: noID, lastListed: time.Now()}
		c.machines[uuid] = m
	}
	m.identity, m.ours = found, true
}

// handleEvent records an event; it reports whether the machine is unknown and exists.
func (c *cache) handleEvent(e event, now time.Time) (unknown bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	m, ok := c.machines[e.uuid]
	if !ok {
		m = &machine{id: noID, lastListed: now}
		c.machines[e.uuid] = m
	}
	switch e.kind {
	case libvirt.DOMAIN_EVENT_RESUMED, libvirt.DOMAIN_EVENT_SUSPENDED:
		// A machine that fails before these events was still being restored or migrated in: the
		// restore failed, the guest did not end.
		m.wasComplete = true
	case libvirt.DOMAIN_EVENT_SHUTDOWN:
		m.killed = libvirt.DomainEventShutdownDetailType(e.detail) == libvirt.DOMAIN_EVENT_SHUTDOWN_HOST
	case libvirt.DOMAIN_EVENT_STOPPED:
		cause, ended := m.cause(libvirt.DomainEventStoppedDetailType(e.detail))
		if m.ours && ended {
			c.endings = append(c.endings, ending{
				Ending:  hypervisor.Ending{VM: m.identity.mark.vm(), Stamp: m.identity.mark.stamp(), Cause: cause, At: now},
				printed: m.identity.mark.Printed,
			})
		}
		delete(c.machines, e.uuid)
		return false
	default: // such as defined and undefined, which transient machines do not have
	}
	return !m.ours
}

// cause returns why a machine stopped. ended is false if the guest did not end by itself: it
// was destroyed, saved, migrated away, or never complete.
func (m *machine) cause(detail libvirt.DomainEventStoppedDetailType) (cause hypervisor.Cause, ended bool) {
	switch detail {
	case libvirt.DOMAIN_EVENT_STOPPED_SHUTDOWN:
		if m.killed { // QEMU exits the same way on SIGTERM
			return hypervisor.CauseCrashed, true
		}
		return hypervisor.CauseShutdown, true
	case libvirt.DOMAIN_EVENT_STOPPED_CRASHED:
		return hypervisor.CauseCrashed, true
	case libvirt.DOMAIN_EVENT_STOPPED_FAILED:
		return hypervisor.CauseCrashed, m.wasComplete
	default:
		return hypervisor.CauseUnknown, false
	}
}

// recentEndings lists the cached endings, oldest first.
func (c *cache) recentEndings(now time.Time) []ending {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.endings = slices.DeleteFunc(c.endings, func(e ending) bool { return now.Sub(e.At) > keepEndings })
	if n := len(c.endings); n > maxEndings {
		c.endings = slices.Delete(c.endings, 0, n-maxEndings)
	}
	return slices.Clone(c.endings)
}

// recordExit keeps the exit status of a guest that ended.
func (c *cache) recordExit(of ending, status cluster.ExitStatus) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range c.endings {
		if c.endings[i] == of {
			c.endings[i].Exit = status
		}
	}
}

// lookup returns the cached identity of the machine with that UUID and number.
func (c *cache) lookup(uuid string, id int) (found identity, ours bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	m, ok := c.machines[uuid]
	if !ok || m.id != id || id == noID || m.starting {
		return identity{}, false
	}
	return m.identity, m.ours
}

// recordListed records a machine of ours that a look found, and sets the demand in its copy. The
// sample is nil if none was due, or none was answered.
func (c *cache) recordListed(l *listedMachine, now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	m, ok := c.machines[l.uuid]
	if !ok || (m.id != noID && m.id != l.id) {
		m = &machine{}
		c.machines[l.uuid] = m
	}
	m.id, m.identity, m.ours, m.starting, m.lastListed = l.id, l.identity, true, l.starting(), now
	m.tuning = tuning{l.copy.Cap, l.copy.Weight}
	if l.copy.Job == hypervisor.JobNone {
		m.wasComplete = true
	}
	reserved := cluster.MilliCPU(l.identity.mark.CPUMilli)
	switch {
	case l.copy.State != hypervisor.CopyRunning:
		m.meter.pause()
	case l.sample != nil:
		m.meter.add(l.sample, reserved, l.copy.Cap)
		c.blind = len(l.sample.vcpus) == 0
	}
	l.copy.CPU, l.copy.Memory = m.meter.demand(reserved)
}

// sampleDue reports whether a look needs a sample of a machine that runs.
func (c *cache) sampleDue(uuid string, id int, now time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	m, ok := c.machines[uuid]
	return !ok || m.id != id || m.meter.due(now)
}

// contentionHidden reports whether the node has not told, when it was last asked, how long virtual
// processors wait.
func (c *cache) contentionHidden() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.blind
}

// tuning returns the last known tuning of a machine, or else first, that in its description.
func (c *cache) tuning(uuid string, id int, first tuning) tuning {
	c.mu.Lock()
	defer c.mu.Unlock()
	if m, ok := c.machines[uuid]; ok && m.ours && m.id == id && id != noID {
		return m.tuning
	}
	return first
}

// markTuned records that the tuning of a machine is about to change.
func (c *cache) markTuned(uuid string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if m, ok := c.machines[uuid]; ok {
		m.tuned = true
	}
}

// tuned reports whether the tuning of a machine may have been changed.
func (c *cache) tuned(uuid string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	m, ok := c.machines[uuid]
	return ok && m.tuned
}

// recordTuning records what a machine was given; a weight of 0 changes nothing.
func (c *cache) recordTuning(uuid string, given tuning) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if m, ok := c.machines[uuid]; ok {
		m.tuning = tuning{given.cap, cmp.Or(given.weight, m.tuning.weight)}
	}
}

// expire removes machines that have not been listed for a while.
func (c *cache) expire(now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for uuid, m := range c.machines {
		if now.Sub(m.lastListed) > keepUnlisted {
			delete(c.machines, uuid)
		}
	}
}

// beginQuery reports whether the job of a machine may be queried now. A machine has one query
// at a time: QEMU may not answer, and each query holds a thread. Only one incomplete machine is
// queried at a time: libvirt answers when the machine is complete, and other queries would wait
// meanwhile.
//
// While an older query is pending, the look reports the job as unknown. The result of an
// earlier look must not replace it: a job may have begun or ended since, and a restore leaves
// no trace. Nor must the answer to the pending query: QEMU may have given it before this look
// listed the machine.
func (c *cache) beginQuery(uuid string, loading bool) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	m, ok := c.machines[uuid]
	if !ok {
		m = &machine{id: noID, lastListed: time.Now()}
		c.machines[uuid] = m
	}
	if m.querying || loading && c.loadingQuery != "" {
		return false
	}
	m.querying = true
	if loading {
		c.loadingQuery = uuid
	}
	return true
}

// endQuery ends a query.
func (c *cache) endQuery(uuid string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.loadingQuery == uuid {
		c.loadingQuery = ""
	}
	if m, ok := c.machines[uuid]; ok {
		m.querying = false
	}
}
