package backfill_test

import (
	"cmp"
	"slices"

	"vjob/papers/jobs/backfill"
)

// Time is short here.
type Time = backfill.Time

// naive implements all disciplines by their definitions. It remembers only what runs, what
// waits, and what is reserved, and shares no code with what it tests.
type naive struct {
	policy  string
	size    int64
	running []place
	waiting []place // in the order of the queue
}

// place is a job from its start or reservation until it has used its time up.
type place struct {
	backfill.Job
	start, end Time
}

func (n *naive) Pass(now Time, gone []int64, came []backfill.Job) []int64 {
	leaves := func(p place) bool { return slices.Contains(gone, p.ID) }
	n.running = slices.DeleteFunc(n.running, leaves)
	n.waiting = slices.DeleteFunc(n.waiting, leaves)
	if n.policy == "conservative" && len(gone) > 0 {
		for i := range n.waiting {
			n.waiting[i].start, n.waiting[i].end = n.earliest(now, n.waiting[i].Job)
		}
	}
	for _, j := range came {
		p := place{Job: j}
		p.start, p.end = n.earliest(now, j)
		n.waiting = append(n.waiting, p)
	}
	switch n.policy {
	case "fcfs":
		return n.startHeads(now)
	case "firstfit":
		return n.startAll(now, func(p place) bool { return p.Width <= n.free(now) })
	case "easy":
		return append(n.startHeads(now), n.pass(now)...)
	default:
		return n.startAll(now, func(p place) bool { return p.start == now })
	}
}

func (n *naive) Wake() Time {
	next := backfill.Never
	if n.policy == "conservative" || n.policy == "conservative-nocompression" {
		for _, p := range n.waiting {
			next = min(next, p.start)
		}
	}
	return next
}

// startAll starts those of the queue that may, asking one after another.
func (n *naive) startAll(now Time, may func(p place) bool) (ids []int64) {
	for i := 0; i < len(n.waiting); {
		p := n.waiting[i]
		if !may(p) {
			i++
			continue
		}
		p.start, p.end = now, now+p.Length
		n.running = append(n.running, p)
		n.waiting = slices.Delete(n.waiting, i, i+1)
		ids = append(ids, p.ID)
	}
	return ids
}

func (n *naive) startHeads(now Time) []int64 {
	blocked := false
	return n.startAll(now, func(p place) bool {
		blocked = blocked || p.Width > n.free(now)
		return !blocked
	})
}

// pass lets jobs pass the head of EASY's queue.
func (n *naive) pass(now Time) []int64 {
	if len(n.waiting) == 0 {
		return nil
	}
	head := n.waiting[0]
	ends := slices.Clone(n.running)
	slices.SortFunc(ends, func(a, b place) int { return cmp.Compare(a.end, b.end) })
	free, shadow := n.free(now), now
	for _, p := range ends {
		if free >= head.Width && p.end > shadow {
			break
		}
		free += p.Width
		shadow = p.end
	}
	extra := free - head.Width
	return n.startAll(now, func(p place) bool {
		switch {
		case p.ID == head.ID || p.Width > n.free(now):
			return false
		case now+p.Length <= shadow:
			return true
		case p.Width <= extra:
			extra -= p.Width
			return true
		}
		return false
	})
}

// free is what running jobs leave now.
func (n *naive) free(Time) int64 {
	free := n.size
	for _, p := range n.running {
		free -= p.Width
	}
	return free
}

// earliest finds a place beside all others.
func (n *naive) earliest(now Time, j backfill.Job) (start, end Time) {
	var others []place
	for _, p := range append(slices.Clone(n.running), n.waiting...) {
		if p.ID != j.ID {
			others = append(others, p)
		}
	}
	candidates := []Time{now}
	for _, p := range others {
		candidates = append(candidates, max(now, p.end))
	}
	slices.Sort(candidates)
	for _, start := range candidates {
		if fits(others, n.size, start, j) {
			return start, start + j.Length
		}
	}
	panic("no place")
}

// fits reports whether there is room for a job at a start: where it begins, and
// wherever another one begins while it runs.
func fits(others []place, size int64, start Time, j backfill.Job) bool {
	room := func(at Time) bool {
		free := size
		for _, p := range others {
			if p.start <= at && at < p.end {
				free -= p.Width
			}
		}
		return free >= j.Width
	}
	for _, p := range others {
		if start < p.start && p.start < start+j.Length && !room(p.start) {
			return false
		}
	}
	return room(start)
}
