package sim

import (
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/journal"
	"vjob/scheduler/admission"
)

// kind makes something special of some submissions.
func (r *run) kind(sub *admission.Submission) {
	if r.chance.IntN(6) == 0 {
		sub.Array, sub.MaxConcurrent = make([]string, 2+r.chance.IntN(2)), r.chance.IntN(3)
	}
	if r.chance.IntN(3) == 0 {
		sub.Idempotent = true
	}
	sub.BestEffort = r.chance.IntN(4) == 0
	sub.Preemption = cluster.Preemption(r.chance.IntN(3))
	if sub.BestEffort && sub.Preemption == cluster.Never {
		sub.Preemption = cluster.ByEnd
	}
	sub.MinRun = cluster.Seconds(r.chance.IntN(3)) * cluster.Seconds(30*time.Second)
	sub.LeaderEnds = sub.MinRun > cluster.Seconds(30*time.Second) && !sub.Idempotent // no draw of its own, so that seeds stay what they were
	if n := len(r.check.acked); n > 0 && r.chance.IntN(3) == 0 {
		for range 1 + r.chance.IntN(2) {
			on := r.check.acked[r.chance.IntN(n)]
			d := r.dependency(on)
			if r.check.ties.owner[on] == sub.Owner && !r.check.jobs[on].State.Terminal() { // else it may be forgotten
				sub.After = append(sub.After, d)
			}
		}
		sub.Unmet = cluster.Unmet(r.chance.IntN(3))
	}
}

func (r *run) dependency(on cluster.VJobID) cluster.Dependency {
	d := cluster.Dependency{On: on, When: cluster.Condition(r.chance.IntN(4))}
	if array := r.check.ties.arrays[on]; array != 0 && r.chance.IntN(2) == 0 {
		d.On, d.Array = array, true
	}
	return d
}

// ties are who waits for whom, of the vjobs that were acknowledged.
type ties struct {
	after    map[cluster.VJobID][]cluster.Dependency // of those that fail when it can never be
	arrays   map[cluster.VJobID]cluster.VJobID       // of the vjobs that are of one
	owner    map[cluster.VJobID]string
	replaced map[cluster.VJobID]bool // failed, and there is another attempt
	led      map[cluster.VJobID]bool // the first VM works for all
}

func newTies() ties {
	return ties{
		map[cluster.VJobID][]cluster.Dependency{}, map[cluster.VJobID]cluster.VJobID{}, map[cluster.VJobID]string{}, map[cluster.VJobID]bool{}, map[cluster.VJobID]bool{},
	}
}

// tie tells the checker for whom vjobs wait that were acknowledged.
func (k *Checker) tie(jobs ...*cluster.VJob) {
	for _, job := range jobs {
		k.ties.owner[job.ID], k.ties.led[job.ID] = job.Owner, job.LeaderEnds
		if job.Array != 0 {
			k.ties.arrays[job.ID] = job.Array
		}
		if job.Unmet == cluster.UnmetFails {
			k.ties.after[job.ID] = job.After
		}
	}
}

// attempts takes in vjobs that are written for those that fail in the step.
func (k *Checker) attempts(step journal.Step) {
	for _, a := range step.Again {
		k.ties.replaced[a.Of] = true
	}
}

// inTime checks that a vjob which leaves the queue need not wait for others any more, as
// far as that is known without the attempts that may stand in their place.
func (k *Checker) inTime(c journal.VJobChange) {
	for _, d := range k.ties.after[c.ID] {
		for id, on := range k.jobs {
			of := id == d.On || d.Array && k.ties.arrays[id] == d.On
			if !of || k.ties.replaced[id] || d.When == cluster.AfterStart {
				continue
			}
			met, _ := d.When.Met(on.State, !on.Started.IsZero(), on.Outcome)
			other := d.Array && d.When == cluster.AfterNotOK && on.State.Terminal() // one of them is enough
			if !met && !other {
				k.violate(26, "vjob %s, which waits %s of %s, starts while %s is %s, %s", c.ID, d.When, d.On, id, on.State, on.Outcome)
			}
		}
	}
}
