package memory

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"vjob/cluster"
	"vjob/ctxswitch/gang"
	"vjob/ctxswitch/journal"
	"vjob/db/internal/check"
	"vjob/scheduler/admission"
)

// find rejects dependencies on vjobs that the owner does not have.
func (s *Store) find(sub *admission.Submission) error {
	for i, d := range sub.After {
		at, ok := s.at(d.On)
		ok = ok && s.vjobs[at].Owner == sub.Owner
		if d.Array {
			ok = slices.ContainsFunc(s.vjobs, func(r journal.Row) bool { return r.Array == d.On && r.Owner == sub.Owner })
		}
		if !ok {
			return check.MissingDependency(i, d)
		}
	}
	return nil
}

// wait records the dependencies of a vjob.
func (s *Store) wait(id cluster.VJobID, on ...cluster.Dependency) {
	if len(on) == 0 {
		return
	}
	if s.waits == nil {
		s.waits = map[cluster.VJobID][]cluster.Dependency{}
	}
	s.waits[id] = slices.Concat(s.waits[id], on)
}

// stepTerms changes walltimes, frees vjobs, and adds further attempts.
func (s *Store) stepTerms(step *journal.Step, u *undo) error {
	for _, c := range step.Spans {
		at, ok := s.at(c.ID)
		if !ok {
			return check.NotFound("walltime of vjob", c.ID)
		}
		keep(u, &s.vjobs[at])
		next := *s.vjobs[at].VJob // a copy: readers and clones hold the old one
		next.Walltime = c.Walltime
		s.vjobs[at].VJob = &next
	}
	for _, id := range step.Freed {
		s.free(id, u)
	}
	for i := range step.Again {
		s.again(&step.Again[i], u)
	}
	return nil
}

// free removes the dependencies of a vjob.
func (s *Store) free(id cluster.VJobID, u *undo) {
	if on, waits := s.waits[id]; waits {
		u.replaced = append(u.replaced, func() { s.waits[id] = on })
		delete(s.waits, id)
	}
}

// again adds a copy of a failed vjob.
func (s *Store) again(a *journal.Attempt, u *undo) {
	at, ok := s.at(a.Of)
	if !ok || s.vjobs[at].State != cluster.Failed {
		return
	}
	vjobs, gangs, last, names := s.vjobs, s.gangs, s.last, cloneLists(s.names)
	u.replaced = append(u.replaced, func() { s.vjobs, s.gangs, s.last, s.names = vjobs, gangs, last, names })
	job := s.vjobs[at].Clone()
	job.ID, job.Replaces, job.Attempts = s.last+1, a.Of, job.Attempts+1
	job.State, job.Held, job.Hold, job.Outcome, job.Version, job.Cause = cluster.Waiting, false, cluster.Cause{}, cluster.Open, 0, cluster.Because(a.Text)
	job.Submitted = utc(a.At)
	for rank := range job.VMs {
		job.VMs[rank].ID.VJob = job.ID
	}
	s.keep(job)
	for _, id := range slices.Sorted(maps.Keys(s.waits)) {
		for _, d := range s.waits[id] {
			if d.On == a.Of && !d.Array {
				before := s.waits[id]
				u.replaced = append(u.replaced, func() { s.waits[id] = before })
				d.On = job.ID
				s.wait(id, d)
			}
		}
	}
	s.log(check.NewAttempt(a, job.ID))
}

// keep adds a vjob with the next number.
func (s *Store) keep(job *cluster.VJob) {
	s.last = job.ID
	s.vjobs = append(s.vjobs, journal.Row{
		VJob: job, Account: journal.Usage{VJob: job.ID}, Size: len(job.VMs), Reserved: job.Reserved(),
	})
	s.gangs = append(s.gangs, gang.Record{VJob: job.ID, Since: job.Submitted, Members: make([]gang.Member, len(job.VMs))})
	if job.Name == "" {
		return
	}
	if s.names == nil {
		s.names = map[ownerKey][]cluster.VJobID{}
	}
	name := ownerKey{job.Owner, cluster.ArrayName(job.Name)}
	s.names[name] = append(s.names[name], job.ID)
}

// Attempts returns the vjobs that replaced the given failed ones, in order.
func (s *Store) Attempts(ctx context.Context, of []cluster.VJobID) (jobs []*cluster.VJob, err error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("attempts: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.vjobs {
		if job := s.vjobs[i].VJob; job.Replaces != 0 && slices.Contains(of, job.Replaces) {
			jobs = append(jobs, job.Clone())
		}
	}
	return jobs, nil
}

// Past returns the outcomes of the given vjobs that have ended, and of the attempts that
// replaced them.
func (s *Store) Past(ctx context.Context, on []cluster.Dependency) ([]journal.EndedVJob, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("past: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.past(on), nil
}

func (s *Store) past(on []cluster.Dependency) (list []journal.EndedVJob) {
	if len(on) == 0 {
		return nil
	}
	single, whole := map[cluster.VJobID]bool{}, map[cluster.VJobID]bool{}
	for _, d := range on {
		if d.Array {
			whole[d.On] = true
		} else {
			single[d.On] = true
		}
	}
	next := map[cluster.VJobID]cluster.VJobID{}
	for i := range s.vjobs {
		next[s.vjobs[i].Replaces] = s.vjobs[i].ID
	}
	for i := range s.vjobs { // an attempt comes after the one before
		row := &s.vjobs[i]
		if row.Replaces != 0 && single[row.Replaces] {
			single[row.ID] = true
		}
		if row.State.Terminal() && (single[row.ID] || row.Array != 0 && whole[row.Array]) {
			list = append(list, journal.EndedVJob{
				ID: row.ID, Array: row.Array, Outcome: row.Outcome, Started: !row.Started.IsZero(),
				Again: next[row.ID] != 0, Next: next[row.ID],
			})
		}
	}
	return list
}

// awaited reports whether a live vjob depends on this one.
func (s *Store) awaited() func(*cluster.VJob) bool {
	needed := map[cluster.VJobID]bool{}
	for _, on := range s.waits {
		for _, d := range on {
			needed[d.On] = true
		}
	}
	return func(job *cluster.VJob) bool { return needed[job.ID] || job.Array != 0 && needed[job.Array] }
}
