package sim

import (
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/journal"
	"vjob/scheduler/admission"
)

// kind makes some submissions arrays, idempotent, best-effort or dependent on others.
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
	sub.LeaderEnds = sub.MinRun > cluster.Seconds(30*time.Second) && !sub.Idempotent // without another random number, so that old seeds stay valid
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

// ties are the dependencies, arrays and owners of the acknowledged vjobs.
type ties struct {
	after    map[cluster.VJobID][]cluster.Dependency // of vjobs that fail if a dependency is never met
	arrays   map[cluster.VJobID]cluster.VJobID       // the array of a vjob
	owner    map[cluster.VJobID]string
	replaced map[cluster.VJobID]bool // failed, and resubmitted
	led      map[cluster.VJobID]bool // the vjob ends with its first VM
	success  map[cluster.VJobID]cluster.Success
}

func newTies() ties {
	return ties{
		after: map[cluster.VJobID][]cluster.Dependency{}, arrays: map[cluster.VJobID]cluster.VJobID{}, owner: map[cluster.VJobID]string{},
		replaced: map[cluster.VJobID]bool{}, led: map[cluster.VJobID]bool{}, success: map[cluster.VJobID]cluster.Success{},
	}
}

// tie records the dependencies, arrays and owners of acknowledged vjobs.
func (k *Checker) tie(jobs ...*cluster.VJob) {
	for _, job := range jobs {
		k.ties.owner[job.ID], k.ties.led[job.ID], k.ties.success[job.ID] = job.Owner, job.LeaderEnds, job.Success
		if job.Array != 0 {
			k.ties.arrays[job.ID] = job.Array
		}
		if job.Unmet == cluster.UnmetFails {
			k.ties.after[job.ID] = job.After
		}
	}
}

// attempts records vjobs that are resubmitted in the step.
func (k *Checker) attempts(step journal.Step) {
	for _, a := range step.Again {
		k.ties.replaced[a.Of] = true
	}
}

// inTime checks that the dependencies of a starting vjob are met. It ignores dependencies on
// vjobs that were resubmitted.
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
				k.violate(26, "vjob %s depends on %s (%s) and starts while %s is %s, %s", c.ID, d.On, d.When, id, on.State, on.Outcome)
			}
		}
	}
}
