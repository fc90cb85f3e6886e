package ctxswitch_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/ctxswitch/placement"
)

// free is a cluster of four nodes with two vjobs that run, and rules.
func free(rules ...string) ctxswitch.Problem {
	c := cluster.NewConfiguration()
	for _, id := range []cluster.NodeID{"n1", "n2", "n3", "n4"} {
		c.SetNode(cluster.Node{ID: id, Capacity: cluster.Resources{CPU: 8000, Memory: 8192}})
	}
	for i, at := range []cluster.NodeID{"n1", "n2", "n1", "n3"} {
		c.SetRunning(cluster.VMID{VJob: cluster.VJobID(1 + i/2), Rank: i % 2}, cluster.Resources{CPU: 500, Memory: 512}, at)
	}
	p := ctxswitch.Problem{Current: c, Live: map[cluster.VMID]bool{}, Pinned: map[cluster.VMID]bool{}, Costs: ctxswitch.RepackingCosts}
	for _, vm := range c.VMs() {
		p.Live[vm] = true
	}
	for id := range cluster.VJobID(2) {
		p.Gangs = append(p.Gangs, ctxswitch.Goal{VJob: id + 1, Want: cluster.VMRunning})
	}
	for _, text := range rules {
		p.Rules = append(p.Rules, placement.Rules{VJob: 1, Text: text})
	}
	return p
}

// What rules say of one VM, and of several together, in words and in places.
func TestLiberty(t *testing.T) {
	first, second, other := cluster.VMID{VJob: 1}, cluster.VMID{VJob: 1, Rank: 1}, cluster.VMID{VJob: 2}
	for _, c := range []struct {
		rule        string
		stays, tied bool
		goes        string // where the first VM of the vjob may go: what it may by itself, and to where rules bear it
	}{
		{"", false, false, "n2 n3 n4, n2 n3 n4"},
		{"ban(VM[0..1], {n3});", false, false, "n2 n4, n2 n3 n4"},
		{"fence(VM[0..1], {n1, n2});", false, false, "n2, n2 n3 n4"},
		{"root(VM[0..1]);", true, false, "n2 n3 n4, n2 n3 n4"},
		{"spread(VM[0..1]);", false, true, "n2 n3 n4, n3 n4"},
		{"gather(VM[0..1]);", false, true, "n2 n3 n4, n2 n3 n4"}, // it is broken, and not more so anywhere
		{"soft(5) spread(VM[0..1]);", false, true, "n2 n3 n4, n3 n4"},
		{"soft(5) ban(VM[0..1], {n4});", false, false, "n2 n3, n2 n3 n4"},
	} {
		l, err := ctxswitch.NewAllowedNodes(free(c.rule))
		if err != nil {
			t.Fatal(err)
		}
		var may, fits []string
		for _, n := range []cluster.NodeID{"n2", "n3", "n4"} {
			if l.Allows(first, n) {
				may = append(may, string(n))
			}
			if l.Fits(first, n) {
				fits = append(fits, string(n))
			}
		}
		group, tied := l.Group(first, true)
		mate, _ := l.Group(second, true)
		_, others := l.Group(other, true)
		if goes := strings.Join(may, " ") + ", " + strings.Join(fits, " "); goes != c.goes || l.Stays(first) != c.stays || tied != c.tied || group != mate || others {
			t.Errorf("%q: %s, stays %v, tied %v (%d, %d)", c.rule, goes, l.Stays(first), tied, group, mate)
		}
	}
}

// VMs are moved to their places and other VMs are left alone; an unknown place is an error.
func TestPlacesAreReached(t *testing.T) {
	const problems = 50
	for seed := range uint64(problems) {
		rng := rand.New(rand.NewPCG(seed, 25))
		p := free("spread(VM[0..1]);")
		p.Places = map[cluster.VMID]cluster.NodeID{}
		for _, vm := range p.Current.VMs() {
			if vm.VJob == 1 || rng.IntN(2) == 0 {
				p.Places[vm] = cluster.NodeID([]string{"n1", "n2", "n3", "n4"}[rng.IntN(4)])
			} else {
				p.Pinned[vm] = true
			}
		}
		apart := p.Places[cluster.VMID{VJob: 1}] != p.Places[cluster.VMID{VJob: 1, Rank: 1}]
		plan, err := ctxswitch.Repacker{}.Plan(p)
		if err != nil || len(plan.Leaves) > 0 {
			if apart {
				t.Errorf("seed %d: %v %v", seed, err, plan.Leaves)
			}
			continue
		}
		if faults := ctxswitch.Check(p, plan); len(faults) > 0 || !apart {
			t.Fatalf("seed %d: apart %v, %v\n%s", seed, apart, faults, plan)
		}
		for vm, to := range p.Places {
			if at, _ := plan.Target.Host(vm); at != to {
				t.Errorf("seed %d: VM %s is on %s, not on %s", seed, vm, at, to)
			}
		}
	}
}
