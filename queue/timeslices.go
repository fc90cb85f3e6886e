package queue

import (
	"fmt"
	"slices"
	"time"

	"vjob/cluster"
)

// TimeSlices is gang scheduling with a quantum (Ousterhout 1982; thesis §2.3.2). Vjobs are packed
// into slots, each into the first with capacity for it, and the slots run in turn, each for a
// quantum. Capacity that a slot leaves goes to vjobs of other slots meanwhile.
//
// The quantum should be large relative to the time it takes to suspend and resume a slot.
type TimeSlices struct {
	Quantum time.Duration // more than 0
	Count   Needs
}

var _ Policy = TimeSlices{}

// LeastQuantum is a hundred times what it takes to pause a vjob of eight VMs in memory and to let
// another go on: some 14 ms for each VM. With slots on disk a quantum should be far longer.
const LeastQuantum = 20 * time.Second

// DefaultQuantum is twenty times what suspending and resuming 1 GiB takes on the hosts of the thesis.
const DefaultQuantum = time.Hour

var timeSlicesParameters = []Parameter{
	needsParameter(Observed),
	{
		Name: "quantum", Default: DefaultQuantum.String(), Lenient: true, Parse: parseQuantum,
		Usage: "`TIME` for which each slot of timeslices runs",
	},
}

func parseQuantum(text string) (any, error) {
	v, err := upTo("quantum", 24*time.Hour)(text)
	if d, ok := v.(time.Duration); ok && d > 0 && d < LeastQuantum {
		return nil, cluster.BadField("quantum", d, "at least "+LeastQuantum.String()+", to be large against a switch; or 0 for an hour")
	}
	return v, err
}

func newTimeSlices(a arguments) Policy {
	return TimeSlices{Quantum: a.duration("quantum"), Count: a.needs()}
}

// Name is "timeslices".
func (TimeSlices) Name() string { return "timeslices" }

// Traits are time slices and the needs of the field Count.
func (s TimeSlices) Traits() Traits { return Traits{Needs: s.Count, Preempts: true, Turns: true} }

// maxSlots bounds the slots, and so the wait for a turn. Vjobs without a slot wait for one.
const maxSlots = 16

// slot is one row of Ousterhout's matrix.
type slot struct {
	capacity Capacity
	jobs     []int
}

// Select packs the slots and runs the current one.
func (s TimeSlices) Select(m *Input) []Verdict {
	w := newScan(m)
	slots := s.pack(w)
	turn, until := s.currentSlot(w, slots)
	in := w.prepare(slots[turn])
	for k := range slots { // the current slot, then the following ones
		for _, i := range slots[(turn+k)%len(slots)].jobs {
			s.decide(w, i, k, in && k == 0, ofSlots(turn, len(slots)))
			if len(slots) > 1 {
				w.verdicts[i].Again = until
			}
			if w.verdicts[i].Target != Run {
				w.verdicts[i].Start = until.Add(time.Duration(k-1) * s.Quantum)
			}
		}
	}
	for i, j := range w.jobs {
		switch {
		case w.decided[i]:
		case j.State == cluster.Running: // it fits nowhere any more: a node was lost
			w.decide(i, Suspend, "suspended: there is no slot for it")
			w.verdicts[i].Cause = &cluster.Cause{Kind: cluster.CauseTurn, Text: "there is no slot for it"}
		default:
			w.wait(i, fmt.Sprintf("all %d slots are full", maxSlots))
		}
	}
	return w.verdicts
}

// prepare sets the capacity for the current slot. It reports whether that contains the slot already:
// that is so unless vjobs are under way, which keep their capacity whatever their slot.
func (w *scan) prepare(turn *slot) (in bool) {
	if !slices.ContainsFunc(w.jobs, func(j Job) bool { return j.Busy && j.Bound == Run }) {
		w.capacity = turn.capacity
		return true
	}
	w.capacity = w.Capacity()
	for i := range w.jobs {
		w.alreadyDecided(i)
	}
	return false
}

// decide decides on a vjob of a slot that runs after so many turns; in: the capacity contains it.
func (TimeSlices) decide(w *scan, i, turns int, in bool, which string) {
	ok, short := in, Shortage{}
	if !in {
		ok, short = w.take(i)
	}
	switch {
	case ok && turns == 0:
		w.decide(i, Run, "runs: it is the turn of its slot"+which)
	case ok:
		w.decide(i, Run, "runs: the slot that has its turn leaves room")
	case w.jobs[i].State == cluster.Running:
		w.decide(i, Suspend, "suspended: the turn of its slot is over")
		w.verdicts[i].Cause = &cluster.Cause{Kind: cluster.CauseTurn}
	case short.Limit != "":
		w.refuse(i, short)
	default:
		w.wait(i, "for the turn of its slot: "+short.String())
	}
}

func ofSlots(turn, n int) string {
	if n == 1 {
		return ""
	}
	return fmt.Sprintf(", %d of %d", turn+1, n)
}

// pack puts each vjob into the first slot with capacity for it. There is at least one slot.
func (s TimeSlices) pack(w *scan) []*slot {
	slots := []*slot{{capacity: w.capacity}}
	for i, j := range w.jobs {
		if w.decided[i] {
			continue
		}
		for k := range maxSlots {
			if k == len(slots) {
				slots = append(slots, &slot{capacity: w.Capacity()})
			}
			ok, short := slots[k].capacity.Take(j.ID)
			if ok {
				slots[k].jobs = append(slots[k].jobs, i)
				break
			}
			if len(slots[k].jobs) == 0 && j.State.Ready() { // not even an empty slot has room
				w.refuse(i, short)
				break
			}
		}
	}
	if last := len(slots) - 1; last > 0 && len(slots[last].jobs) == 0 {
		slots = slots[:last]
	}
	return slots
}

// currentSlot returns the slot that runs and until when: the one with most running vjobs, until its
// quantum is over, then the next. If vjobs of a slot come and go, its quantum seems to begin again
// and again, so an overdue slot comes next.
func (s TimeSlices) currentSlot(w *scan, slots []*slot) (turn int, until time.Time) {
	most := 0
	for k, slot := range slots {
		n, since := 0, time.Time{}
		for _, i := range slot.jobs {
			if j := &w.jobs[i]; j.State == cluster.Running {
				n++
				if since.IsZero() || j.Since.Before(since) {
					since = j.Since
				}
			}
		}
		if n > most {
			most, turn, until = n, k, since.Add(s.Quantum)
		}
	}
	if most == 0 {
		return 0, w.Now.Add(s.Quantum)
	}
	next := (turn + 1) % len(slots)
	if his, at := s.overdue(w, slots, turn); at.Before(until) {
		next, until = his, at
	}
	if until.After(w.Now) {
		return turn, until
	}
	return next, w.Now.Add(s.Quantum)
}

// overdue returns the slot of the vjob that has waited longest and when it must run: once the vjob
// has waited for a quantum of each slot, and the last suspended one for a quantum. It returns
// [never] if none waits.
func (s TimeSlices) overdue(w *scan, slots []*slot, turn int) (his int, at time.Time) {
	var first, last time.Time
	for k, slot := range slots {
		for _, i := range slot.jobs {
			j := &w.jobs[i]
			if !j.State.Ready() || j.Busy || k == turn {
				continue
			}
			since := j.waitingSince()
			if first.IsZero() || since.Before(first) {
				his, first = k, since
			}
			if since.After(j.Submitted) && since.After(last) {
				last = since
			}
		}
	}
	if first.IsZero() {
		return turn, never
	}
	at = first.Add(time.Duration(len(slots)) * s.Quantum)
	if rest := last.Add(s.Quantum); at.Before(rest) {
		at = rest
	}
	return his, at
}

// never is later than all instants.
var never = time.Unix(1<<40, 0)
