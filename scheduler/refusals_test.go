package scheduler_test

import (
	"fmt"
	"slices"
	"testing"

	"vjob/cluster"
	"vjob/ctxswitch"
)

// choosy is a planner that finds no plan that starts some vjobs, whatever room there is, and
// may not even know which they are.
type choosy struct {
	bad     func(place cluster.VJobID) bool // in the line, from 1
	unclear bool
	asked   *int
}

// before are the vjobs that run already.
const before = 16

func (p choosy) Plan(problem ctxswitch.Problem) (ctxswitch.Plan, error) {
	*p.asked++
	last, culprit := cluster.VJobID(0), cluster.VJobID(0)
	for _, g := range problem.Gangs {
		if last = g.VJob; culprit == 0 && g.VJob > before && p.bad(g.VJob-before) {
			culprit = g.VJob
		}
	}
	switch {
	case culprit == 0:
		return ctxswitch.Repacker{}.Plan(problem)
	case p.unclear:
		return ctxswitch.Plan{}, &ctxswitch.NoPlan{VJob: last, Reason: "a VM is in the way", Unclear: true}
	default:
		return ctxswitch.Plan{}, &ctxswitch.NoPlan{VJob: culprit, Reason: fmt.Sprintf("vjob %s is in the way", culprit)}
	}
}

// However many at the front of the line cannot be started, the others are, in the first
// pass or soon after it.
func TestNobodyWaitsForThoseWhoCannotStart(t *testing.T) {
	for _, c := range []struct {
		name    string
		bad     func(id cluster.VJobID) bool
		unclear bool
		good    int
		most    int // plans that are asked for
	}{
		{"the first 40", func(id cluster.VJobID) bool { return id <= 40 }, false, 24, 41},
		{"every second", func(id cluster.VJobID) bool { return id%2 == 0 }, false, 32, 33},
		{"all", func(cluster.VJobID) bool { return true }, false, 0, 65},
		{"the first, unclear", func(id cluster.VJobID) bool { return id == 1 }, true, 63, 16},
		{"the first three, unclear", func(id cluster.VJobID) bool { return id <= 3 }, true, 61, 40},
		{"one in the middle, unclear", func(id cluster.VJobID) bool { return id == 30 }, true, 63, 200},
	} {
		t.Run(c.name, func(t *testing.T) {
			set, asked := settings(), 0
			set.Planner = choosy{c.bad, c.unclear, &asked}
			r := mount(t, set, state(4*before, 64))
			r.drain()
			first := asked
			for range 200 {
				r.at(r.now.Sub(epoch) + set.Rest)
			}
			var started []cluster.VJobID
			for _, p := range r.plans {
				for _, g := range p.Plan.Gangs {
					started = append(started, g.VJob-before)
				}
			}
			slices.Sort(started)
			started = slices.Compact(started)
			if len(started) != c.good || slices.ContainsFunc(started, c.bad) {
				t.Errorf("%d are started: %v", len(started), started)
			}
			if first > c.most {
				t.Errorf("the first pass asks for %d plans", first)
			}
		})
	}
}
