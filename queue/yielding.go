package queue

import (
	"fmt"
	"strings"
	"time"

	"vjob/cluster"
)

// Yielding is a policy as it is where vjobs have terms of their own on how they make
// room. Who never does, or not yet, keeps its room before anybody else has any. Those
// that are best-effort come after all others, whatever their priority: the policy does
// not know of them, and they have what it leaves.
type Yielding struct{ Policy }

var _ Policy = Yielding{}

// Keeps reports whether a vjob that runs keeps its room until its end.
func (y Yielding) Keeps(j *cluster.VJob) bool {
	return !j.BestEffort && (j.Yields == cluster.Never || Keeps(y.Policy, j))
}

// Select lets the policy choose among those that are not best-effort, in a room in which
// those are that keep theirs.
func (y Yielding) Select(m *Moment) []Verdict {
	s := split(y.Policy, m)
	if len(s.kept) == 0 && len(s.rest) == 0 {
		return endings(m, y.Policy.Select(m))
	}
	inner := *m
	inner.Jobs, inner.Room = make([]Job, len(s.firm)), func() Room { return s.room() }
	for k, i := range s.firm {
		inner.Jobs[k] = m.Jobs[i]
		if v, kept := s.kept[m.Jobs[i].ID]; kept {
			inner.Jobs[k].Given = &v
		}
	}
	verdicts := make([]Verdict, len(m.Jobs))
	for k, v := range y.Policy.Select(&inner) {
		verdicts[s.firm[k]] = v
	}
	if len(s.rest) > 0 {
		s.fill(verdicts)
	}
	return endings(m, verdicts)
}

// shares are the vjobs of a moment by how they make room.
type shares struct {
	*Moment
	kept map[cluster.VJobID]Verdict // they keep their room, and why
	firm []int                      // whose the policy is, those that are kept or under way among them
	rest []int                      // that have what it leaves
}

func split(p Policy, m *Moment) *shares {
	s := &shares{Moment: m, kept: map[cluster.VJobID]Verdict{}}
	room := Room(nil)
	for i := range m.Jobs {
		j := &m.Jobs[i]
		if v, keeps := j.keeps(p, m.Now); keeps {
			if room == nil {
				room = m.Room()
			}
			if ok, _ := room.Take(j.ID); ok { // else a node was lost, and it has to go
				s.kept[j.ID] = v
			}
		}
		if _, kept := s.kept[j.ID]; j.BestEffort && !kept && !j.Busy && j.Given == nil && !j.State.Terminal() {
			s.rest = append(s.rest, i)
		} else {
			s.firm = append(s.firm, i)
		}
	}
	return s
}

// keeps reports whether a vjob that runs makes no room, by its own terms: also one that
// would have to start anew, where others would be suspended for a while in any case.
func (j *Job) keeps(p Policy, now time.Time) (v Verdict, keeps bool) {
	if j.State != cluster.Running || j.Busy || j.Held && j.Stays == "" || j.Given != nil {
		return v, false
	}
	v.Wish = Run
	left := j.MinRun - now.Sub(j.Since)
	switch {
	case j.Stays != "":
		v.Reason = "runs: " + j.Stays
	case left > 0:
		v.Again, v.Reason = j.Since.Add(j.MinRun), fmt.Sprintf("runs: it makes no room for %s yet", left.Round(time.Second))
	case j.Container:
		v.Reason = "runs: it holds its room for those inside"
	case j.Yields == cluster.Never:
		v.Reason = "runs: it never makes room"
	case j.Yields == cluster.ByEnd && !j.BestEffort && Keeps(p, j.VJob):
		v.Reason = "runs: it would have to start anew"
	default:
		return v, false
	}
	return v, true
}

// room is a room with those in it that keep theirs.
func (s *shares) room() *keptRoom {
	r := &keptRoom{Room: s.Room(), in: map[cluster.VJobID]bool{}}
	for i := range s.Jobs {
		if id := s.Jobs[i].ID; s.kept[id].Wish == Run {
			r.Take(id)
		}
	}
	return r
}

// keptRoom takes nobody twice.
type keptRoom struct {
	Room
	in map[cluster.VJobID]bool
}

// Take implements [Room].
func (r *keptRoom) Take(id cluster.VJobID) (ok bool, short Shortage) {
	if r.in[id] {
		return true, short
	}
	ok, short = r.Room.Take(id)
	r.in[id] = ok
	return ok, short
}

// fill gives those that are best-effort what the others leave: those that run keep it, as
// far as it goes, so that nobody makes room for another of them.
func (s *shares) fill(verdicts []Verdict) {
	jobs := make([]Job, len(s.rest))
	for k, i := range s.rest {
		jobs[k] = s.Jobs[i]
	}
	room := s.room()
	for _, i := range s.firm {
		if verdicts[i].Wish == Run {
			room.Take(s.Jobs[i].ID)
		}
	}
	own := *s.Moment
	own.Jobs, own.Room = jobs, func() Room { return room }
	w := begin(&own)
	for k := range jobs {
		if w.settled[k] || jobs[k].State != cluster.Running {
			continue
		}
		if ok, short := w.take(k); ok {
			w.settle(k, Run, "runs: nobody else wants its room")
		} else {
			w.settle(k, Park, "suspended to make room, since it is best-effort: "+short.String())
		}
	}
	for k := range jobs {
		if w.settled[k] {
			continue
		}
		if ok, short := w.take(k); ok {
			w.settle(k, Run, "runs: nobody else wants the room")
		} else {
			w.refuse(k, short)
		}
	}
	for k, i := range s.rest {
		verdicts[i] = w.verdicts[k]
	}
}

// Ends reports whether a vjob that is to make room is ended, and starts anew later.
func Ends(j *cluster.VJob) bool { return j.Yields == cluster.ByEnd && !j.Held }

// endings tells those that are ended to make room that they are not suspended.
func endings(m *Moment, verdicts []Verdict) []Verdict {
	for i := range verdicts {
		j, v := &m.Jobs[i], &verdicts[i]
		if v.Wish != Park || j.Busy || !Ends(j.VJob) {
			continue
		}
		if rest, suspended := strings.CutPrefix(v.Reason, "suspended"); suspended {
			v.Reason = "ended" + rest + "; it starts anew later"
		}
	}
	return verdicts
}
