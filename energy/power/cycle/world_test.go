package cycle_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"vjob/energy/power"
	"vjob/energy/power/cycle"
)

// world is a node behind an unreliable device: requests are lost, or take effect late or
// twice, and replies are wrong.
type world struct {
	t      *testing.T
	chance *rand.Rand
	now    time.Time
	record cycle.Record      // what is durable
	sight  cycle.Observation // what the scheduler remembers; a crash takes it

	powered bool
	settles time.Time // when what was asked for last takes effect
	goal    bool
	replies time.Time // when the request under way ends
	verb    power.Verb
	guests  int // VMs placed on it: only while it takes some
}

func (w *world) request(v power.Verb) {
	w.sight.Pending, w.sight.AskedAt, w.verb = true, w.now, v
	w.replies = w.now.Add(time.Duration(w.chance.IntN(20)) * time.Second)
	if v == power.Query || w.chance.IntN(4) == 0 {
		return
	}
	if v == power.TurnOff && w.guests > 0 {
		w.t.Fatalf("asked to go off with %d guests: %+v", w.guests, w.record)
	}
	// A device carries requests out in order, and is done with one before it answers.
	w.goal, w.settles = v == power.TurnOn, w.replies.Add(time.Duration(w.chance.IntN(200))*time.Second)
}

func (w *world) reply() {
	w.sight.Pending = false
	switch {
	case w.chance.IntN(5) == 0:
		w.sight.LastError = "no answer"
	case w.verb == power.Query:
		w.sight.Power, w.sight.ReportedAt, w.sight.LastError = power.Off, w.now, ""
		if w.powered {
			w.sight.Power = power.On
		}
	default:
		w.sight.LastError = ""
	}
}

// pass lets a few seconds go by.
func (w *world) pass() {
	w.now = w.now.Add(5 * time.Second)
	if !w.settles.IsZero() && !w.now.Before(w.settles) {
		w.powered, w.settles = w.goal, time.Time{}
		if !w.powered && w.guests > 0 {
			w.t.Fatalf("went off under %d guests: %+v", w.guests, w.record)
		}
	}
	if w.sight.Pending && !w.now.Before(w.replies) {
		w.reply()
	}
	if w.sight.Answers != w.powered {
		w.sight.Answers, w.sight.Since = w.powered, w.now
	}
	switch w.record.Phase {
	case cycle.On:
		if w.powered && w.chance.IntN(3) == 0 {
			w.guests++
		}
	case cycle.Emptying:
		w.guests = max(0, w.guests-w.chance.IntN(3))
	default:
	}
	w.sight.Blocker = ""
	if w.guests > 0 {
		w.sight.Blocker = "guests"
	}
}

// step is one step of the scheduler, which may die after it has written.
func (w *world) step() {
	m := cycle.Step(w.record, w.sight, cycle.DefaultLimits, w.now)
	if m.Request && m.Verb != power.Query && !m.Changed {
		w.t.Fatalf("asked to %s before that is written down", m.Verb)
	}
	w.record = m.Record
	if w.chance.IntN(100) == 0 {
		w.sight = cycle.Observation{Since: w.now} // dead, and alive again: it has seen nothing yet
		return
	}
	if m.Request {
		w.request(m.Verb)
	}
}

// No node goes off with VMs on it, whatever is lost and whenever the scheduler crashes; once
// the target is stable, the node settles.
func TestNoNodeGoesOffWithVMs(t *testing.T) {
	phases := map[cycle.Phase]int{}
	for seed := range uint64(300) {
		w := &world{t: t, chance: rand.New(rand.NewPCG(seed, 5)), now: start, powered: true, record: cycle.Record{Node: "n1"}}
		t.Logf("seed %d", seed)
		for range 4000 {
			if w.chance.IntN(150) == 0 {
				w.record, _ = cycle.Order(w.record, cycle.Want(w.chance.IntN(2)), "root", "by root", w.now)
			}
			w.pass()
			w.step()
			phases[w.record.Phase]++
		}
		for range 2000 {
			w.pass()
			w.step()
		}
		switch w.record.Phase {
		case cycle.On, cycle.Off, cycle.Stuck:
		default:
			t.Fatalf("seed %d: is %s in the end: %+v", seed, w.record.Phase, w.record)
		}
	}
	for p := cycle.On; p <= cycle.Stuck; p++ {
		if phases[p] == 0 {
			t.Errorf("never %s: the test is blind there", p)
		}
	}
}
