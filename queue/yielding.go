package queue

import (
	"fmt"
	"strings"
	"time"

	"vjob/cluster"
)

// Preemptible is a policy as it is where vjobs have terms of their own on how they make
// room. Who never does, or not yet, keeps its room before anybody else has any. Those
// that are best-effort come after all others, whatever their priority: the policy does
// not know of them, and they have what it leaves.
type Preemptible struct{ Policy }

var _ Policy = Preemptible{}

// Keeps reports whether a vjob that runs keeps its room until its end.
func (y Preemptible) Keeps(j *cluster.VJob) bool {
	return !j.BestEffort && (j.Yields == cluster.Never || Keeps(y.Policy, j))
}

// Select lets the policy choose among those that are not best-effort, in a room in which
// those are that keep theirs.
func (y Preemptible) Select(m *Input) []Verdict {
	d := divide(y.Policy, m)
	if len(d.kept) == 0 && len(d.rest) == 0 {
		return endings(m, y.Policy.Select(m))
	}
	inner := *m
	inner.Jobs, inner.Capacity = make([]Job, len(d.firm)), func() Capacity { return d.room() }
	for k, i := range d.firm {
		inner.Jobs[k] = m.Jobs[i]
		if v, kept := d.kept[m.Jobs[i].ID]; kept {
			inner.Jobs[k].Fixed = &v
		}
	}
	verdicts := make([]Verdict, len(m.Jobs))
	for k, v := range y.Policy.Select(&inner) {
		verdicts[d.firm[k]] = v
	}
	if len(d.rest) > 0 {
		d.fill(verdicts)
	}
	return endings(m, verdicts)
}

// division is the vjobs of a moment, divided by how they make room.
type division struct {
	*Input
	kept map[cluster.VJobID]Verdict // they keep their room, and why
	firm []int                      // whose the policy is, those that are kept or under way among them
	rest []int                      // that have what it leaves
}

func divide(p Policy, m *Input) *division {
	d := &division{Input: m, kept: map[cluster.VJobID]Verdict{}}
	room := Capacity(nil)
	for i := range m.Jobs {
		j := &m.Jobs[i]
		if v, keeps := j.keeps(p, m.Now); keeps {
			if room == nil {
				room = m.Capacity()
			}
			if ok, _ := room.Take(j.ID); ok { // else a node was lost, and it has to go
				d.kept[j.ID] = v
			}
		}
		if _, kept := d.kept[j.ID]; j.BestEffort && !kept && !j.Busy && j.Fixed == nil && !j.State.Terminal() {
			d.rest = append(d.rest, i)
		} else {
			d.firm = append(d.firm, i)
		}
	}
	return d
}

// keeps reports whether a vjob that runs makes no room, by its own terms: also one that
// would have to start anew, where others would be suspended for a while in any case.
func (j *Job) keeps(p Policy, now time.Time) (v Verdict, keeps bool) {
	if j.State != cluster.Running || j.Busy || j.Held && j.NonPreemptible == "" || j.Fixed != nil {
		return v, false
	}
	v.Target = Run
	left := j.MinRun - now.Sub(j.Since)
	switch {
	case j.NonPreemptible != "":
		v.Reason = "runs: " + j.NonPreemptible
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
func (d *division) room() *keptRoom {
	r := &keptRoom{Capacity: d.Capacity(), in: map[cluster.VJobID]bool{}}
	for i := range d.Jobs {
		if id := d.Jobs[i].ID; d.kept[id].Target == Run {
			r.Take(id)
		}
	}
	return r
}

// keptRoom takes nobody twice.
type keptRoom struct {
	Capacity
	in map[cluster.VJobID]bool
}

// Take implements [Capacity].
func (r *keptRoom) Take(id cluster.VJobID) (ok bool, short Shortage) {
	if r.in[id] {
		return true, short
	}
	ok, short = r.Capacity.Take(id)
	r.in[id] = ok
	return ok, short
}

// fill gives those that are best-effort what the others leave: those that run keep it, as
// far as it goes, so that nobody makes room for another of them.
func (d *division) fill(verdicts []Verdict) {
	jobs := make([]Job, len(d.rest))
	for k, i := range d.rest {
		jobs[k] = d.Jobs[i]
	}
	room := d.room()
	for _, i := range d.firm {
		if verdicts[i].Target == Run {
			room.Take(d.Jobs[i].ID)
		}
	}
	own := *d.Input
	own.Jobs, own.Capacity = jobs, func() Capacity { return room }
	w := begin(&own)
	for k := range jobs {
		if w.settled[k] || jobs[k].State != cluster.Running {
			continue
		}
		if ok, short := w.take(k); ok {
			w.settle(k, Run, "runs: nobody else wants its room")
		} else {
			w.park(k, cluster.CausePreempted, "to make room, since it is best-effort", short)
			if c := &w.verdicts[k].Cause; c.Kind == cluster.CausePreempted {
				c.VJobs = d.starting(verdicts)
			}
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
	for k, i := range d.rest {
		verdicts[i] = w.verdicts[k]
	}
}

// starting are the vjobs that are not best-effort and are to start.
func (d *division) starting(verdicts []Verdict) (list []cluster.VJobRef) {
	for _, i := range d.firm {
		if verdicts[i].Target == Run && d.Jobs[i].State.Ready() {
			list = append(list, d.Jobs[i].Ref())
		}
	}
	return list
}

// Ends reports whether a vjob that is to make room is ended, and starts anew later.
func Ends(j *cluster.VJob) bool { return j.Yields == cluster.ByEnd && !j.Held }

// endings tells those that are ended to make room that they are not suspended.
func endings(m *Input, verdicts []Verdict) []Verdict {
	for i := range verdicts {
		j, v := &m.Jobs[i], &verdicts[i]
		if v.Target != Suspend || j.Busy || !Ends(j.VJob) {
			continue
		}
		if rest, suspended := strings.CutPrefix(v.Reason, "suspended"); suspended {
			v.Reason = "ended" + rest + "; it starts anew later"
		}
	}
	return verdicts
}
