package pattern

import (
	"math/rand/v2"
	"testing"
)

// random returns a problem that is small enough for every assignment of patterns to be tried.
func random(seed uint64) *Problem {
	rng := rand.New(rand.NewPCG(seed, 0))
	kinds := make([]Kind, 2+rng.IntN(3))
	for k := range kinds {
		kinds[k] = Kind{Need: []int64{rng.Int64N(3), 1 + rng.Int64N(6)}, Count: 1 + rng.Int64N(3)}
		kinds[k].Bulk = 1 + kinds[k].Need[0] + kinds[k].Need[1]
	}
	classes := make([]Class, 1+rng.IntN(3))
	for c := range classes {
		classes[c] = Class{Room: []int64{2 + rng.Int64N(6), 4 + rng.Int64N(12)}, Count: 1 + rng.Int64N(2), Worth: make([][]int64, len(kinds))}
		for k := range kinds {
			last := int64(20)
			for range rng.IntN(3) {
				last = 1 + rng.Int64N(last)
				classes[c].Worth[k] = append(classes[c].Worth[k], last)
			}
		}
	}
	p, ok := New(kinds, classes)
	if !ok {
		panic("a random problem is too large")
	}
	return p
}

// best returns what the best assignment of patterns is worth, node by node; -1 if none has places for all VMs.
func best(p *Problem, class int, node int64, wanted []int64) int64 {
	if class == len(p.Classes) {
		if some(wanted) {
			return -1
		}
		return 0
	}
	if node == p.Classes[class].Count {
		return best(p, class+1, 0, wanted)
	}
	most := best(p, class, node+1, wanted)
	for i := range p.columns {
		c := &p.columns[i]
		if c.class != class {
			continue
		}
		left := make([]int64, len(wanted))
		for k := range left {
			left[k] = max(0, wanted[k]-c.vms[k])
		}
		if w := best(p, class, node+1, left); w >= 0 {
			most = max(most, w+c.worth)
		}
	}
	return most
}

// No assignment of patterns is worth more than the bound, and none exists where that is said to be proved. Both are exact for
// most problems.
func TestRelax(t *testing.T) {
	possible, impossible, proved, exact := 0, 0, 0, 0
	for seed := range uint64(3000) {
		p := random(seed)
		want, r := best(p, 0, 0, p.wanted()), p.Relax()
		switch {
		case want < 0:
			impossible++
			if r.Impossible {
				proved++
			}
		case r.Impossible:
			t.Errorf("seed %d: all VMs have places, and it is proved that not", seed)
		default:
			possible++
			if r.Most < want {
				t.Errorf("seed %d: at most %d, and an assignment is worth %d", seed, r.Most, want)
			}
			if r.Most == want {
				exact++
			}
		}
	}
	t.Logf("%d of %d impossible problems proved, %d of %d bounds exact", proved, impossible, exact, possible)
	if 10*proved < 9*impossible || 10*exact < 8*possible {
		t.Errorf("%d of %d impossible problems proved, %d of %d bounds exact: too few", proved, impossible, exact, possible)
	}
}

// What Fill returns has places for all VMs on the nodes that there are, and is nearly worth the most.
func TestFill(t *testing.T) {
	possible, found, sum, most := 0, 0, int64(0), int64(0)
	for seed := range uint64(3000) {
		p := random(seed)
		want := best(p, 0, 0, p.wanted())
		list := p.Fill()
		if list != nil {
			sum += checked(t, seed, p, list)
		}
		switch {
		case want < 0 && list != nil:
			t.Errorf("seed %d: places for all VMs, which do not exist", seed)
		case want >= 0:
			possible++
			if list != nil {
				found, most = found+1, most+want
			}
		}
	}
	t.Logf("%d of %d problems, worth %d of %d", found, possible, sum, most)
	if found < possible || 100*sum < 97*most {
		t.Errorf("%d of %d problems, worth %d of %d: too few", found, possible, sum, most)
	}
}

// checked returns what holdings are worth, after a check that they are right.
func checked(t *testing.T, seed uint64, p *Problem, list []Holding) (worth int64) {
	t.Helper()
	wanted, nodes := p.wanted(), p.nodes()
	for _, h := range list {
		nodes[h.Class] -= h.Nodes
		load := make([]int64, len(p.Classes[h.Class].Room))
		for k, n := range h.VMs {
			wanted[k] -= n * h.Nodes
			for d := range load {
				load[d] += n * p.Kinds[k].Need[d]
			}
		}
		for d, room := range p.Classes[h.Class].Room {
			if load[d] > room {
				t.Errorf("seed %d: class %d holds %d of %d", seed, h.Class, load[d], room)
			}
		}
		worth += h.Nodes * p.Classes[h.Class].worth(h.VMs)
	}
	for c, n := range nodes {
		if n < 0 {
			t.Errorf("seed %d: %d nodes of class %d too many", seed, -n, c)
		}
	}
	if some(wanted) {
		t.Errorf("seed %d: without places: %v", seed, wanted)
	}
	return worth
}

// Problems with too many kinds, classes or patterns are refused, and such without kinds.
func TestNew(t *testing.T) {
	kind, class := Kind{Need: []int64{1}, Count: 1, Bulk: 1}, Class{Room: []int64{1}, Count: 1}
	list := func(n int64) (kinds []Kind) {
		for k := range n {
			kinds = append(kinds, Kind{Need: []int64{k + 1}, Count: 50, Bulk: k + 1})
		}
		return kinds
	}
	for _, c := range []struct {
		name    string
		kinds   []Kind
		classes []Class
		want    bool
	}{
		{"one of each", []Kind{kind}, []Class{class}, true},
		{"no kinds", nil, []Class{class}, false},
		{"no nodes", []Kind{kind}, nil, true},
		{"too many kinds", list(MaxKinds + 1), []Class{class}, false},
		{"too many classes", []Kind{kind}, make([]Class, MaxClasses+1), false},
		{"too many patterns", list(8), []Class{{Room: []int64{50}, Count: 1}}, false},
		{"a node over its capacity", []Kind{kind}, []Class{{Room: []int64{-1}, Count: 1}}, true},
	} {
		p, ok := New(c.kinds, c.classes)
		if ok != c.want {
			t.Errorf("%s: %t, want %t", c.name, ok, c.want)
		}
		if ok && c.name != "one of each" && !p.Relax().Impossible {
			t.Errorf("%s: the VM has a place", c.name)
		}
	}
}
