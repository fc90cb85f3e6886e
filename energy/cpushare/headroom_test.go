package cpushare_test

import (
	"math/rand/v2"
	"testing"

	"vjob/energy"
	"vjob/energy/cpushare"
)

// Against everything that some nodes may draw: never less than that, and just that where
// groups of nodes lie in each other or beside each other.
func TestLeavesAgainstAllLoads(t *testing.T) {
	exact := 0
	for seed := range uint64(3000) {
		rng := rand.New(rand.NewPCG(seed, 3))
		p := &cpushare.Problem{}
		for range 1 + rng.IntN(4) {
			p.Nodes = append(p.Nodes, cpushare.Node{Power: energy.Power{Idle: 10, Full: 10 + energy.Watts(rng.IntN(4))}, CPU: 1})
		}
		neat := true
		for range rng.IntN(4) {
			l := cpushare.Limit{Watts: energy.Watts(rng.IntN(10))}
			for n := range p.Nodes {
				if rng.IntN(2) == 0 {
					l.Nodes, l.Watts = append(l.Nodes, n), l.Watts+9
				}
			}
			for _, o := range p.Limits {
				neat = neat && tidy(l.Nodes, o.Nodes)
			}
			p.Limits = append(p.Limits, l)
		}
		got, by := p.Headroom()
		want := loads(p, make([]energy.Watts, len(p.Nodes)), 0)
		if got < want || neat && got != want {
			t.Fatalf("seed %d: %s by %v, and %s can be drawn: %+v", seed, got, by, want, p)
		}
		if free := loads(&cpushare.Problem{Nodes: p.Nodes}, make([]energy.Watts, len(p.Nodes)), 0); got < free && len(by) == 0 {
			t.Fatalf("seed %d: %s of %s, and no limit is the reason: %+v", seed, got, free, p)
		}
		if neat && len(p.Limits) > 1 {
			exact++
		}
	}
	if exact < 500 {
		t.Errorf("only %d problems are nested", exact)
	}
}

// tidy reports whether of two groups one lies in the other, or both beside each other.
func tidy(a, b []int) bool {
	both := 0
	for _, x := range a {
		for _, y := range b {
			if x == y {
				both++
			}
		}
	}
	return both == 0 || both == min(len(a), len(b))
}

// loads is the most that the nodes from one on can draw more, in whole watts.
func loads(p *cpushare.Problem, more []energy.Watts, n int) (most energy.Watts) {
	if n < len(p.Nodes) {
		most = -1
		for w := energy.Watts(0); w <= p.Nodes[n].Power.Full-p.Nodes[n].Power.Idle; w++ {
			more[n] = w
			most = max(most, loads(p, more, n+1))
		}
		more[n] = 0
		return most
	}
	for _, l := range p.Limits {
		sum, idle := energy.Watts(0), energy.Watts(0)
		for _, n := range l.Nodes {
			sum, idle = sum+more[n], idle+p.Nodes[n].Power.Idle
		}
		if sum > max(0, l.Watts-idle) {
			return -1
		}
	}
	for _, w := range more {
		most += w
	}
	return most
}
