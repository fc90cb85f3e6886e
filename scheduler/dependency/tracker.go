// Package dependency tracks which vjobs wait for others to start or to end, and which dependencies
// can never be met.
package dependency

import (
	"slices"

	"vjob/cluster"
	"vjob/ctxswitch/journal"
)

// Tracker holds the unmet dependencies. A vjob waits until all its dependencies are met, or one never
// can be. Then it is freed for good, in the journal as well.
type Tracker struct {
	waits  map[cluster.VJobID]string // the live vjobs that wait, and for what
	past   map[cluster.VJobID]journal.EndedVJob
	recent []cluster.VJobID // ended since the start
	again  []cluster.VJobID // failed, without a known next attempt
}

// New makes a tracker from the journal.
func New(l *journal.Loaded) *Tracker {
	k := &Tracker{waits: map[cluster.VJobID]string{}, past: map[cluster.VJobID]journal.EndedVJob{}}
	for _, id := range l.Waits {
		k.waits[id] = ""
	}
	for _, p := range l.Past {
		k.past[p.ID] = p
	}
	return k
}

// Ended reports whether a vjob is known to have ended.
func (k *Tracker) Ended(id cluster.VJobID) bool {
	_, ended := k.past[id]
	return ended
}

// Wait records that a vjob waits for others.
func (k *Tracker) Wait(id cluster.VJobID) { k.waits[id] = "" }

// Waiting returns the live vjobs that wait, and for what, as of the last [Tracker.Settle]. The
// caller must not change it.
func (k *Tracker) Waiting() map[cluster.VJobID]string { return k.waits }

// Note records the end of a vjob.
func (k *Tracker) Note(p journal.EndedVJob) {
	k.past[p.ID] = p
	k.recent = append(k.recent, p.ID)
	delete(k.waits, p.ID)
	if p.Again {
		k.again = append(k.again, p.ID)
	}
}

// mostRecent is how many ended vjobs are remembered at least, for submissions that arrive after the
// end of a vjob they depend on.
const mostRecent = 10_000

// forget drops vjobs that ended long ago and that no vjob waits for.
func (k *Tracker) forget(vjobs VJobs) {
	if len(k.recent) < 2*mostRecent {
		return
	}
	needed := map[cluster.VJobID]bool{}
	for id := range k.waits {
		if r, live := vjobs.Job(id); live {
			for _, d := range r.Job.Dependencies() {
				for on := d.On; on != 0; on = k.past[on].Next {
					needed[on] = true
				}
			}
		}
	}
	for _, id := range k.recent[:mostRecent] {
		if p := k.past[id]; !needed[id] && !needed[p.Array] && (!p.Again || p.Next != 0) {
			delete(k.past, id)
		}
	}
	k.recent = slices.Clone(k.recent[mostRecent:])
}

// Recall adds what the store knows of vjobs that ended before others were submitted that depend on
// them.
func (k *Tracker) Recall(past ...journal.EndedVJob) {
	for _, p := range past {
		if !k.Ended(p.ID) {
			k.past[p.ID] = p
		}
	}
}

// Again records the next attempt of a failed vjob.
func (k *Tracker) Again(job *cluster.VJob) {
	if p, known := k.past[job.Replaces]; known {
		p.Again, p.Next = true, job.ID
		k.past[p.ID] = p
	}
}

// Failed returns the vjobs that need another attempt since the last call.
func (k *Tracker) Failed() []cluster.VJobID {
	failed := k.again
	k.again = nil
	return failed
}
