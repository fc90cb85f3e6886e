package memory

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"vjob/ctxswitch/journal"
	"vjob/db/internal/check"
)

// vjobHour is a journal.VJobHour with what the store adds to it.
type vjobHour struct {
	journal.VJobHour
	waited time.Duration
}

// stepHours adds to the energy drawn in hours. The lists are copied: readers and clones hold
// the old ones.
func (s *Store) stepHours(step *journal.Step, u *undo) {
	if len(step.NodeHours)+len(step.VJobHours) == 0 {
		return
	}
	keep(u, &s.nodeHours)
	keep(u, &s.vjobHours)
	s.nodeHours, s.vjobHours = slices.Clone(s.nodeHours), slices.Clone(s.vjobHours)
	for _, h := range step.NodeHours {
		h.Hour = utc(h.Hour)
		i, found := slices.BinarySearchFunc(s.nodeHours, h, compareNodes)
		if !found {
			s.nodeHours = slices.Insert(s.nodeHours, i, h)
			continue
		}
		s.nodeHours[i].Millijoules += h.Millijoules
		s.nodeHours[i].Unused += h.Unused
	}
	for _, h := range step.VJobHours {
		own := vjobHour{h, s.waited(&h)}
		own.Hour = utc(h.Hour)
		i, found := slices.BinarySearchFunc(s.vjobHours, own, compareVJobs)
		if !found {
			s.vjobHours = slices.Insert(s.vjobHours, i, own)
			continue
		}
		s.vjobHours[i].Millijoules += h.Millijoules
		s.vjobHours[i].waited = max(s.vjobHours[i].waited, own.waited)
	}
}

func compareNodes(a, b journal.NodeHour) int {
	return cmp.Or(a.Hour.Compare(b.Hour), cmp.Compare(a.Node, b.Node))
}

func compareVJobs(a, b vjobHour) int {
	return cmp.Or(a.Hour.Compare(b.Hour), cmp.Compare(a.VJob, b.VJob))
}

// waited is how long a vjob that might wait for a lower price has waited.
func (s *Store) waited(h *journal.VJobHour) time.Duration {
	at, ok := s.at(h.VJob)
	if !h.Shifted || !ok || s.vjobs[at].Started.IsZero() {
		return 0
	}
	return max(0, s.vjobs[at].Started.Sub(s.vjobs[at].Submitted))
}

// Energy adds up what was drawn, as [vjob/db.DB.Energy] does.
func (s *Store) Energy(f journal.EnergyFilter) (list []journal.EnergyRow) {
	s.mu.Lock()
	defer s.mu.Unlock()
	add := func(r journal.EnergyRow) {
		if r.Hour.Before(f.From) || !r.Hour.Before(f.To) {
			return
		}
		i, found := slices.BinarySearchFunc(list, r, journal.EnergyRow.Compare)
		if !found {
			list = slices.Insert(list, i, r)
			return
		}
		list[i].Millijoules += r.Millijoules
	}
	for _, h := range s.nodeHours {
		switch {
		case f.By == journal.ByNode:
			add(journal.EnergyRow{Hour: h.Hour, Name: string(h.Node), Millijoules: h.Millijoules})
		case f.Owner == "":
			add(journal.EnergyRow{Hour: h.Hour, Unused: true, Millijoules: h.Unused})
		}
	}
	if f.By == journal.ByNode {
		return list
	}
	for _, h := range s.vjobHours {
		if f.Owner == "" || f.Owner == h.Owner {
			add(journal.EnergyRow{Hour: h.Hour, Name: energyName(&h, f.By), Waited: h.waited, Millijoules: h.Millijoules})
		}
	}
	return list
}

func energyName(h *vjobHour, by journal.EnergyBy) string {
	switch by {
	case journal.ByProject:
		return h.Project
	case journal.ByQueue:
		return h.Queue
	case journal.ByVJob:
		return strconv.FormatInt(int64(h.VJob), 10)
	default:
		return h.Owner
	}
}

// Hours is how many hours are stored, of nodes and vjobs.
func (s *Store) Hours() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.nodeHours) + len(s.vjobHours)
}

func (s *Store) pruneNodeHours(before time.Time) (n int) {
	s.nodeHours, n = older(s.nodeHours, func(h journal.NodeHour) time.Time { return h.Hour }, before)
	return n
}

func (s *Store) pruneVJobHours(before time.Time) (n int) {
	s.vjobHours, n = older(s.vjobHours, func(h vjobHour) time.Time { return h.Hour }, before)
	return n
}

// older returns one batch from the front of a list: what lies before an instant.
func older[T any](list []T, at func(T) time.Time, before time.Time) (left []T, n int) {
	for n < min(len(list), check.PruneRows) && at(list[n]).Before(before) {
		n++
	}
	return slices.Clone(list[n:]), n
}
