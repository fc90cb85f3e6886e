package balance

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// The gain of a move is by how much the imbalance falls once the loads are refreshed; no bound is below it.
func TestGainIsWhatTheImbalanceFallsBy(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	positive := 0
	for i := range uint64(3000) {
		chance := rand.New(rand.NewPCG(seed, i))
		nodes := make([]Node, 2+chance.IntN(6))
		for k := range nodes {
			nodes[k].Capacity = Amounts{4000 + 1000*chance.Int64N(8), 8192 << chance.IntN(3), 0}
			switch i % 3 {
			case 1:
				nodes[k].Capacity[Network] = 10_000
			case 2: // some nodes do not tell
				nodes[k].Capacity[Network] = []int64{10_000, Unlimited}[chance.IntN(2)]
			}
		}
		l := newLoads(&Default, nodes)
		u := &unit{node: 0}
		for r := range kinds {
			u.entitlement[r] = chance.Int64N(4000)
			u.size[r] = float64(u.entitlement[r])
		}
		l.add(0, u, 1)
		for k := range nodes {
			l.add(k, &unit{entitlement: Amounts{chance.Int64N(9000), chance.Int64N(9000), chance.Int64N(9000)}}, 1)
		}
		l.refresh()
		l.weigh(&Default)
		before, to := l.imbalance(), 1+chance.IntN(len(nodes)-1)
		gain, bound := l.gainTo(u, to), l.mostGain(0, &u.size, &l.nodes[to].corner)
		if gain > 0 {
			positive++
		}
		if gain > 0 && bound < gain {
			t.Fatalf("case %d: the gain is %g, bounded by %g", i, gain, bound)
		}
		l.add(0, u, -1)
		l.add(to, u, 1)
		l.refresh()
		if fall := before - l.imbalance(); math.Abs(fall-gain) > 1e-9 {
			t.Fatalf("case %d: the gain is %g, the imbalance falls by %g", i, gain, fall)
		}
	}
	if positive < 500 {
		t.Errorf("%d moves gain: the test is blind", positive)
	}
}

// A node is refused for each limit: reservations, load, moves at once, a return, a rule.
func TestLimits(t *testing.T) {
	const none, rule = "", "a rule"
	c := &Cluster{
		Nodes: []Node{{Name: "n1", Capacity: Amounts{1000, 1000, 0}}, {Name: "n2", Capacity: Amounts{1000, 1000, 0}}},
		VMs:   []VM{{Name: "v1", Left: []Visit{{Node: 1, Ago: time.Minute}}}},
	}
	u := &unit{vms: []int{0}, entitlement: Amounts{600, 10, 0}, reserved: Amounts{100, 600, 0}}
	for want, change := range map[string]func(m *limits, l *loads){
		none:                   func(*limits, *loads) {},
		"memory would be res":  func(m *limits, _ *loads) { m.add(1, u, 1) },
		"its CPU load would":   func(_ *limits, l *loads) { l.add(1, u, 1) },
		"the limit of a round": func(m *limits, _ *loads) { m.perNode = 1; m.join(1) },
		"stays away for 1h":    func(m *limits, _ *loads) { m.stays = time.Hour },
		"being emptied":        func(*limits, *loads) { c.Nodes[1].Leaving = true },
		"drained":              func(*limits, *loads) { c.Nodes[1].Closed = "drained" },
		rule:                   func(*limits, *loads) { c.Compatible = func([]int, int) string { return rule } },
	} {
		c.Nodes[1].Leaving, c.Nodes[1].Closed, c.Compatible = false, "", nil
		l := newLoads(&Default, c.Nodes)
		m := newLimits(&Settings{}, c, &l)
		change(&m, &l)
		if why := m.refuses(u, 1); (why == none) != (want == none) || !strings.Contains(why, want) {
			t.Errorf("%q, want %q", why, want)
		}
	}
}
