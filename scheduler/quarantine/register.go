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
	pause  func(times int) time.Duration // after so many failures in a row
	aside  map[cluster.VJobID]spell
	nobody spell // while no decision can be taken at all, not even without anybody
}

// spell is one time out after failures in a row.
type spell struct {
	decide.Exile
	version int // of the vjob then; a changed one is tried at once
	times   int // that it has failed
}

// New makes a register in which nobody is set aside.
func New(pause func(times int) time.Duration) *Quarantine {
	return &Quarantine{pause: pause, aside: map[cluster.VJobID]spell{}}
}

// Standing are the exiles of those vjobs whose time has not come again.
func (r *Quarantine) Standing(now time.Time, vjobs []execute.Report) map[cluster.VJobID]decide.Exile {
	if len(r.aside) == 0 {
		return nil
	}
	list := map[cluster.VJobID]decide.Exile{}
	for i := range vjobs {
		job := vjobs[i].Job
		if s, known := r.aside[job.ID]; known && s.version == job.Version && now.Before(s.Until) {
			list[job.ID] = s.Exile
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
	Now      time.Time
	Exiles   map[cluster.VJobID]decide.Exile // who was left out from the beginning
	Suspects []decide.Suspect                // with whom it failed
	Err      error                           // it could not be taken at all
}

// Judge sets those aside with whom a decision has failed, and forgets those with whom it
// has not. It returns what people are to be told, and when the next decision is wanted for
// the sake of those set aside; zero is never.
func (r *Quarantine) Judge(t *Decision, vjobs VJobs) (alarms []journal.Event, again time.Time) {
	for id := range r.aside {
		_, out := t.Exiles[id]
		if !out && !slices.ContainsFunc(t.Suspects, func(s decide.Suspect) bool { return s.VJob == id }) {
			delete(r.aside, id)
		}
	}
	for _, s := range t.Suspects {
		live, ok := vjobs.Job(s.VJob)
		if !ok {
			continue
		}
		times := r.aside[s.VJob].times + 1
		pause := r.pause(times)
		until := t.Now.Add(pause)
		r.aside[s.VJob] = spell{decide.Exile{Why: s.Why, Until: until}, live.Job.Version, times}
		again = sooner(again, until)
		alarms = append(alarms, alarm(t.Now, s.VJob, fmt.Sprintf("vjob %s is set aside for %s, no decision can be taken with it: %s", s.VJob, pause, s.Why)))
	}
	if t.Err == nil {
		r.nobody = spell{}
		return alarms, again
	}
	if !t.Now.Before(r.nobody.Until) { // else this try came early, and people know
		r.nobody.times++
		pause := r.pause(r.nobody.times)
		r.nobody.Until = t.Now.Add(pause)
		alarms = append(alarms, alarm(t.Now, 0, fmt.Sprintf("no decision can be taken, next try in %s: %s", pause, t.Err)))
	}
	return alarms, sooner(again, r.nobody.Until)
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
