// Package dependency knows which vjobs wait for which others to start or to end, whether they
// still have to, and which never can come.
//
// It refuses to know what else keeps a vjob from running.
package dependency

import (
	"slices"

	"vjob/cluster"
	"vjob/ctxswitch/journal"
)

// Tracker is who waits for whom. A vjob waits until all its dependencies are met, or one
// never can be, once for all: then it is freed, in the journal as well, and what becomes
// of those for which it waited makes no difference any more.
type Tracker struct {
	waits  map[cluster.VJobID]string // the live vjobs that wait, and for what
	past   map[cluster.VJobID]journal.Past
	recent []cluster.VJobID // those that have ended since the start, for vjobs that come in late
	again  []cluster.VJobID // those that failed, and of which the next attempt is not known yet
}

// New makes a register of what the journal holds.
func New(l *journal.Loaded) *Tracker {
	k := &Tracker{waits: map[cluster.VJobID]string{}, past: map[cluster.VJobID]journal.Past{}}
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

// Wait takes in that a vjob waits for others.
func (k *Tracker) Wait(id cluster.VJobID) { k.waits[id] = "" }

// Waiting are the live vjobs that wait for others, and for what, as of the last
// [Tracker.Settle]. It is not to be changed.
func (k *Tracker) Waiting() map[cluster.VJobID]string { return k.waits }

// Note takes in that a vjob ends.
func (k *Tracker) Note(p journal.Past) {
	k.past[p.ID] = p
	k.recent = append(k.recent, p.ID)
	delete(k.waits, p.ID)
	if p.Again {
		k.again = append(k.again, p.ID)
	}
}

// mostRecent is how many that have ended are remembered at least although nobody waits
// for them: a submission that waits for one comes in after it was written.
const mostRecent = 10_000

// forget drops those that ended long ago and for which nobody waits.
func (k *Tracker) forget(vjobs VJobs) {
	if len(k.recent) < 2*mostRecent {
		return
	}
	needed := map[cluster.VJobID]bool{}
	for id := range k.waits {
		if r, live := vjobs.Job(id); live {
			for _, d := range r.Job.After {
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

// Recall takes in what the store knows of vjobs that ended before others were submitted
// that wait for them.
func (k *Tracker) Recall(past ...journal.Past) {
	for _, p := range past {
		if !k.Ended(p.ID) {
			k.past[p.ID] = p
		}
	}
}

// Again takes in the next attempt that the store has written for a vjob that failed.
func (k *Tracker) Again(job *cluster.VJob) {
	if p, known := k.past[job.Replaces]; known {
		p.Again, p.Next = true, job.ID
		k.past[p.ID] = p
	}
}

// Failed are the vjobs of which the last step asked for another attempt. They are given
// once.
func (k *Tracker) Failed() []cluster.VJobID {
	failed := k.again
	k.again = nil
	return failed
}
