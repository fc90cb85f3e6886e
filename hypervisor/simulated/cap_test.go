package simulated_test

import (
	"testing"
	"time"

	"vjob/cluster"
	"vjob/hypervisor"
	"vjob/hypervisor/simulated"
)

// A guest that computes for a minute takes two with a cap of half its demand. Members in lockstep
// are as fast as the one with the tightest cap.
func TestCapsSlowGuestsDown(t *testing.T) {
	boot := simulated.Thesis.Boot
	for name, c := range map[string]struct {
		lockstep bool
		caps     []cluster.MilliCPU // of the members, at boot
		lifted   time.Duration      // after the boot; 0 is never
		want     time.Duration      // of the last step, without boot
	}{
		"no cap":                          {caps: []cluster.MilliCPU{0, 0}, want: time.Minute},
		"a cap above the demand":          {caps: []cluster.MilliCPU{2000, 1000}, want: time.Minute},
		"half":                            {caps: []cluster.MilliCPU{500, 500}, want: 2 * time.Minute},
		"half for a minute":               {caps: []cluster.MilliCPU{500, 500}, lifted: time.Minute, want: 90 * time.Second},
		"a quarter for the last member":   {caps: []cluster.MilliCPU{500, 250}, want: 4 * time.Minute},
		"lockstep":                        {lockstep: true, caps: []cluster.MilliCPU{0, 500}, want: 2 * time.Minute},
		"lockstep, lifted after a minute": {lockstep: true, caps: []cluster.MilliCPU{250, 500}, lifted: time.Minute, want: 105 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			s := simulated.New(simulated.Config{Nodes: []simulated.Node{{ID: "n1", Capacity: cluster.Resources{CPU: 8000, Memory: 8192}}}})
			start := s.Now()
			for rank, most := range c.caps {
				m := machine(512, len(c.caps), cluster.Step{CPU: cluster.CPU, Duration: time.Minute})
				m.Payload.Program.Lockstep = c.lockstep
				s.Begin(start, hypervisor.Call{
					Verb: hypervisor.Boot, VM: cluster.VMID{VJob: 1, Rank: rank}, Node: "n1", Machine: m, Cap: most,
				})
			}
			if c.lifted > 0 {
				at := start.Add(boot + c.lifted)
				s.Advance(at)
				for rank := range c.caps {
					s.Begin(at, hypervisor.Call{Verb: hypervisor.Tune, VM: cluster.VMID{VJob: 1, Rank: rank}, Node: "n1"})
				}
			}
			end := start.Add(boot + c.want + simulated.Thesis.Shutdown)
			s.Advance(end.Add(-100 * time.Millisecond))
			if n := len(s.Truth().Copies); n == 0 {
				t.Error("the guests have ended too early")
			}
			s.Advance(end.Add(100 * time.Millisecond))
			if n := len(s.Truth().Copies); n > 0 {
				t.Errorf("%d guests have not ended: %+v", n, s.Truth().Copies)
			}
		})
	}
}

// On an overloaded node guests share the CPU in proportion to their capped demand.
func TestCapsAndOverload(t *testing.T) {
	s := simulated.New(simulated.Config{Nodes: []simulated.Node{{ID: "n1", Capacity: cluster.Resources{CPU: 1500, Memory: 8192}}}})
	start := s.Now()
	for rank, most := range []cluster.MilliCPU{0, 1000, 500} { // 2.5 of 1.5 processors
		s.Begin(start, hypervisor.Call{
			Verb: hypervisor.Boot, VM: cluster.VMID{VJob: 1, Rank: rank}, Node: "n1", Cap: most,
			Machine: machine(512, 3, cluster.Step{CPU: cluster.CPU, Duration: time.Hour}),
		})
	}
	booted := start.Add(simulated.Thesis.Boot)
	s.Advance(booted)
	before := used(t, s, booted)
	after := used(t, s, booted.Add(100*time.Second))
	for rank, want := range []time.Duration{60 * time.Second, 60 * time.Second, 30 * time.Second} {
		if got := after[rank] - before[rank]; (got - want).Abs() > 100*time.Millisecond {
			t.Errorf("guest %d used %s of CPU in 100 s, want %s", rank, got, want)
		}
	}
	if n := s.Truth().Nodes[0]; n.CPUUsed != 1500 || n.CPUNeeded != 3000 {
		t.Errorf("%s CPU used, %s needed", n.CPUUsed, n.CPUNeeded)
	}
}

// used is the CPU time of each guest at an instant.
func used(t *testing.T, s *simulated.Cluster, at time.Time) (list []time.Duration) {
	t.Helper()
	v, err := s.Look(at, "n1")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range v.Copies {
		list = append(list, c.CPUTime)
	}
	return list
}
