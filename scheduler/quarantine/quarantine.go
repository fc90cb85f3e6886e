// Package quarantine knows which vjobs are set aside, since no decision can be taken with them,
// and until when: the others go on as if those were not there. Each try that fails makes
// the pause until the next one longer, and people are told once for each.
//
// It refuses to know why a decision fails.
package quarantine

import (
	"fmt"
	"slices"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/execute"
	"vjob/ctxswitch/journal"
	"vjob/scheduler/decide"
)

// Quarantine is who is set aside. A restart forgets it: then everybody is tried again. It
// belongs to the core of the loop.
type Quarantine struct {
	pause   func(times int) time.Duration // after so many failures in a row
	entries map[cluster.VJobID]entry
	global  entry // while no decision can be taken at all, not even without anybody
}

// entry is one time out after failures in a row.
type entry struct {
	decide.Quarantined
	version int // of the vjob then; a changed one is tried at once
	times   int // that it has failed
}

// New makes a register in which nobody is set aside.
func New(pause func(times int) time.Duration) *Quarantine {
	return &Quarantine{pause: pause, entries: map[cluster.VJobID]entry{}}
}

// Active are the exiles of those vjobs whose time has not come again.
func (r *Quarantine) Active(now time.Time, vjobs []execute.Report) map[cluster.VJobID]decide.Quarantined {
	if len(r.entries) == 0 {
		return nil
	}
	list := map[cluster.VJobID]decide.Quarantined{}
	for i := range vjobs {
		job := vjobs[i].Job
		if s, known := r.entries[job.ID]; known && s.version == job.Version && now.Before(s.Until) {
			list[job.ID] = s.Quarantined
		}
	}
	return list
}

// VJobs tells of those that are live. The executor does.
type VJobs interface {
	Job(id cluster.VJobID) (execute.Report, bool)
}

// Decision is how a decision went.
type Decision struct {
	Now         time.Time
	Quarantined map[cluster.VJobID]decide.Quarantined // who was left out from the beginning
	Suspects    []decide.Suspect                      // with whom it failed
	Err         error                                 // it could not be taken at all
}

// Update sets those aside with whom a decision has failed, and forgets those with whom it
// has not. It returns what people are to be told, and when the next decision is wanted for
// the sake of those set aside; zero is never.
func (r *Quarantine) Update(t *Decision, vjobs VJobs) (alarms []journal.Event, again time.Time) {
	for id := range r.entries {
		_, out := t.Quarantined[id]
		if !out && !slices.ContainsFunc(t.Suspects, func(s decide.Suspect) bool { return s.VJob == id }) {
			delete(r.entries, id)
		}
	}
	for _, s := range t.Suspects {
		live, ok := vjobs.Job(s.VJob)
		if !ok {
			continue
		}
		times := r.entries[s.VJob].times + 1
		pause := r.pause(times)
		until := t.Now.Add(pause)
		r.entries[s.VJob] = entry{decide.Quarantined{Why: s.Why, Until: until}, live.Job.Version, times}
		again = sooner(again, until)
		alarms = append(alarms, alarm(t.Now, s.VJob, fmt.Sprintf("vjob %s is set aside for %s, no decision can be taken with it: %s", s.VJob, pause, s.Why)))
	}
	if t.Err == nil {
		r.global = entry{}
		return alarms, again
	}
	if !t.Now.Before(r.global.Until) { // else this try came early, and people know
		r.global.times++
		pause := r.pause(r.global.times)
		r.global.Until = t.Now.Add(pause)
		alarms = append(alarms, alarm(t.Now, 0, fmt.Sprintf("no decision can be taken, next try in %s: %s", pause, t.Err)))
	}
	return alarms, sooner(again, r.global.Until)
}

func alarm(now time.Time, id cluster.VJobID, text string) journal.Event {
	return journal.Event{At: now, Kind: journal.EventAlarm, VJob: id, Text: text}
}

// sooner is the earlier instant; zero is never.
func sooner(a, b time.Time) time.Time {
	if a.IsZero() || b.Before(a) {
		return b
	}
	return a
}
