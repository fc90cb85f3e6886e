package nodepower_test

import (
	"testing"
	"time"

	"vjob/cluster"
	"vjob/energy/power/cycle"
)

// idle is three nodes of which one has something to do.
func idle() *plan {
	p := &plan{}
	p.node("a", 4, cycle.On)
	p.node("b", 4, cycle.On)
	p.node("c", 4, cycle.On)
	p.vjob(2, "a")
	return p
}

// What has been idle for long goes off, one review after the other at the earliest once
// demand is known for the whole window: a restart switches nothing off that it knows
// nothing about.
func TestIdleNodesGoOff(t *testing.T) {
	h := idle().build(t)
	h.expect(h.after(39*time.Minute), "")
	h.expect(h.after(6*time.Minute), "b off, c off")
	if !h.keeper.Next().After(h.now) {
		t.Errorf("it is %s, and the next review at %s", h.now, h.keeper.Next())
	}
}

// What the caretaker may not touch stays on, and takes what others do that may go off for
// it: b is on for good or for now, and then a need not be.
func TestWhatStaysOn(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(p *plan)
		want   string
	}{
		{"it cannot be switched", func(p *plan) { p.fixed = []cluster.NodeID{"b"} }, "a off, c off"},
		{"a user has switched it on", func(p *plan) { p.Power[1].By = "op" }, "a off, c off"},
		{"a user drains it", func(p *plan) { p.Nodes[1].State = cluster.Draining }, "c off"},
		{"it is silent", func(p *plan) { p.silent = []cluster.NodeID{"b"} }, "c off"},
		{"it has just come up", func(p *plan) { p.Power[1].Since = start.Add(44 * time.Minute) }, "a off, c off"},
		{"a container has room there", func(p *plan) { p.vjob(1, "b").Container = true }, "a off, c off"},
		{"it holds a foreign machine", func(p *plan) { p.strangers = "b" }, "a off, c off"},
		{"a VM may be nowhere else", func(p *plan) { p.vjob(1, "b").Rules = "fence($VMS, b);" }, "a off, c off"},
		{"it is coming up", func(p *plan) { p.Power[1].Phase = cycle.Starting }, "c off"},
		{"a vjob waits for room", func(p *plan) { p.vjob(40, "") }, ""},
		{"a reservation is near", func(p *plan) { p.vjob(4, "").Reservation = start.Add(46 * time.Minute) }, ""},
		{"one is near that is held", func(p *plan) {
			job := p.vjob(4, "")
			job.Reservation, job.Held = start.Add(46*time.Minute), true
		}, "b off, c off"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := idle()
			c.change(p)
			h := p.build(t)
			h.expect(h.after(45*time.Minute), c.want)
		})
	}
}

// A busy node brings another one on, if there is the power for it and none is coming.
func TestBusyNodesBringOthersOn(t *testing.T) {
	for _, c := range []struct {
		name   string
		watts  int
		change func(p *plan)
		want   string
	}{
		{"no limit", 0, func(p *plan) { p.vjob(4, "a") }, "b on"},
		{"enough power", 400, func(p *plan) { p.vjob(4, "a") }, "b on"},
		{"not enough power", 240, func(p *plan) { p.vjob(4, "a") }, ""},
		{"it is not busy", 0, func(p *plan) { p.vjob(2, "a") }, ""},
		{"most of its VMs have ended", 0, func(p *plan) {
			p.vjob(4, "a")
			for rank := range 3 {
				p.Gangs[0].Members[rank].Ended = true
			}
		}, ""},
		{"what runs in a container counts once", 0, func(p *plan) {
			p.vjob(2, "a").Container = true
			p.vjob(2, "a").Inner = 1
		}, ""},
		{"one turns round on its way off", 0, func(p *plan) {
			p.node("c", 4, cycle.Stopping)
			p.Power[2].Want = cycle.WantOn
			p.vjob(4, "a")
		}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := powered(c.watts)
			p.node("a", 4, cycle.On)
			p.node("b", 4, cycle.Off)
			c.change(p)
			h := p.build(t)
			h.expect(h.after(11*time.Minute), c.want)
		})
	}
}
