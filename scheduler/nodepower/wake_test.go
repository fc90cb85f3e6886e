package nodepower_test

import (
	"strings"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/energy/power/cycle"
)

// Waiting vjobs get the fewest nodes that suffice, and only nodes that no user has switched off.
func TestWake(t *testing.T) {
	for _, c := range []struct {
		name  string
		build func(p *plan)
		want  string
	}{
		{"the largest will do alone", func(p *plan) {
			p.node("a", 2, cycle.Off)
			p.node("b", 4, cycle.Off)
			p.node("c", 4, cycle.Off)
			p.vjob(3, "")
		}, "b on"},
		{"processors before memory", func(p *plan) {
			p.node("a", 2, cycle.Off)
			p.node("b", 4, cycle.Off)
			p.Nodes[0].Capacity.Memory = 1 << 20
			p.vjob(2, "")
		}, "b on"},
		{"one is not enough", func(p *plan) {
			p.node("a", 2, cycle.Off)
			p.node("b", 4, cycle.Off)
			p.vjob(5, "")
		}, "a on, b on"},
		{"none would be enough", func(p *plan) {
			p.node("a", 2, cycle.Off)
			p.vjob(5, "")
		}, ""},
		{"what is still being emptied is the quickest", func(p *plan) {
			p.node("a", 4, cycle.Off)
			p.node("b", 2, cycle.Emptying)
			p.vjob(2, "")
		}, "b on"},
		{"what comes up already counts", func(p *plan) {
			p.node("a", 4, cycle.Off)
			p.node("b", 2, cycle.Starting)
			p.vjob(2, "")
		}, ""},
		{"what is on already is enough", func(p *plan) {
			p.node("a", 4, cycle.Off)
			p.node("b", 2, cycle.On)
			p.vjob(2, "")
		}, ""},
		{"a user has switched it off", func(p *plan) {
			p.node("a", 4, cycle.Off)
			p.Power[0].By = "op"
			p.vjob(2, "")
		}, ""},
		{"a user has drained it", func(p *plan) {
			p.node("a", 4, cycle.Off)
			p.Nodes[0].State = cluster.Draining
			p.vjob(2, "")
		}, ""},
		{"it did not come up before", func(p *plan) {
			p.node("a", 4, cycle.Stuck)
			p.node("b", 2, cycle.Off)
			p.vjob(2, "")
		}, "b on"},
		{"no vjob waits", func(p *plan) {
			p.node("a", 4, cycle.Off)
			p.vjob(2, "").Held = true
		}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := &plan{}
			c.build(p)
			h := p.build(t)
			h.expect(h.tend(false), "") // what waits is known by a decision only
			h.expect(h.tend(true), c.want)
			if c.want != "" && !strings.Contains(h.reasons(), "vjob 1 waits for room") {
				t.Errorf("people read %q", h.reasons())
			}
		})
	}
}

// Nodes come on for a reservation early enough to be asked twice, and no earlier; until
// then it says when it wants to be asked.
func TestWakeForReservations(t *testing.T) {
	const lead = time.Minute + 2*2*time.Minute // the margin, and two boots
	p := &plan{}
	p.node("a", 2, cycle.Off)
	p.node("b", 4, cycle.Off)
	p.vjob(4, "").Reservation = start.Add(time.Hour)
	p.vjob(6, "").Reservation = start.Add(2 * time.Hour)
	h := p.build(t)
	h.expect(h.tend(true), "")
	if want := start.Add(time.Hour - lead); !h.again.Equal(want) {
		t.Fatalf("it wants a decision at %s, want %s", h.again, want)
	}
	h.now = h.again.Add(-time.Second)
	h.expect(h.tend(true), "")
	h.now = h.again
	h.expect(h.tend(true), "b on")
	if !strings.Contains(h.reasons(), "the reservation of vjob 1 begins") {
		t.Errorf("people read %q", h.reasons())
	}
	if want := start.Add(2*time.Hour - lead); !h.again.Equal(want) {
		t.Errorf("then it wants a decision at %s, want %s", h.again, want)
	}
}

// Of several reservations that are near the last one counts, by when the others run as well.
func TestWakeForTheLastReservation(t *testing.T) {
	p := &plan{}
	p.node("a", 2, cycle.Off)
	p.node("b", 4, cycle.Off)
	p.vjob(4, "").Reservation = start.Add(2 * time.Minute)
	p.vjob(2, "").Reservation = start.Add(4 * time.Minute)
	p.vjob(2, "").Reservation = start.Add(3 * time.Minute)
	h := p.build(t)
	h.expect(h.tend(true), "a on, b on")
}

// The node that takes longest to boot says how early nodes are woken.
func TestLongestBoot(t *testing.T) {
	p := powered(0)
	slow := p.models["a"]
	slow.On.Time = 10 * time.Minute
	p.models["a"] = slow
	p.node("a", 2, cycle.Off)
	p.node("b", 4, cycle.Off)
	p.vjob(4, "").Reservation = start.Add(time.Hour)
	h := p.build(t)
	h.expect(h.tend(true), "")
	if want := start.Add(time.Hour - time.Minute - 20*time.Minute); !h.again.Equal(want) {
		t.Errorf("it wants a decision at %s, want %s", h.again, want)
	}
}
