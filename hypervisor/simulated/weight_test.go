package simulated_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/hypervisor"
	"vjob/hypervisor/simulated"
)

// weighed is a guest of a node: what it demands, its cap and its weight.
type weighed struct {
	cpu, cap cluster.MilliCPU
	weight   int
}

// weigh boots guests on a node of 4 CPU, and returns when they have booted.
func weigh(guests []weighed) (s *simulated.Cluster, booted time.Time) {
	s = simulated.New(simulated.Config{Nodes: []simulated.Node{{ID: "n1", Capacity: cluster.Resources{CPU: 4000, Memory: 65536}}}})
	start := s.Now()
	for rank, g := range guests {
		s.Begin(start, hypervisor.Call{
			Verb: hypervisor.Boot, VM: cluster.VMID{VJob: 1, Rank: rank}, Node: "n1", Cap: g.cap, Weight: g.weight,
			Machine: machine(512, len(guests), cluster.Step{CPU: g.cpu, Duration: 1000 * time.Hour}),
		})
	}
	booted = start.Add(2 * simulated.Thesis.Boot)
	s.Advance(booted)
	return s, booted
}

// rates is the CPU that each guest uses over some time.
func rates(t *testing.T, s *simulated.Cluster, from time.Time) (list []cluster.MilliCPU) {
	t.Helper()
	const long = 1000 * time.Second
	before := used(t, s, from)
	for i, after := range used(t, s, from.Add(long)) {
		list = append(list, cluster.MilliCPU((after-before[i]+long/2000)*1000/long))
	}
	return list
}

// With different weights the CPU of a crowded node goes by weight, at most up to the demand and the
// cap of each guest; what one does not need the others get. With equal weights it goes by demand.
func TestWeightsDivideCPU(t *testing.T) {
	for _, c := range []struct {
		name   string
		guests []weighed
		want   []cluster.MilliCPU
	}{
		{"enough for all", []weighed{{1000, 0, 1}, {3000, 0, 10_000}}, []cluster.MilliCPU{1000, 3000}},
		{"one to three", []weighed{{4000, 0, 100}, {4000, 0, 300}}, []cluster.MilliCPU{1000, 3000}},
		{"the default is 100", []weighed{{4000, 0, 0}, {4000, 0, 300}}, []cluster.MilliCPU{1000, 3000}},
		{"equal: by demand", []weighed{{2000, 0, 0}, {6000, 0, 100}}, []cluster.MilliCPU{1000, 3000}},
		{"equal, not the default", []weighed{{2000, 0, 7}, {6000, 0, 7}}, []cluster.MilliCPU{1000, 3000}},
		{"one needs less than its part", []weighed{{500, 0, 500}, {4000, 0, 100}, {4000, 0, 400}}, []cluster.MilliCPU{500, 700, 2800}},
		{"its part is less than it needs", []weighed{{1000, 0, 100}, {4000, 0, 900}}, []cluster.MilliCPU{400, 3600}},
		{"one is capped", []weighed{{4000, 500, 900}, {4000, 0, 100}, {4000, 0, 200}}, []cluster.MilliCPU{500, 1167, 2333}},
		{"one idles", []weighed{{0, 0, 10_000}, {4000, 0, 100}, {4000, 0, 300}}, []cluster.MilliCPU{0, 1000, 3000}},
		{"none starves", []weighed{{4000, 0, 1}, {4000, 0, 10_000}}, []cluster.MilliCPU{1, 3999}},
	} {
		s, booted := weigh(c.guests)
		if got := rates(t, s, booted); fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// A crowded node gives all that it has, no guest more than it demands, and, of two guests that get
// less than they demand, none less by weight than the other.
func TestWeightsAreFair(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	for range 300 {
		var guests []weighed
		var all cluster.MilliCPU
		for range 2 + random.IntN(8) {
			g := weighed{cpu: cluster.MilliCPU(1 + random.IntN(3000)), weight: 1 + random.IntN(20)}
			if random.IntN(3) == 0 {
				g.cap = cluster.MilliCPU(10 + random.IntN(3000))
			}
			guests = append(guests, g)
			all += demandOf(g)
		}
		s, booted := weigh(guests)
		got := rates(t, s, booted)
		var sum cluster.MilliCPU
		for i, g := range guests {
			sum += got[i]
			if got[i] > demandOf(g) {
				t.Fatalf("%+v get %v", guests, got)
			}
			for k, h := range guests {
				if differ(guests) && got[i] < demandOf(g)-1 && got[k] < demandOf(h)-1 && // both want more
					(got[i]+2)*cluster.MilliCPU(h.weight) < (got[k]-2)*cluster.MilliCPU(g.weight) {
					t.Fatalf("%+v get %v: %d and %d are not treated alike", guests, got, i, k)
				}
			}
		}
		if want := min(all, 4000); sum < want-10 || sum > want+10 {
			t.Fatalf("%+v get %v, %s in all, want %s", guests, got, sum, want)
		}
	}
}

func demandOf(g weighed) cluster.MilliCPU {
	if g.cap > 0 {
		return min(g.cpu, g.cap)
	}
	return g.cpu
}

func differ(guests []weighed) bool {
	for _, g := range guests {
		if g.weight != guests[0].weight {
			return true
		}
	}
	return false
}

// A weight that is changed holds from then on, also in a cluster that continues from a snapshot. A
// call without a weight leaves it.
func TestWeightsChange(t *testing.T) {
	s, now := weigh([]weighed{{4000, 0, 0}, {4000, 0, 0}})
	tune := func(rank int, most cluster.MilliCPU, weight int) {
		s.Begin(now, hypervisor.Call{Verb: hypervisor.Tune, VM: cluster.VMID{VJob: 1, Rank: rank}, Node: "n1", Cap: most, Weight: weight})
		now = now.Add(time.Minute)
		s.Advance(now)
	}
	expect := func(what string, want ...cluster.MilliCPU) {
		t.Helper()
		if got := rates(t, s, now); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
		now = s.Now()
	}
	expect("by default", 2000, 2000)
	tune(1, 0, 300)
	expect("one weighs more", 1000, 3000)
	saved, err := s.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	s, err = simulated.Restore(simulated.Config{Nodes: []simulated.Node{{ID: "n1", Capacity: cluster.Resources{CPU: 4000, Memory: 65536}}}}, saved)
	if err != nil {
		t.Fatal(err)
	}
	expect("after a restart", 1000, 3000)
	tune(0, 500, 0)
	expect("the other is capped", 500, 3500)
	tune(0, 0, 0)
	expect("and not any more", 1000, 3000)
	tune(1, 0, hypervisor.DefaultWeight)
	expect("as in the beginning", 2000, 2000)
}

// Members in lockstep advance while each gets all that it demands, which a large weight ensures on a
// crowded node.
func TestWeightsOfLockstep(t *testing.T) {
	for weight, want := range map[int]bool{100: false, 900: true} {
		s := simulated.New(simulated.Config{Nodes: []simulated.Node{{ID: "n1", Capacity: cluster.Resources{CPU: 4000, Memory: 65536}}}})
		start := s.Now()
		m := machine(512, 1, cluster.Step{CPU: cluster.CPU, Duration: time.Minute})
		m.Payload.Program.Lockstep = true
		s.Begin(start, hypervisor.Call{Verb: hypervisor.Boot, VM: cluster.VMID{VJob: 1}, Node: "n1", Machine: m, Weight: weight})
		s.Begin(start, hypervisor.Call{
			Verb: hypervisor.Boot, VM: cluster.VMID{VJob: 2}, Node: "n1", Weight: 101,
			Machine: machine(512, 1, cluster.Step{CPU: 8000, Duration: time.Hour}),
		})
		s.Begin(start, hypervisor.Call{
			Verb: hypervisor.Boot, VM: cluster.VMID{VJob: 3}, Node: "n1", Weight: 1000,
			Machine: machine(512, 1, cluster.Step{CPU: 2000, Duration: time.Hour}),
		})
		s.Advance(start.Add(10 * time.Minute))
		ended := true
		for _, c := range s.Truth().Copies {
			ended = ended && c.VM.VJob != 1
		}
		if ended != want {
			t.Errorf("with weight %d it has ended: %t, want %t", weight, ended, want)
		}
	}
}

// A guest sends what its program states while it works, less if it gets less CPU. A copy that a migration creates
// begins at 0.
func TestTraffic(t *testing.T) {
	s := simulated.New(simulated.Config{Nodes: []simulated.Node{
		{ID: "n1", Capacity: cluster.Resources{CPU: 1000, Memory: 65536}}, {ID: "n2", Capacity: cluster.Resources{CPU: 1000, Memory: 65536}},
	}})
	start := s.Now()
	steps := []cluster.Step{{CPU: 1000, Duration: time.Minute, Network: 1000}, {CPU: 1000, Duration: time.Hour, Network: 10}}
	for rank := range 2 {
		s.Begin(start, hypervisor.Call{Op: hypervisor.OpID(rank + 1), Verb: hypervisor.Boot, VM: cluster.VMID{VJob: 1, Rank: rank}, Node: "n1", Machine: machine(512, 2, steps...)})
	}
	booted := start.Add(simulated.Thesis.Boot)
	sent := func(after time.Duration, node cluster.NodeID) (sum int64) {
		t.Helper()
		view, err := s.Look(booted.Add(after), node)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range view.Copies {
			if c.State == hypervisor.CopyRunning {
				sum += c.Traffic.Sent
			}
		}
		return sum
	}
	for _, c := range []struct {
		after time.Duration
		want  int64
	}{{-time.Second, 0}, {30 * time.Second, 30_000}, {2 * time.Minute, 120_000}, {3 * time.Minute, 120_600}} {
		if got := sent(c.after, "n1"); got < c.want-2 || got > c.want {
			t.Errorf("%s after the boot two VMs on one processor have sent %d bytes, want %d", c.after, got, c.want)
		}
	}
	s.Begin(booted.Add(4*time.Minute), hypervisor.Call{Op: 3, Verb: hypervisor.Migrate, VM: cluster.VMID{VJob: 1}, Node: "n1", To: "n2"})
	if got := sent(10*time.Minute, "n2"); got == 0 || got > 3600 {
		t.Errorf("after the migration it has sent %d bytes from the new node", got)
	}
}

// A guest tells the working set that its program states, at most all of its memory.
func TestWorkingSets(t *testing.T) {
	s := simulated.New(simulated.Config{Nodes: []simulated.Node{{ID: "n1", Capacity: cluster.Resources{CPU: 4000, Memory: 65536}}}})
	start := s.Now()
	vm := cluster.VMID{VJob: 1}
	s.Begin(start, hypervisor.Call{Verb: hypervisor.Boot, VM: vm, Node: "n1", Machine: machine(512, 1,
		cluster.Step{CPU: 1000, Duration: time.Minute, Memory: 100}, cluster.Step{CPU: 1000, Duration: time.Minute},
		cluster.Step{CPU: 1000, Duration: time.Minute, Memory: 4096})})
	for i, want := range []cluster.MiB{100, 0, 512} {
		view, err := s.Look(start.Add(simulated.Thesis.Boot+time.Duration(i)*time.Minute+30*time.Second), "n1")
		if err != nil {
			t.Fatal(err)
		}
		if c, _ := view.Copy(vm); c.Memory != want {
			t.Errorf("step %d: it uses %s, want %s", i, c.Memory, want)
		}
	}
}
