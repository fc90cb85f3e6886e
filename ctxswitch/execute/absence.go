package execute

import (
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/gang"
	"vjob/ctxswitch/journal"
)

// absence is the time between the last account of a vjob that was written and this start of the scheduler. The VMs
// went on meanwhile, unless their node failed too: the time counts once every member was seen again.
type absence struct {
	from, to time.Time
	until    []time.Time // by rank: when the member was seen, or when its guest ended; zero: not yet known
}

// resume continues the account of a vjob from where it was written to. m.At is zero if that is unknown.
func (a *vjobAccount) resume(m *journal.Meter, rec *gang.Record, now time.Time) {
	if len(m.CPU) == len(rec.Members) {
		a.meters = make([]meter, len(m.CPU))
		for rank, used := range m.CPU {
			a.meters[rank].used = used
		}
	}
	from := m.At
	if rec.Since.After(from) {
		from = rec.Since // the phase began after the last account
	}
	if (rec.Phase == gang.Active || rec.Phase == gang.Paused) && !from.IsZero() && now.After(from) {
		a.absence = &absence{from: from, to: now, until: make([]time.Time, len(rec.Members))}
	}
}

// closeAbsence notes until when a member existed. It reports whether the absence is now in the account: that is the case
// once this is known of all members that have not ended before.
func (a *vjobAccount) closeAbsence(job *cluster.VJob, rec *gang.Record, rank int, until time.Time) bool {
	b := a.absence
	if rank >= len(b.until) {
		return false
	}
	if until.IsZero() || until.After(b.to) {
		until = b.to
	}
	b.until[rank] = until
	last, memory := b.from, 0.0
	for i, m := range rec.Members {
		if m.Ended {
			continue
		}
		if b.until[i].IsZero() {
			return false
		}
		there := max(0, b.until[i].Sub(b.from))
		memory += float64(job.VMs[i].Reserved.Memory) * there.Seconds()
		if b.until[i].After(last) {
			last = b.until[i]
		}
	}
	a.absence = nil
	a.memory += memory
	a.hours.add(b.from, last, rec.Phase, job, rec)
	if rec.Phase == gang.Active {
		a.ran += last.Sub(b.from)
		a.used.Running += last.Sub(b.from)
	}
	return true
}

// read returns up to where the account goes. An absence that is not in it yet is left out of it for the next start.
func (a *vjobAccount) read() journal.Meter {
	m := journal.Meter{At: a.marked, CPU: make([]time.Duration, len(a.meters))}
	for rank := range a.meters {
		m.CPU[rank] = a.meters[rank].used
	}
	if b := a.absence; b != nil {
		m.At = m.At.Add(-b.to.Sub(b.from))
	}
	return m
}
