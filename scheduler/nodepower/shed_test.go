package nodepower_test

import (
	"strings"
	"testing"

	"vjob/cluster"
	"vjob/energy"
	"vjob/energy/power/cycle"
)

// powered is a house in which every node draws 100 W idle and 200 W at most, but for e,
// which draws 150 W idle, and u, of which nothing is known.
func powered(watts int) *plan {
	p := &plan{watts: energy.Watts(watts), models: map[cluster.NodeID]energy.Power{}}
	for _, id := range []cluster.NodeID{"a", "b", "c", "e"} {
		p.models[id] = energy.Power{Idle: 100, Full: 200}
	}
	e := p.models["e"]
	e.Idle = 150
	p.models["e"] = e
	return p
}

// Under a limit empty nodes make room for the power of those that wait: the fewest, those
// first that draw most.
func TestShed(t *testing.T) {
	for _, c := range []struct {
		name  string
		watts int
		build func(p *plan)
		want  string
	}{
		// Two nodes draw 250 W idle; the vjob takes 100 W more on one of them.
		{"the node that draws most goes", 300, func(p *plan) {
			p.node("a", 4, cycle.On)
			p.node("e", 4, cycle.On)
			p.vjob(4, "")
		}, "e off"},
		{"there is power for all", 350, func(p *plan) {
			p.node("a", 4, cycle.On)
			p.node("e", 4, cycle.On)
			p.vjob(4, "")
		}, ""},
		{"there is no limit", 0, func(p *plan) {
			p.node("a", 4, cycle.On)
			p.node("e", 4, cycle.On)
			p.vjob(40, "")
		}, ""},
		{"it would not help", 190, func(p *plan) {
			p.node("a", 4, cycle.On)
			p.node("b", 4, cycle.On)
			p.vjob(4, "")
		}, ""},
		{"a user has switched it on", 300, func(p *plan) {
			p.node("a", 4, cycle.On)
			p.node("e", 4, cycle.On)
			p.Power[1].By = "op"
			p.vjob(4, "")
		}, "a off"},
		{"a user drains it", 300, func(p *plan) {
			p.node("a", 4, cycle.On)
			p.node("e", 4, cycle.On)
			p.Nodes[1].State = cluster.Draining
			p.vjob(4, "")
		}, ""},
		// e could give more than any, but a VM is there: a has to do.
		{"it holds a VM", 463, func(p *plan) {
			p.node("a", 4, cycle.On)
			p.node("b", 4, cycle.On)
			p.node("e", 4, cycle.On)
			for range 4 {
				p.vjob(2, "")
			}
			p.vjob(1, "e")
		}, "a off"},
		{"no power model", 250, func(p *plan) {
			p.node("u", 4, cycle.On)
			p.node("a", 4, cycle.On)
			p.vjob(8, "")
		}, ""},
		{"another will soon be off", 400, func(p *plan) {
			p.node("a", 4, cycle.On)
			p.node("b", 4, cycle.On)
			p.node("e", 4, cycle.Emptying)
			p.vjob(4, "")
		}, ""},
		{"no vjob waits", 100, func(p *plan) {
			p.node("a", 4, cycle.On)
			p.node("b", 4, cycle.On)
		}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := powered(c.watts)
			c.build(p)
			h := p.build(t)
			h.expect(h.tend(true), c.want)
			if c.want != "" && !strings.Contains(h.reasons(), "waits for the power that it draws") {
				t.Errorf("people read %q", h.reasons())
			}
			h.board.Step(h.now, h.watts.Affords)
			h.expect(h.tend(true), "") // what was wished is not undone, and no more than that
		})
	}
}
