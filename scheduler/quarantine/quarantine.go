// Package quarantine holds the vjobs with which no decision can be taken, and until when they are left
// out of decisions. Each failure makes the pause until the next try longer and raises one alarm.
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

// Quarantine holds the quarantined vjobs. A restart forgets it: then every vjob is tried again. It
// belongs to the core of the loop.
type Quarantine struct {
	pause   func(times int) time.Duration // after so many failures in a row
	entries map[cluster.VJobID]backoff
	global  backoff // while no decision can be taken at all
}

// backoff is one pause after failures in a row.
type backoff struct {
	decide.Quarantined
	version int // of the vjob then; a changed one is tried at once
	times   int // that it has failed
}

// New makes an empty quarantine.
func New(pause func(times int) time.Duration) *Quarantine {
	return &Quarantine{pause: pause, entries: map[cluster.VJobID]backoff{}}
}

// Active returns the vjobs that are still in quarantine.
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

// Conditions returns what needs an administrator: the vjobs with which no decision can be taken, and that no decision can
// be taken at all.
func (r *Quarantine) Conditions() (list []journal.Condition) {
	for id, b := range r.entries {
		list = append(list, journal.Condition{Kind: journal.AlarmQuarantine, VJob: id, Text: fmt.Sprintf("no decision can be taken with vjob %s: %s", id, b.Why)})
	}
	if r.global.times > 0 {
		list = append(list, journal.Condition{Kind: journal.AlarmDecision, Text: "no decision can be taken: " + r.global.Why})
	}
	return list
}

// VJobs gives access to live vjobs. The executor implements it.
type VJobs interface {
	Job(id cluster.VJobID) (execute.Report, bool)
}

// Decision is the result of a decision.
type Decision struct {
	Now         time.Time
	Quarantined map[cluster.VJobID]decide.Quarantined // left out from the beginning
	Culprits    []decide.Culprit                      // vjobs with which it failed
	Err         error                                 // no decision could be taken
}

// Update quarantines the vjobs with which a decision has failed, and releases those with which it has
// not. It returns alarms, and when the next decision is wanted for quarantined vjobs; zero is
// never.
func (r *Quarantine) Update(t *Decision, vjobs VJobs) (alarms []journal.Event, again time.Time) {
	for id := range r.entries {
		_, out := t.Quarantined[id]
		if !out && !slices.ContainsFunc(t.Culprits, func(s decide.Culprit) bool { return s.VJob == id }) {
			delete(r.entries, id)
		}
	}
	for _, s := range t.Culprits {
		live, ok := vjobs.Job(s.VJob)
		if !ok {
			continue
		}
		times := r.entries[s.VJob].times + 1
		pause := r.pause(times)
		until := t.Now.Add(pause)
		r.entries[s.VJob] = backoff{decide.Quarantined{Why: s.Why, Until: until}, live.Job.Version, times}
		again = sooner(again, until)
		alarms = append(alarms, alarm(t.Now, s.VJob, fmt.Sprintf("vjob %s is set aside for %s, no decision can be taken with it: %s", s.VJob, pause, s.Why)))
	}
	if t.Err == nil {
		r.global = backoff{}
		return alarms, again
	}
	if !t.Now.Before(r.global.Until) { // otherwise the alarm was raised before
		r.global.times++
		pause := r.pause(r.global.times)
		r.global.Until, r.global.Why = t.Now.Add(pause), t.Err.Error()
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
