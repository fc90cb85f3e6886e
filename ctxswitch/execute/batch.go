package execute

import (
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/journal"
)

// batch is what the events since the last [Executor.Flush] lead to. All parts of an executor share it.
type batch struct {
	now     time.Time // of the present event
	tick    uint64    // logical clock, which looks advance: a look shows what ended before its time
	changes uint64    // see Changes
	planned uint64    // see Planned
	out     Effects

	// The gangs to drive, so that the cost of a step depends on its events and not on all vjobs.
	dirty map[cluster.VJobID]bool // gangs that something happened to
	// stale are the vjobs with a report that differs from the published one: see [Executor.Live].
	stale map[cluster.VJobID]bool
	// alarmed are the gangs with a condition that needs an administrator, and some that had one.
	alarmed map[cluster.VJobID]bool
	// denied are the gangs that wait for room or for a transfer slot.
	denied map[cluster.VJobID]bool
}

func newBatch(now time.Time) *batch {
	return &batch{now: now, dirty: map[cluster.VJobID]bool{}, stale: map[cluster.VJobID]bool{}, alarmed: map[cluster.VJobID]bool{}, denied: map[cluster.VJobID]bool{}}
}

// Changes grows whenever something changed on which a decision depends.
func (b *batch) Changes() uint64 { return b.changes }

// Planned counts those of the changes that only show gangs on the way that was chosen for them: they come, move, end or leave, and
// none of them waits again.
func (b *batch) Planned() uint64 { return b.planned }

// changed notes that the report of a vjob differs from the published one, or may.
func (b *batch) changed(p *gangState) { b.stale[p.job.ID] = true }

// event adds one line for users.
func (b *batch) event(ev journal.Event) {
	ev.At = b.now
	b.out.Step.Events = append(b.out.Step.Events, ev)
}

// alarm raises an alarm for administrators, once in a phase.
func (b *batch) alarm(p *gangState, kind journal.AlarmKind, text string) {
	if _, raised := p.phase.alarms[text]; raised {
		return
	}
	p.begin()
	if p.phase.alarms == nil {
		p.phase.alarms = map[string]journal.AlarmKind{}
	}
	p.phase.alarms[text] = kind
	b.alarmed[p.job.ID] = true
	b.event(journal.Event{Kind: journal.EventAlarm, VJob: p.job.ID, Plan: p.plan(), Text: text})
}

// touchWaiters wakes the gangs that may have waited for what just ended.
func (b *batch) touchWaiters() {
	for id := range b.denied {
		b.dirty[id] = true
	}
	clear(b.denied)
}
