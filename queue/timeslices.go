package queue

import (
	"fmt"
	"slices"
	"time"

	"vjob/cluster"
)

// TimeSlices is gang scheduling with a quantum (Ousterhout 1982; thesis §2.3.2): the
// vjobs are packed into slots, as many in each as fit together, and the slots run one
// after another, each for a quantum. A vjob is in the first slot with room for it, so
// slots are as few as first fit makes them; and room that a slot leaves goes to vjobs
// of the others meanwhile.
//
// The quantum should be large against what it takes to suspend and to resume a slot.
type TimeSlices struct {
	Quantum time.Duration // more than 0
	Count   Needs
}

var _ Policy = TimeSlices{}

// LeastQuantum is a hundred times what it takes to stop a vjob of eight VMs in memory and
// to let another go on: some 14 ms for each VM, one after another. Where slots go to disk
// a quantum should be far longer.
const LeastQuantum = 20 * time.Second

// DefaultQuantum is twenty times what suspending and resuming 1 GiB takes on the
// hosts of the thesis.
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

// Traits are time slices, and the field Count.
func (s TimeSlices) Traits() Traits { return Traits{Needs: s.Count, Preempts: true, Turns: true} }

// maxSlots bounds how many slots are filled: with more nobody would have a turn soon.
// Vjobs for which there is none wait for one.
const maxSlots = 16

// slot is one row of Ousterhout's matrix.
type slot struct {
	capacity Capacity
	jobs     []int
}

// Select packs the slots and runs the one whose turn it is.
func (s TimeSlices) Select(m *Input) []Verdict {
	w := newScan(m)
	slots := s.pack(w)
	turn, until := s.currentSlot(w, slots)
	in := w.prepare(slots[turn])
	for k := range slots { // the slot whose turn it is, then those that come next
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
		default:
			w.wait(i, fmt.Sprintf("all %d slots are full", maxSlots))
		}
	}
	return w.verdicts
}

// prepare prepares the room for the slot whose turn it is. What is under way keeps its room
// whatever the slot; where nothing is, the slot is in the room as it was packed, and what
// is reported is that all of it is in.
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

// decide settles a vjob whose slot has its turn after so many others, and that may be in
// the room already.
func (TimeSlices) decide(w *scan, i, turns int, in bool, which string) {
	ok, short := in, Shortage{}
	if !in {
		ok, short = w.take(i)
	}
	switch {
	case ok && turns == 0:
		w.decide(i, Run, "runs: it is the turn of its slot"+which)
	case ok:
		w.decide(i, Run, "runs: the slot whose turn it is leaves room")
	case w.jobs[i].State == cluster.Running:
		w.decide(i, Suspend, "suspended: the turn of its slot is over")
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

// pack puts each vjob into the first slot with room for it. There is one slot at
// least.
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

// currentSlot is the slot that is to run, and until when: the one of which most runs, until
// its quantum is over, and then the next one. Where vjobs come and go in a slot its turn
// seems to begin again and again; so whoever has waited for as long as it takes all slots
// to have their turn is next.
func (s TimeSlices) currentSlot(w *scan, slots []*slot) (turn int, until time.Time) {
	most := 0
	for k, slot := range slots {
		n, since := 0, time.Time{}
		for _, i := range slot.jobs {
			if j := &w.jobs[i]; j.State == cluster.Running {
				if n++; since.IsZero() || j.Since.Before(since) {
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

// overdue is the slot of the one who has waited longest, and when it is to have its turn at
// the latest: once it has waited for a turn of each slot, and the last to be suspended for
// a quantum. Without one that waits it is never.
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

// never is later than anything.
var never = time.Unix(1<<40, 0)
