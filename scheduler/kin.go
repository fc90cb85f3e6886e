package scheduler

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/gang"
	"vjob/journal"
)

// kin is who waits for whom. A vjob waits until all its dependencies are met, or one
// never can be, once for all: then it is freed, in the journal as well, and what becomes
// of those for which it waited makes no difference any more.
type kin struct {
	waits  map[cluster.VJobID]string // the live vjobs that wait, and for what
	past   map[cluster.VJobID]journal.Past
	recent []cluster.VJobID // those that have ended since the start, for vjobs that come in late
	again  []cluster.VJobID // those that failed, and of which the next attempt is not known yet
}

func newKin(l journal.Loaded) kin {
	k := kin{waits: map[cluster.VJobID]string{}, past: map[cluster.VJobID]journal.Past{}}
	for _, id := range l.Waits {
		k.waits[id] = ""
	}
	for _, p := range l.Past {
		k.past[p.ID] = p
	}
	return k
}

// ended reports whether a vjob is known to have ended.
func (k *kin) ended(id cluster.VJobID) bool {
	_, ended := k.past[id]
	return ended
}

// note takes in that a vjob ends.
func (k *kin) note(p journal.Past) {
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
func (k *kin) forget(jobs func(cluster.VJobID) *cluster.VJob) {
	if len(k.recent) < 2*mostRecent {
		return
	}
	needed := map[cluster.VJobID]bool{}
	for id := range k.waits {
		if job := jobs(id); job != nil {
			for _, d := range job.After {
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
func (c *Core) Recall(past ...journal.Past) {
	for _, p := range past {
		if !c.kin.ended(p.ID) {
			c.kin.past[p.ID] = p
		}
	}
}

// Again takes in the next attempts that the store has written for vjobs that failed.
func (c *Core) Again(now time.Time, jobs ...*cluster.VJob) {
	for _, job := range jobs {
		if p, known := c.kin.past[job.Replaces]; known {
			p.Again, p.Next = true, job.ID
			c.kin.past[p.ID] = p
		}
	}
	c.Submitted(now, jobs...)
}

// Failed are the vjobs of which the last step asked for another attempt. They are given
// once.
func (c *Core) Failed() []cluster.VJobID {
	failed := c.kin.again
	c.kin.again = nil
	return failed
}

// settleKin looks at those that wait for others: some wait on, some need not any more,
// and of some a dependency can never be met.
func (c *Core) settleKin() {
	if len(c.kin.waits) == 0 {
		return
	}
	c.kin.forget(func(id cluster.VJobID) *cluster.VJob {
		r, _ := c.exec.Job(id)
		return r.Job
	})
	for settled := false; !settled; {
		settled = true
		asked := map[cluster.Dependency]answer{}
		// In order: who waits was mostly submitted after those for whom it waits.
		for _, id := range slices.Sorted(maps.Keys(c.kin.waits)) {
			r, live := c.exec.Job(id)
			if !live {
				delete(c.kin.waits, id)
				continue
			}
			if why, never := c.kinOf(r.Job, asked); never {
				c.unmet(r.Job, why)
				settled = false
			} else if c.kin.waits[id] = why; why == "" {
				c.free(id)
			}
		}
	}
}

// free lets a vjob wait for no others any more.
func (c *Core) free(id cluster.VJobID) {
	delete(c.kin.waits, id)
	c.out.Freed = append(c.out.Freed, id)
}

// unmet does with a vjob what its owner wants when a dependency can never be met.
func (c *Core) unmet(job *cluster.VJob, why string) {
	if job.Unmet != cluster.UnmetFails {
		c.free(job.ID)
	}
	switch job.Unmet {
	case cluster.UnmetFails:
		_ = c.exec.Clear(c.now, job.ID, gang.ThenFail, why) // it is there: it was just looked at
		delete(c.kin.waits, job.ID)
	case cluster.UnmetHolds:
		_ = c.exec.Hold(c.now, job.ID, true, "held: "+why)
	case cluster.UnmetRuns:
	}
}

// kinOf says for what a vjob waits, "" for nothing, or that it can never come, and why.
func (c *Core) kinOf(job *cluster.VJob, asked map[cluster.Dependency]answer) (why string, never bool) {
	open := 0
	for _, d := range job.After {
		a, known := asked[d]
		if !known { // all vjobs of an array ask the same
			a = c.dependency(d)
			asked[d] = a
		}
		switch {
		case a.met:
		case !a.hope:
			return a.why, true
		default:
			if open++; why == "" {
				why = a.why
			}
		}
	}
	if open > 1 {
		why += fmt.Sprintf(", and for %d more", open-1)
	}
	return why, false
}

// wanted is what of another vjob is waited for, and ended how that vjob has ended.
var (
	wanted = map[cluster.Condition]string{
		cluster.AfterOK: "to end well", cluster.AfterAny: "to end", cluster.AfterNotOK: "to end otherwise than well", cluster.AfterStart: "to start",
	}
	ended = map[cluster.Outcome]string{
		cluster.Completed: "has ended well", cluster.Overdue: "ran over its walltime", cluster.Deleted: "was deleted", cluster.Broken: "has failed",
	}
)

// answer is how a dependency stands: met, or for what is waited, or why there is no hope.
type answer struct {
	met, hope bool
	why       string
}

// dependency is how a condition on another vjob, or on those of an array, stands.
func (c *Core) dependency(d cluster.Dependency) answer {
	if d.Array {
		return c.dependencyOnArray(d)
	}
	id := d.On
	p, over := c.kin.past[id]
	for over && p.Again && (d.When != cluster.AfterStart || !p.Started) { // the next attempt counts in its place
		if p.Next == 0 {
			return answer{hope: true, why: fmt.Sprintf("for the next attempt of vjob %s", id)}
		}
		id = p.Next
		p, over = c.kin.past[id]
	}
	if over {
		met, _ := d.When.Met(cluster.Terminated, p.Started, p.Outcome)
		return answer{met: met, why: fmt.Sprintf("vjob %s, for which it waits %s, %s", id, wanted[d.When], ended[p.Outcome])}
	}
	a := answer{hope: true, why: fmt.Sprintf("for vjob %s %s", id, wanted[d.When])}
	if r, live := c.exec.Job(id); live {
		a.met, _ = d.When.Met(r.Job.State, r.Began, r.Job.Outcome)
	}
	return a
}

// dependencyOnArray asks the condition of all vjobs of an array; that one ended otherwise
// than well is enough for afternotok, once all have ended.
func (c *Core) dependencyOnArray(d cluster.Dependency) answer {
	open, good, bad := 0, 0, cluster.VJobID(0)
	for id, p := range c.kin.past {
		met, _ := d.When.Met(cluster.Terminated, p.Started, p.Outcome)
		switch {
		case p.Array != d.On || p.Again && p.Next != 0: // the next attempt is in the array as well
		case p.Again:
			open++
		case met:
			good++
		case bad == 0 || id < bad:
			bad = id
		}
	}
	for _, r := range c.exec.Members(d.On) {
		if met, _ := d.When.Met(r.Job.State, r.Began, r.Job.Outcome); met {
			good++
		} else {
			open++
		}
	}
	a := answer{met: open == 0 && bad == 0, hope: bad == 0, why: fmt.Sprintf("for array %s %s", d.On, wanted[d.When])}
	if d.When == cluster.AfterNotOK {
		a.met, a.hope = open == 0 && good > 0, open > 0
	}
	if p, known := c.kin.past[bad]; known && !a.met && !a.hope {
		a.why = fmt.Sprintf("vjob %s of array %s, for which it waits %s, %s", bad, d.On, wanted[d.When], ended[p.Outcome])
	}
	return a
}
