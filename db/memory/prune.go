package memory

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/gang"
	"vjob/ctxswitch/journal"
	"vjob/db/internal/check"
	"vjob/hypervisor"
)

// Prune deletes what is older than the horizon, in the batches of package db.
func (s *Store) Prune(ctx context.Context, h journal.Horizon) iter.Seq2[journal.Pruned, error] {
	return func(yield func(journal.Pruned, error) bool) {
		for {
			done, err := s.pruneBatch(ctx, h)
			if err != nil {
				yield(journal.Pruned{}, fmt.Errorf("prune: %w", err))
				return
			}
			if done == (journal.Pruned{}) || !yield(done, nil) {
				return
			}
		}
	}
}

func (s *Store) pruneBatch(ctx context.Context, h journal.Horizon) (done journal.Pruned, err error) {
	if err := ctx.Err(); err != nil {
		return done, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	before, after := s.fault()
	if before != nil {
		return done, before
	}
	for _, stage := range []struct {
		before time.Time
		count  *int
		prune  func(time.Time) int
	}{
		{h.Events, &done.Events, s.pruneEvents},
		{h.Plans, &done.Calls, s.pruneCalls},
		{h.Plans, &done.Plans, s.prunePlans},
		{h.VJobs, &done.VJobs, s.pruneVJobs},
		{h.Charges, &done.Charges, s.pruneCharges},
		{h.Energy, &done.Energy, s.pruneNodeHours},
		{h.Energy, &done.Energy, s.pruneVJobHours},
	} {
		if stage.before.IsZero() {
			continue
		}
		if *stage.count = stage.prune(stage.before); *stage.count > 0 {
			break
		}
	}
	return done, after
}

// front deletes from the front of a log up to its first recent entry. The rest is copied,
// since clones of the store share the old list.
func front[T any](log []T, before time.Time, at func(*T) time.Time, free func(*T) bool) (left []T, n int) {
	for i := range log {
		if !at(&log[i]).Before(before) || n == check.PruneRows {
			return append(left, log[i:]...), n
		}
		if free(&log[i]) {
			n++
			continue
		}
		left = append(left, log[i])
	}
	return left, n
}

func (s *Store) pruneEvents(before time.Time) int {
	marked := s.pruned.Events
	left, n := front(s.events, before, func(e *journal.Event) time.Time { return e.At }, func(e *journal.Event) bool {
		at, ok := s.at(e.VJob)
		live := ok && !s.vjobs[at].State.Terminal()
		if !live {
			marked = max(marked, e.Seq)
		}
		return !live
	})
	s.events, s.pruned.Events = left, marked
	return n
}

func (s *Store) pruneCalls(before time.Time) int {
	slices.SortFunc(s.calls, func(a, b Call) int { return cmp.Compare(a.Call.Op, b.Call.Op) })
	left, n := front(s.calls, before, func(c *Call) time.Time { return c.At }, func(c *Call) bool {
		at, ok := s.planAt[c.Plan]
		return c.Result != nil && (!ok || s.plans[at].State != journal.PlanRunning)
	})
	s.calls, s.callAt = left, map[hypervisor.OpID]int{}
	for i := range left {
		s.callAt[left[i].Call.Op] = i
	}
	return n
}

// ended is an item that may be deleted, with its number of rows.
type ended struct {
	at   time.Time
	id   int64
	rows int
}

// batch returns the numbers of the items to delete now, the earliest ends first.
func batch(list []ended) map[int64]bool {
	slices.SortFunc(list, func(a, b ended) int { return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.id, b.id)) })
	rows := make([]int, len(list))
	for i := range list {
		rows[i] = list[i].rows
	}
	gone := map[int64]bool{}
	for _, e := range list[:check.PruneBatch(rows)] {
		gone[e.id] = true
	}
	return gone
}

// past reports whether an end lies before an instant; the zero time is no end.
func past(end, before time.Time) bool { return !end.IsZero() && end.Before(before) }

func (s *Store) prunePlans(before time.Time) int {
	called := map[journal.PlanID]bool{}
	for i := range s.calls {
		called[s.calls[i].Plan] = true
	}
	var old []ended
	for i := range s.plans {
		if p := &s.plans[i]; p.State != journal.PlanRunning && past(p.Ended, before) && !called[p.ID] {
			old = append(old, ended{p.Ended, int64(p.ID), 1 + p.Actions + len(p.Skews)})
		}
	}
	gone := batch(old)
	left := make([]journal.PlanDetail, 0, len(s.plans)-len(gone))
	s.planAt = map[journal.PlanID]int{}
	for i := range s.plans {
		if id := s.plans[i].ID; !gone[int64(id)] {
			s.planAt[id] = len(left)
			left = append(left, s.plans[i])
		}
	}
	s.plans = left
	return len(gone)
}

func (s *Store) pruneVJobs(before time.Time) int {
	called := map[cluster.VJobID]bool{}
	for i := range s.calls {
		if s.calls[i].Result == nil {
			called[s.calls[i].Call.VM.VJob] = true
		}
	}
	var old []ended
	awaited := s.awaited()
	for i := range s.vjobs {
		row, g := &s.vjobs[i], &s.gangs[i]
		image := slices.ContainsFunc(g.Members, func(m gang.Member) bool { return m.Image != nil })
		if row.State.Terminal() && past(row.Ended, before) && g.Phase == gang.Absent && !image && len(g.Kept) == 0 && !called[row.ID] && !awaited(row.VJob) {
			old = append(old, ended{row.Ended, int64(row.ID), 5 + row.Size})
		}
	}
	gone := batch(old)
	s.removeVJobs(gone)
	return len(gone)
}

func (s *Store) removeVJobs(gone map[int64]bool) {
	vjobs, gangs := make([]journal.Row, 0, len(s.vjobs)), make([]gang.Record, 0, len(s.gangs))
	for i := range s.vjobs {
		row := &s.vjobs[i]
		if !gone[int64(row.ID)] {
			vjobs, gangs = append(vjobs, *row), append(gangs, s.gangs[i])
			continue
		}
		s.pruned.VJobs = max(s.pruned.VJobs, row.ID)
		if s.closed == nil {
			s.closed = map[string]journal.Usage{}
		}
		s.closed[row.Owner] = s.closed[row.Owner].Plus(row.Account)
	}
	s.vjobs, s.gangs = vjobs, gangs
	maps.DeleteFunc(s.keys, func(_ ownerKey, first firstUse) bool { return gone[int64(first.vjob)] })
	maps.DeleteFunc(s.names, func(_ ownerKey, bearers []cluster.VJobID) bool {
		return !slices.ContainsFunc(bearers, func(id cluster.VJobID) bool { return !gone[int64(id)] })
	})
}

// Totals lists the usage of each owner, in order of names.
func (s *Store) Totals() []journal.Total {
	s.mu.Lock()
	defer s.mu.Unlock()
	sums := map[string]journal.Usage{}
	maps.Copy(sums, s.closed)
	for i := range s.vjobs {
		row := &s.vjobs[i]
		sums[row.Owner] = sums[row.Owner].Plus(row.Account)
	}
	var list []journal.Total
	for _, owner := range slices.Sorted(maps.Keys(sums)) {
		if u := sums[owner]; u != (journal.Usage{}) { // no account is made for nothing
			list = append(list, journal.Total{
				Owner: owner, RunningSec: u.Running.Seconds(), CPUSec: u.CPU.Seconds(), WantedSec: u.Wanted.Seconds(),
				MemorySec: u.MemorySec, Joules: u.Joules,
			})
		}
	}
	return list
}

// Check returns how the tables differ from the event log.
func (s *Store) Check() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	log := check.NewReplay(s.pruned)
	for i := range s.events {
		if err := log.Add(s.events[i]); err != nil {
			return err
		}
	}
	tables := map[cluster.VJobID]cluster.State{}
	for i := range s.vjobs {
		tables[s.vjobs[i].ID] = s.vjobs[i].State
	}
	return log.Compare(tables)
}
