package balance

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"
)

// random is a small cluster with everything in it: capacities of several kinds, closed nodes, groups, fixed VMs,
// flights, rules.
func random(chance *rand.Rand) *Cluster {
	c := &Cluster{}
	network := chance.IntN(3) == 0
	for i := range 2 + chance.IntN(9) {
		n := Node{Name: fmt.Sprintf("n%d", i+1), Capacity: Amounts{8000 << chance.IntN(2), 16384 << chance.IntN(2), 0}}
		if network {
			n.Capacity[Network] = []int64{125_000_000, 125_000_000, Unlimited}[chance.IntN(3)]
		}
		if chance.IntN(10) == 0 {
			n.Closed = "it is drained"
		}
		c.Nodes = append(c.Nodes, n)
	}
	crowded := 1 + chance.IntN(len(c.Nodes))
	for i := range chance.IntN(60) {
		v := VM{Name: fmt.Sprintf("v%d", i+1), Node: chance.IntN(crowded), Stable: time.Duration(chance.IntN(60)) * time.Minute}
		v.Demand = Amounts{int64(100 * chance.IntN(30)), int64(256 * chance.IntN(12)), 0}
		v.Reserved = Amounts{v.Demand[CPU] / 4, v.Demand[Memory], 0}
		if network {
			v.Demand[Network] = int64(1_000_000 * chance.IntN(20))
		}
		v.Entitlement = v.Demand
		v.Least, v.Most = v.Demand, v.Demand
		v.Least[CPU], v.Most[CPU] = v.Demand[CPU]/2, v.Demand[CPU]*3/2
		if chance.IntN(12) == 0 {
			v.Fixed = "it has a device of the node"
		}
		if chance.IntN(6) == 0 {
			v.Group = 1 + chance.IntN(3)
		}
		c.VMs = append(c.VMs, v)
	}
	if len(c.VMs) > 0 && chance.IntN(3) == 0 {
		vm := chance.IntN(len(c.VMs))
		if to := chance.IntN(len(c.Nodes)); to != c.VMs[vm].Node {
			c.Flights = append(c.Flights, Flight{vm, to})
		}
	}
	ban := chance.IntN(4)
	c.Compatible = func(vms []int, node int) string {
		if ban > 0 && (vms[0]+node)%(3*ban) == 0 {
			return "banned"
		}
		return ""
	}
	return c
}

func settings(chance *rand.Rand) Settings {
	s := Default
	s.CostBenefit = chance.IntN(2) == 0
	s.HotNodes = chance.IntN(2) == 0
	s.Chains = false
	s.MaxPerNode = chance.IntN(6)
	s.Threshold = 0.2 * chance.Float64()
	s.Goodness = chance.Float64()
	return s
}

// exhaustive is one iteration of Algorithm 1 as it stands in the paper: all VMs, all nodes.
func (s *search) exhaustive(least float64, hotOnly bool) (candidate, bool) {
	best := candidate{gain: least, unit: -1, to: -1}
	for k := range s.layout.units {
		u := &s.layout.units[k]
		if u.fixed != "" || !s.mayLeave(u.node, hotOnly) {
			continue
		}
		for to := range s.c.Nodes {
			if to == u.node || s.limits.refuses(u, to) != "" {
				continue
			}
			if gain := s.loads.gainTo(u, to); gain > best.gain && s.demands.pays(k, to) {
				best = candidate{gain, k, to}
			}
		}
	}
	return best, best.unit >= 0
}

// The best move is that of the exhaustive search, move after move.
func TestBestIsThatOfTheExhaustiveSearch(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	moves, none := 0, 0
	for i := range uint64(4000) {
		chance := rand.New(rand.NewPCG(seed, i))
		c, s := random(chance), settings(chance)
		b := newBalancer(&s, c)
		for range 30 {
			hotOnly := chance.IntN(8) == 0
			least := s.LeastGain(b.loads.imbalance(), b.loads.counted, len(c.VMs))
			want, ok := b.searching().exhaustive(least, hotOnly)
			got, found := b.searching().best(least, hotOnly)
			if ok != found || !equallyGood(got, want) {
				t.Fatalf("case %d: %+v, %v, the exhaustive search has %+v, %v", i, got, found, want, ok)
			}
			if !found {
				none++
				break
			}
			before := scratch(b.state)
			b.apply(got, 0)
			// The root of a variance near 0 has half of the digits.
			if after := scratch(b.state); math.Abs(before-after-got.gain) > 1e-7 {
				t.Fatalf("case %d: the gain is %g, computed anew it is %g", i, got.gain, before-after)
			}
			moves++
		}
	}
	if moves < 5000 || none < 1000 {
		t.Errorf("%d moves, %d ends: the test is blind", moves, none)
	}
}

// equallyGood reports whether two moves are the same, or gain the same but for the rounding of sums.
func equallyGood(a, b candidate) bool {
	return a == b || math.Abs(a.gain-b.gain) <= 1e-8*max(a.gain, b.gain)
}

// scratch is the imbalance by its definition.
func scratch(st *state) (sum float64) {
	for _, r := range st.loads.resources {
		var loads []float64
		mean := 0.0
		for i := range st.c.Nodes {
			if st.c.Nodes[i].Capacity[r] == Unlimited {
				continue
			}
			e := int64(0)
			for k := range st.layout.units {
				if st.layout.units[k].node == i {
					e += st.layout.units[k].entitlement[r]
				}
			}
			for _, f := range st.c.Flights {
				if f.To == i {
					e += st.c.VMs[f.VM].Entitlement[r]
				}
			}
			load := float64(e) / float64(st.c.Nodes[i].Capacity[r])
			loads, mean = append(loads, load), mean+load
		}
		mean /= float64(len(loads))
		square := 0.0
		for _, l := range loads {
			square += (l - mean) * (l - mean)
		}
		sum += st.loads.weight[r] * math.Sqrt(square/float64(len(loads)))
	}
	return sum
}

// A round lowers the imbalance with each set of moves, moves nothing onto a node over its capacity, breaks no rule,
// keeps groups together, and can be carried out in the order of its dependencies. The same input gives the same moves.
func TestRounds(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	single, chained, after := 0, 0, 0
	for i := range uint64(3000) {
		chance := rand.New(rand.NewPCG(seed, i))
		c, s := random(chance), settings(chance)
		s.Chains = true
		r, err := s.Round(c)
		if err != nil {
			t.Fatal(err)
		}
		if again, _ := s.Round(c); !reflect.DeepEqual(r, again) {
			t.Fatalf("case %d: another round of the same input", i)
		}
		if r.After.Total > r.Before.Total+1e-12 {
			t.Fatalf("case %d: the imbalance rises from %g to %g", i, r.Before.Total, r.After.Total)
		}
		carryOut(t, i, c, &s, r)
		sets := map[int]float64{}
		for k := range r.Moves {
			m := &r.Moves[k]
			after += len(m.After)
			if m.Set == 0 {
				single++
				if m.Gain <= 0 || s.CostBenefit && m.Worth <= 0 {
					t.Fatalf("case %d: %+v", i, m)
				}
				continue
			}
			sets[m.Set] += m.Gain
			chained++
		}
		for set, gain := range sets {
			if gain <= 0 {
				t.Fatalf("case %d: the moves of set %d gain %g", i, set, gain)
			}
		}
	}
	if single < 2000 || chained < 20 || after < 20 {
		t.Errorf("%d single moves, %d of chains, %d dependencies: the test is blind", single, chained, after)
	}
}

// carryOut makes all moves at once that depend on no other that goes on, counting VMs on both ends, and then ends one,
// again and again.
func carryOut(t *testing.T, seed uint64, c *Cluster, s *Settings, r *Round) {
	t.Helper()
	st := newState(s, c)
	ended, begun := make([]bool, len(r.Moves)), make([]bool, len(r.Moves))
	for count := 0; count < len(r.Moves); count++ {
		for k := range r.Moves {
			m := &r.Moves[k]
			ready := !begun[k]
			for _, j := range m.After {
				ready = ready && ended[j]
			}
			if !ready {
				continue
			}
			begun[k] = true
			u := &st.layout.units[st.layout.of[m.VMs[0]]]
			if len(u.vms) != len(m.VMs) || u.node != m.From {
				t.Fatalf("case %d: move %d takes %v of %v from node %d", seed, k, m.VMs, u.vms, m.From)
			}
			st.count(m.To, u, 1)
			if !st.limits.fits(m.To, [2]Amounts{st.limits.nodes[m.To].reserved, st.loads.nodes[m.To].entitlement}) {
				t.Fatalf("case %d: move %d takes node %d over its capacity: %+v", seed, k, m.To, m)
			}
			if why := st.limits.forbids(u, m.To); why != "" {
				t.Fatalf("case %d: move %d: %s", seed, k, why)
			}
		}
		last := -1
		for k := range r.Moves {
			if begun[k] && !ended[k] {
				last = k
			}
		}
		if last < 0 {
			t.Fatalf("case %d: moves wait for each other: %+v", seed, r.Moves)
		}
		m := &r.Moves[last]
		u := &st.layout.units[st.layout.of[m.VMs[0]]]
		st.count(m.From, u, -1)
		u.node, ended[last] = m.To, true
	}
}
